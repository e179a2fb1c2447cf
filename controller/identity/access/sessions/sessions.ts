/** Sessions: made at sign-in, ended by sign-out and by whatever changes who somebody is. From a session back to an actor. */
import type { Knex } from 'knex';
import { sealingContext } from '../../../platform/crypto/sealed-columns.ts';
import { mintToken, parseToken, sameHash } from '../../../platform/crypto/tokens.ts';
import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import type { Actor, Context, Obligation } from '../../../platform/operation/context.ts';
import { forbidden } from '../../../platform/operation/errors.ts';
import { ownScope } from '../../../platform/operation/operation.ts';
import { recordPersonalTokenUse } from '../tokens/personal-tokens-store.ts';
import { noteSignIn } from '../users/users-store.ts';
import {
  deleteSession,
  deleteSessionsBy,
  deleteSessionsOf,
  findSessionOwner,
  findTokenOwner,
  insertSession,
  type ProviderSession,
  recordSessionUse,
  type SecondFactor,
  type SessionOwner,
  type SignInMethod,
} from './sessions-store.ts';

export const SESSION_MS = 7 * 24 * 3_600_000;

export type UserActor = Extract<Actor, { type: 'user' }>;

/** By a password nobody with a second factor signs in without it; at a provider it may be shown there, or has to be here. */
function owes(owner: SessionOwner, shown: Shown): Obligation | null {
  const { mustChangePassword, totpEnabled } = owner.user;
  if (shown.method === 'password' && mustChangePassword) return 'CHANGE_PASSWORD';
  if (!owner.twoFactorRequired || shown.secondFactor !== null) return null;
  if (!totpEnabled) return 'SET_UP_TWO_FACTOR';
  return shown.method === 'oidc' ? 'PROVE_TWO_FACTOR' : null;
}

interface Shown {
  method: SignInMethod;
  secondFactor: SecondFactor | null;
}

function actorOf(owner: SessionOwner, sessionId: string, shown: Shown): UserActor {
  const { user, roles } = owner;
  return {
    type: 'user',
    userId: user.id,
    email: user.email,
    name: user.name,
    isSuperAdmin: user.isSuperAdmin,
    roles,
    sessionId,
    owes: owes(owner, shown),
  };
}

export interface SignedIn {
  /** Goes into the cookie and nowhere else. */
  token: string;
  expiresAt: Date;
}

/** In a transaction: a new session of somebody who has shown who they are, with its audit row. */
export async function openSession(
  ctx: Context,
  user: { id: string; email: string; name: string },
  how: {
    method: SignInMethod;
    userAgent: string | null;
    idToken?: string;
    provider?: ProviderSession;
    /** Shown at the provider, or left to it. */
    secondFactor?: SecondFactor | null;
    factor?: string;
    /** What else the audit row says. */
    metadata?: Record<string, unknown>;
  },
): Promise<SignedIn> {
  const session = mintToken('hgs');
  const expiresAt = new Date(ctx.clock.now() + SESSION_MS);
  await insertSession(ctx.db, {
    id: session.id,
    userId: user.id,
    tokenHash: session.hash,
    method: how.method,
    sealedIdToken:
      how.idToken === undefined
        ? null
        : ctx.services.keyring.seal(how.idToken, sealingContext('sessions', session.id, 'sealed_id_token')),
    provider: how.provider ?? null,
    secondFactor: how.secondFactor ?? null,
    ipAddress: ctx.ipAddress,
    userAgent: how.userAgent?.slice(0, 256) ?? null,
    confirmedAt: new Date(ctx.clock.now()),
    expiresAt,
  });
  await noteSignIn(ctx.db, user.id, new Date(ctx.clock.now()));
  const actor: UserActor = {
    ...{ type: 'user', userId: user.id, email: user.email, name: user.name },
    ...{ isSuperAdmin: false, roles: new Map(), sessionId: session.id, owes: null },
  };
  await writeAudit(
    { ...ctx, actor },
    ownScope,
    [
      {
        entityType: 'User',
        entityId: user.id,
        metadata: { ...how.metadata, method: how.method, ...(how.factor ? { factor: how.factor } : {}) },
      },
    ],
    'user.signedIn',
  );
  return { token: session.token, expiresAt };
}

/**
 * In a transaction: ends every session of these people, but for one that goes on. Their open pages are told. Their personal
 * tokens stay: each use of one asks for roles and locks anew.
 */
export async function endSessions(
  ctx: Pick<Context, 'db' | 'services'>,
  userIds: readonly string[],
  except: string | null = null,
): Promise<number> {
  const ended = await deleteSessionsOf(ctx.db, userIds, except);
  for (const userId of userIds.length > 20 ? [] : userIds)
    await ctx.services.bus.publish(ctx.db, { type: 'user', userId });
  if (userIds.length > 20)
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });
  return ended;
}

/** In a transaction: ends sessions that began at a provider, which says so. Answers how many, by user. */
export async function deleteSessionsAtProvider(
  ctx: Pick<Context, 'db' | 'services'>,
  of: { issuer: string; subject: string | null; sid?: string | null },
): Promise<Map<string, number>> {
  const ended = new Map<string, number>();
  for (const userId of await deleteSessionsBy(ctx.db, { sid: null, ...of }))
    ended.set(userId, (ended.get(userId) ?? 0) + 1);
  for (const userId of ended.keys()) await ctx.services.bus.publish(ctx.db, { type: 'user', userId });
  return ended;
}

export async function signOut(ctx: Context): Promise<void> {
  if (ctx.actor.type !== 'user') return;
  const { sessionId, userId } = ctx.actor;
  await ctx.db.transaction(async (tx) => {
    await deleteSession(tx, sessionId);
    await writeAudit(
      { ...ctx, db: tx },
      ownScope,
      [{ entityType: 'User', entityId: userId }],
      'user.signedOut',
    );
    await ctx.services.bus.publish(tx, { type: 'user', userId });
  });
}

/** Null for a token that is unknown, expired, was not used for a day, or of a locked user. */
export async function actorOfSession(db: Knex, token: string): Promise<UserActor | null> {
  const parsed = parseToken('hgs', token);
  const owner = parsed && (await findSessionOwner(db, parsed.id));
  if (!owner || !sameHash(owner.tokenHash, parsed.hash)) return null;
  // A disk that is full stops nobody from looking.
  if (owner.isUntouched) await recordSessionUse(db, parsed.id).catch(() => {});
  return actorOf(owner, parsed.id, owner);
}

/**
 * Null for a token that is unknown, expired, or of a locked user.
 * @throws FORBIDDEN for one of an account that rests: it counts again after the next sign-in.
 */
export async function actorOfPersonalToken(db: Knex, token: string): Promise<UserActor | null> {
  const parsed = parseToken('hgp', token);
  const found = parsed && (await findTokenOwner(db, parsed.id));
  if (!found || !sameHash(found.tokenHash, parsed.hash)) return null;
  const { owner } = found;
  if (owner === null)
    throw forbidden(
      'Your account rests: no identity provider has confirmed it lately. Its tokens count again after your next sign-in at one',
    );
  await recordPersonalTokenUse(db, parsed.id);
  // Tokens are made in a session that owes nothing.
  const isProviders = owner.user.authMethod === 'OIDC';
  const shown: Shown = isProviders
    ? { method: 'oidc', secondFactor: 'provider' }
    : { method: 'password', secondFactor: null };
  return actorOf(owner, `token:${parsed.id}`, shown);
}
