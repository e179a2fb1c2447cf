/** Sign-in by password, with a code where the second factor is on. */
import type { SignInInput } from '../../../../schemas/api/identity/people.ts';
import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { conflict, DomainError, unauthorized } from '../../../platform/operation/errors.ts';
import { ownScope } from '../../../platform/operation/operation.ts';
import { consumeCode, type Factor } from '../second-factor/proof.ts';
import { actorOfSession, openSession, type SignedIn, type UserActor } from '../sessions/sessions.ts';
import {
  findUserByEmail,
  isPasswordAllowed,
  lockUserRow,
  replaceHash,
  type User,
} from '../users/users-store.ts';
import { type Attempt, accountCounter, beginAttempt, type Counter, deviceCounter } from './attempts.ts';
import { type DeviceToken, issueDeviceToken, verifyDeviceToken } from './known-devices.ts';

/** How often a sign-in is tried when its account changes concurrently. */
const MAX_TRIES = 3;

/**
 * An unknown account, a wrong password, a locked account and an expired temporary password get the same answer, so that nobody
 * learns who has an account. Only a caller with the right password learns that a code is required.
 * @throws UNAUTHORIZED (with `code: "TOTP_REQUIRED"` where only a code is missing), TOO_MANY_REQUESTS, UNAVAILABLE.
 */
export async function signIn(
  ctx: Context,
  input: SignInInput,
  browser: { userAgent: string | null; deviceToken?: string | undefined },
): Promise<SignedIn & { actor: UserActor; device: DeviceToken }> {
  const attempt = await beginAttempt(ctx, await counterFor(ctx, input.email, browser.deviceToken));
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { user, factor } = await authenticate(ctx, input, attempt);
    const proof = { user, factor, attempt, userAgent: browser.userAgent, password: input.password };
    const signedIn = await openIfUnchanged(ctx, proof).catch(async (error) => {
      // The user is authenticated, so this failure is ours and does not count.
      await attempt.takeBack(ctx.db).catch(() => {});
      throw error;
    });
    if (!signedIn) continue;
    const actor = await actorOfSession(ctx.db, signedIn.token);
    if (!actor) throw unauthorized();
    return { ...signedIn, actor };
  }
  await attempt.takeBack(ctx.db);
  throw conflict('This account has just been changed. Try again');
}

/** Unknown devices share the account's count; a known device has its own. */
async function counterFor(ctx: Context, email: string, deviceToken: string | undefined): Promise<Counter> {
  const user = deviceToken === undefined ? null : await findAccount(ctx, email);
  const deviceId = user && deviceToken !== undefined ? verifyDeviceToken(ctx, user, deviceToken) : null;
  return user && deviceId !== null ? deviceCounter(user.id, deviceId) : accountCounter(email);
}

/** Postgres folds `İ` to `i`, so guesses at one account could be counted under several addresses: compare here too. */
async function findAccount({ db }: Context, email: string): Promise<User | null> {
  const found = await findUserByEmail(db, email);
  return found?.email.toLowerCase() === email.toLowerCase() ? found : null;
}

/** @throws UNAUTHORIZED where password or code is wrong or missing. */
async function authenticate(
  ctx: Context,
  input: SignInInput,
  attempt: Attempt,
): Promise<{ user: User; factor: Factor | null }> {
  const user = await findAccount(ctx, input.email);
  const isRight = await ctx.services.passwords
    .verify(input.password, user?.passwordHash ?? null)
    .catch(async (error) => {
      await attempt.takeBack(ctx.db);
      throw error;
    });
  const now = ctx.clock.now();
  const hasExpired = user?.passwordExpiresAt != null && user.passwordExpiresAt.getTime() <= now;
  if (!user || !isRight || user.lockedAt || hasExpired) {
    await recordFailure(ctx, user, user?.lockedAt ? 'locked' : 'password');
    throw unauthorized('Email or password is wrong');
  }
  if (!(await isPasswordAllowed(ctx.db, user.id))) {
    await recordFailure(ctx, user, 'onlyByProvider');
    throw unauthorized(
      'Passwords are turned off here: sign in at the identity provider, with its button on the sign-in page',
    );
  }
  if (!user.totpEnabled) return { user, factor: null };
  if (input.totp === undefined) {
    await attempt.takeBack(ctx.db);
    throw new DomainError('UNAUTHORIZED', 'Enter the code of your authenticator, or a backup code', {
      code: 'TOTP_REQUIRED',
    });
  }
  const factor = await consumeCode(ctx, user, input.totp);
  if (!factor) {
    await recordFailure(ctx, user, 'code');
    throw unauthorized('The code is wrong or was already used. Enter the next one');
  }
  return { user, factor };
}

/** Null where the account has changed since it was read: its password, its second factor or its lock. */
async function openIfUnchanged(
  ctx: Context,
  proof: { user: User; factor: Factor | null; attempt: Attempt; userAgent: string | null; password: string },
): Promise<(SignedIn & { device: DeviceToken }) | null> {
  const { user, factor, attempt, userAgent, password } = proof;
  const { passwordHash } = user;
  const { passwords } = ctx.services;
  const strongerHash =
    passwordHash !== null && passwords.isOutdated(passwordHash) ? await passwords.hash(password) : null;
  return ctx.db.transaction(async (tx) => {
    const now = await lockUserRow(tx, user.id);
    const isSame =
      now !== null &&
      now.lockedAt === null &&
      now.passwordHash === passwordHash &&
      now.totpEnabled === user.totpEnabled;
    if (!isSame) return null;
    if (strongerHash !== null) await replaceHash(tx, user.id, strongerHash);
    await attempt.succeeded(tx);
    const session = await openSession({ ...ctx, db: tx }, user, {
      method: 'password',
      userAgent,
      ...(factor ? { factor } : {}),
    });
    const device = issueDeviceToken(ctx, { id: user.id, passwordHash: strongerHash ?? passwordHash });
    return { ...session, device };
  });
}

async function recordFailure(
  ctx: Context,
  user: User | null,
  reason: 'password' | 'locked' | 'code' | 'onlyByProvider',
): Promise<void> {
  await writeAudit(
    ctx,
    ownScope,
    // Without an account the input is not recorded, because it may be a password.
    [
      {
        entityType: 'User',
        entityId: user?.id ?? null,
        metadata: { reason, ...(user && { name: user.name, email: user.email }) },
      },
    ],
    'user.signInFailed',
  );
}
