/** Sign-in by password. */
import type { SignInInput } from '../../schemas/api/people.ts';
import { writeAudit } from '../platform/audit-writer.ts';
import type { Context } from '../platform/context.ts';
import { DomainError, unauthorized } from '../platform/errors.ts';
import { ownScope } from '../platform/operation.ts';
import { verifyPassword } from './passwords.ts';
import { actorOfSession, openSession, type SignedIn, type UserActor } from './sessions.ts';
import { clearAttempts, takeAttempt } from './throttle-store.ts';
import { findUserByEmail } from './users-store.ts';

const BLOCK_MS = 15 * 60_000;
const FAILURES_OF_ACCOUNT = 10;
/** Failures in a row count however slowly they come. */
const FORGET_MS = 24 * 3_600_000;

/** The same answer for an unknown account and a wrong password: who has an account is nobody's business. */
export async function signIn(
  ctx: Context,
  input: SignInInput,
  userAgent: string | null,
): Promise<SignedIn & { actor: UserActor }> {
  const key = `account:${input.email.toLowerCase()}`;
  const now = ctx.clock.now();
  const blockedUntil = await takeAttempt(
    ctx.db,
    { key, limit: FAILURES_OF_ACCOUNT, windowMs: FORGET_MS, blockMs: BLOCK_MS },
    now,
  );
  const user = await findUserByEmail(ctx.db, input.email);
  const right = await verifyPassword(input.password, user?.passwordHash ?? null);
  if (blockedUntil !== null) {
    throw new DomainError('TOO_MANY_REQUESTS', 'Too many failed sign-ins. Try again in 15 minutes', {
      retryAfterSeconds: Math.max(1, Math.ceil((blockedUntil.getTime() - now) / 1000)),
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
  const signedIn = await ctx.db.transaction(async (tx) => {
    await clearAttempts(tx, key);
    return openSession({ ...ctx, db: tx }, user, { method: 'password', userAgent });
  });
  const actor = await actorOfSession(ctx.db, signedIn.token);
  if (!actor) throw unauthorized();
  return { ...signedIn, actor };
}
