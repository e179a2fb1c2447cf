/** Opens and ends sessions, and authenticates requests by a session or a personal token. */
import type { Knex } from 'knex';
import type { TokenScope } from '../../../../schemas/api/identity/people.ts';
import { sealingContext } from '../../../platform/crypto/sealed-columns.ts';
import { mintToken, parseToken, sameHash } from '../../../platform/crypto/tokens.ts';
import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import type { Actor, Context, RequiredAction } from '../../../platform/operation/context.ts';
import { forbidden } from '../../../platform/operation/errors.ts';
import { ownScope } from '../../../platform/operation/operation.ts';
import { recordPersonalTokenUse } from '../tokens/personal-tokens-store.ts';
import { recordSignIn } from '../users/users-store.ts';
import { SESSION_MS } from './session-limits.ts';
import {
  deleteSession,
  deleteSessionsByIdentity,
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

export type UserActor = Extract<Actor, { type: 'user' }>;

/** A sign-in by password always includes the second factor, if it is on. At a provider it is proved there, or has to be proved here. */
function requiredActionOf(owner: SessionOwner, signIn: SignInFacts): RequiredAction | null {
  const { mustChangePassword, totpEnabled } = owner.user;
  if (signIn.method === 'password' && mustChangePassword) return 'CHANGE_PASSWORD';
  if (!owner.twoFactorRequired || signIn.secondFactor !== null) return null;
  if (!totpEnabled) return 'SET_UP_TWO_FACTOR';
  return signIn.method === 'oidc' ? 'PROVE_TWO_FACTOR' : null;
}

interface SignInFacts {
  method: SignInMethod;
  secondFactor: SecondFactor | null;
}

function actorOf(owner: SessionOwner, sessionId: string, signIn: SignInFacts): UserActor {
  const { user, roles } = owner;
  return {
    type: 'user',
    userId: user.id,
    email: user.email,
    name: user.name,
    isSuperAdmin: user.isSuperAdmin,
    roles,
    sessionId,
    requiredAction: requiredActionOf(owner, signIn),
  };
}

export interface SignedIn {
  /** For the cookie only. */
  token: string;
  expiresAt: Date;
}

/** Runs in a transaction: creates a session for an authenticated user, with its audit row. */
export async function openSession(
  ctx: Context,
  user: { id: string; email: string; name: string },
  options: {
    method: SignInMethod;
    userAgent: string | null;
    idToken?: string;
    provider?: ProviderSession;
    /** Set where the provider proves the second factor. */
    secondFactor?: SecondFactor | null;
    factor?: string;
    /** Additional metadata of the audit row. */
    metadata?: Record<string, unknown>;
  },
): Promise<SignedIn> {
  const session = mintToken('hgs');
  const expiresAt = new Date(ctx.clock.now() + SESSION_MS);
  await insertSession(ctx.db, {
    id: session.id,
    userId: user.id,
    tokenHash: session.hash,
    method: options.method,
    sealedIdToken:
      options.idToken === undefined
        ? null
        : ctx.services.keyring.seal(
            options.idToken,
            sealingContext('sessions', session.id, 'sealed_id_token'),
          ),
    provider: options.provider ?? null,
    secondFactor: options.secondFactor ?? null,
    ipAddress: ctx.ipAddress,
    userAgent: options.userAgent?.slice(0, 256) ?? null,
    confirmedAt: new Date(ctx.clock.now()),
    expiresAt,
  });
  await recordSignIn(ctx.db, user.id, new Date(ctx.clock.now()));
  const actor: UserActor = {
    ...{ type: 'user', userId: user.id, email: user.email, name: user.name },
    ...{ isSuperAdmin: false, roles: new Map(), sessionId: session.id, requiredAction: null },
  };
  await writeAudit(
    { ...ctx, actor },
    ownScope,
    [
      {
        entityType: 'User',
        entityId: user.id,
        metadata: {
          ...options.metadata,
          method: options.method,
          ...(options.factor ? { factor: options.factor } : {}),
        },
      },
    ],
    'user.signedIn',
  );
  return { token: session.token, expiresAt };
}

/**
 * Runs in a transaction: ends every session of these users, except one, and notifies their open pages. Personal tokens stay,
 * because each use of a token checks roles and locks again.
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

/** Runs in a transaction: ends sessions that a provider reports as ended. Returns how many, by user. */
export async function deleteSessionsAtProvider(
  ctx: Pick<Context, 'db' | 'services'>,
  identity: { issuer: string; subject: string | null; sid?: string | null },
): Promise<Map<string, number>> {
  const ended = new Map<string, number>();
  for (const userId of await deleteSessionsByIdentity(ctx.db, { sid: null, ...identity }))
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

/** Null for a token that is unknown, expired, unused for a day, or of a locked user. */
export async function actorOfSession(db: Knex, token: string): Promise<UserActor | null> {
  const parsed = parseToken('hgs', token);
  const owner = parsed && (await findSessionOwner(db, parsed.id));
  if (!owner || !sameHash(owner.tokenHash, parsed.hash)) return null;
  // A failed write, for example on a full disk, must not reject the request.
  if (owner.isUseDue) await recordSessionUse(db, parsed.id).catch(() => {});
  return actorOf(owner, parsed.id, owner);
}

/** The owner of a personal token. Each surface looks for its own scope. */
export interface TokenActor {
  actor: UserActor;
  /** Of the token. */
  id: string;
  name: string;
  scopes: readonly TokenScope[];
}

/**
 * Null for a token that is unknown, expired, or of a locked user.
 * @throws FORBIDDEN for a token of an account that rests: it works again after the next sign-in.
 */
export async function actorOfPersonalToken(db: Knex, token: string): Promise<TokenActor | null> {
  const parsed = parseToken('hgp', token);
  const found = parsed && (await findTokenOwner(db, parsed.id));
  if (!found || !sameHash(found.tokenHash, parsed.hash)) return null;
  const { owner } = found;
  if (owner === null)
    throw forbidden(
      'Your account rests: no identity provider has confirmed it recently. Its tokens work again after your next sign-in at one',
    );
  await recordPersonalTokenUse(db, parsed.id);
  // A token is created in a session without a required action, so its second factor counts as proved.
  const isProviderUser = owner.user.authMethod === 'OIDC';
  const signIn: SignInFacts = isProviderUser
    ? { method: 'oidc', secondFactor: 'provider' }
    : { method: 'password', secondFactor: null };
  const { name, scopes } = found;
  return { actor: actorOf(owner, `token:${parsed.id}`, signIn), id: parsed.id, name, scopes };
}
