/** Sign-in by password, and from a session or personal token back to an actor. */
import type { Knex } from 'knex';
import type { SignInInput } from '../../schemas/api/people.ts';
import { writeAudit } from '../platform/audit-writer.ts';
import type { Actor, Context } from '../platform/context.ts';
import { DomainError, unauthorized } from '../platform/errors.ts';
import { ownScope } from '../platform/operation.ts';
import { mintToken, parseToken, sameHash } from '../platform/tokens.ts';
import { verifyPassword } from './passwords.ts';
import {
  clearAttempts,
  deleteSession,
  findSessionOwner,
  findTokenOwner,
  findUserByEmail,
  insertSession,
  type SessionOwner,
  takeAttempt,
  touchPersonalToken,
} from './store.ts';

const FAILURES_BEFORE_THROTTLE = 10;
const THROTTLE_MS = 15 * 60_000;
export const SESSION_MS = 7 * 24 * 3_600_000;

type UserActor = Extract<Actor, { type: 'user' }>;

function actorOf(owner: SessionOwner, sessionId: string): UserActor {
  const { user, roles } = owner;
  return {
    type: 'user',
    userId: user.id,
    email: user.email,
    name: user.name,
    isSuperAdmin: user.isSuperAdmin,
    roles,
    sessionId,
  };
}

export interface SignedIn {
  /** Goes into the cookie and nowhere else. */
  token: string;
  expiresAt: Date;
  actor: UserActor;
}

/** The same answer for an unknown account and a wrong password: who has an account is nobody's business. */
export async function signIn(ctx: Context, input: SignInInput, userAgent: string | null): Promise<SignedIn> {
  const user = await findUserByEmail(ctx.db, input.email);
  const now = ctx.clock.now();
  const allowed =
    !user ||
    (await takeAttempt(ctx.db, user.id, {
      limit: FAILURES_BEFORE_THROTTLE,
      now: new Date(now),
      until: new Date(now + THROTTLE_MS),
    }));
  const right = await verifyPassword(input.password, user?.passwordHash ?? null);
  if (!allowed) {
    const until = user.throttledUntil?.getTime() ?? 0;
    throw new DomainError('TOO_MANY_REQUESTS', 'Too many failed sign-ins. Try again in 15 minutes', {
      retryAfterSeconds: Math.ceil((until > now ? until - now : THROTTLE_MS) / 1000),
    });
  }
  if (!user || !right || user.lockedAt) {
    await writeAudit(
      ctx,
      ownScope,
      [{ entityType: 'User', entityId: user?.id ?? null }],
      'user.signInFailed',
    );
    throw unauthorized('Email or password is wrong');
  }
  const session = mintToken('hgs');
  const expiresAt = new Date(ctx.clock.now() + SESSION_MS);
  await ctx.db.transaction(async (tx) => {
    await clearAttempts(tx, user.id);
    await insertSession(tx, {
      id: session.id,
      userId: user.id,
      tokenHash: session.hash,
      ipAddress: ctx.ipAddress,
      userAgent: userAgent?.slice(0, 256) ?? null,
      expiresAt,
    });
    const actor = actorOf({ user, roles: new Map() }, session.id);
    await writeAudit(
      { ...ctx, db: tx, actor },
      ownScope,
      [{ entityType: 'User', entityId: user.id }],
      'user.signedIn',
    );
  });
  const actor = await actorOfSession(ctx.db, session.token);
  if (!actor) throw unauthorized();
  return { token: session.token, expiresAt, actor };
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

/** Null for a token that is unknown, expired, or of a locked user. */
export async function actorOfSession(db: Knex, token: string): Promise<UserActor | null> {
  const parsed = parseToken('hgs', token);
  const owner = parsed && (await findSessionOwner(db, parsed.id));
  return owner && sameHash(owner.tokenHash, parsed.hash) ? actorOf(owner, parsed.id) : null;
}

export async function actorOfPersonalToken(db: Knex, token: string): Promise<UserActor | null> {
  const parsed = parseToken('hgp', token);
  const owner = parsed && (await findTokenOwner(db, parsed.id));
  if (!owner || !sameHash(owner.tokenHash, parsed.hash)) return null;
  await touchPersonalToken(db, parsed.id);
  return actorOf(owner, `token:${parsed.id}`);
}
