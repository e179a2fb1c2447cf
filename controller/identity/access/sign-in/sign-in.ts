/** Sign-in by password, and by a code where a second factor is on. */
import type { SignInInput } from '../../../../schemas/api/people.ts';
import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { conflict, DomainError, unauthorized } from '../../../platform/operation/errors.ts';
import { ownScope } from '../../../platform/operation/operation.ts';
import { type Factor, takeCode } from '../second-factor/proof.ts';
import { actorOfSession, openSession, type SignedIn, type UserActor } from '../sessions/sessions.ts';
import { findUserByEmail, lockUserRow, passwordOpens, replaceHash, type User } from '../users/users-store.ts';
import { type Attempt, beginAttempt, type Counter, ofAccount, ofDevice } from './attempts.ts';
import { type DeviceToken, deviceOf, issueDeviceToken } from './known-devices.ts';
import { hashPassword, isOutdated, verifyPassword } from './passwords.ts';

/** A sign-in that finds its account changed meanwhile looks again, this often. */
const LOOKS = 3;

/**
 * The same answer for an unknown account, a wrong password, a locked account and a temporary password that has expired: who
 * has an account is nobody's business. Only who has the password learns that a code is wanted.
 * @throws UNAUTHORIZED (with `code: "TOTP_REQUIRED"` where only a code is missing), TOO_MANY_REQUESTS, UNAVAILABLE.
 */
export async function signIn(
  ctx: Context,
  input: SignInInput,
  browser: { userAgent: string | null; deviceToken?: string | undefined },
): Promise<SignedIn & { actor: UserActor; device: DeviceToken }> {
  const attempt = await beginAttempt(ctx, await counterFor(ctx, input.email, browser.deviceToken));
  for (let look = 0; look < LOOKS; look += 1) {
    const { user, factor } = await prove(ctx, input, attempt);
    const how = { user, factor, attempt, userAgent: browser.userAgent, password: input.password };
    const signedIn = await open(ctx, how).catch(async (error) => {
      // They are who they say they are: what is wrong is here.
      await attempt.takeBack(ctx.db).catch(() => {});
      throw error;
    });
    if (!signedIn) continue;
    const actor = await actorOfSession(ctx.db, signedIn.token);
    if (!actor) throw unauthorized();
    return { ...signedIn, actor };
  }
  await attempt.takeBack(ctx.db);
  throw conflict('This account was changed at this moment. Try again');
}

/** Strangers share the account's count; a device that its user has signed in with before has its own. */
async function counterFor(ctx: Context, email: string, deviceToken: string | undefined): Promise<Counter> {
  const user = deviceToken === undefined ? null : await findAccount(ctx, email);
  const deviceId = user && deviceToken !== undefined ? deviceOf(ctx, user, deviceToken) : null;
  return user && deviceId !== null ? ofDevice(user.id, deviceId) : ofAccount(email);
}

/** To Postgres `İ` is an `i` in another case: guesses at one account would be counted under several addresses. */
async function findAccount({ db }: Context, email: string): Promise<User | null> {
  const found = await findUserByEmail(db, email);
  return found?.email.toLowerCase() === email.toLowerCase() ? found : null;
}

/** Who it is, once that is shown. */
async function prove(
  ctx: Context,
  input: SignInInput,
  attempt: Attempt,
): Promise<{ user: User; factor: Factor | null }> {
  const user = await findAccount(ctx, input.email);
  const right = await verifyPassword(input.password, user?.passwordHash ?? null).catch(async (error) => {
    await attempt.takeBack(ctx.db);
    throw error;
  });
  const now = ctx.clock.now();
  const hasExpired = user?.passwordExpiresAt != null && user.passwordExpiresAt.getTime() <= now;
  if (!user || !right || user.lockedAt || hasExpired) {
    await noteFailure(ctx, user, user?.lockedAt ? 'locked' : 'password');
    throw unauthorized('Email or password is wrong');
  }
  if (!(await passwordOpens(ctx.db, user.id))) {
    await noteFailure(ctx, user, 'onlyByProvider');
    throw unauthorized(
      'Passwords are switched off here: sign in at the identity provider, as the sign-in page offers it',
    );
  }
  if (!user.totpEnabled) return { user, factor: null };
  if (input.totp === undefined) {
    await attempt.takeBack(ctx.db);
    throw new DomainError('UNAUTHORIZED', 'Give the code of your authenticator, or a backup code', {
      code: 'TOTP_REQUIRED',
    });
  }
  const factor = await takeCode(ctx, user, input.totp);
  if (!factor) {
    await noteFailure(ctx, user, 'code');
    throw unauthorized('The code is wrong, or was used already. Take the next one');
  }
  return { user, factor };
}

/** Null where the account is not what it was when it was looked at: a password or a second factor was changed, a lock set. */
async function open(
  ctx: Context,
  how: { user: User; factor: Factor | null; attempt: Attempt; userAgent: string | null; password: string },
): Promise<(SignedIn & { device: DeviceToken }) | null> {
  const { user, factor, attempt, userAgent, password } = how;
  const { passwordHash } = user;
  const better = passwordHash !== null && isOutdated(passwordHash) ? await hashPassword(password) : null;
  return ctx.db.transaction(async (tx) => {
    const now = await lockUserRow(tx, user.id);
    const isSame =
      now !== null &&
      now.lockedAt === null &&
      now.passwordHash === passwordHash &&
      now.totpEnabled === user.totpEnabled;
    if (!isSame) return null;
    if (better !== null) await replaceHash(tx, user.id, better);
    await attempt.succeeded(tx);
    const session = await openSession({ ...ctx, db: tx }, user, {
      method: 'password',
      userAgent,
      ...(factor ? { factor } : {}),
    });
    const device = issueDeviceToken(ctx, { id: user.id, passwordHash: better ?? passwordHash });
    return { ...session, device };
  });
}

async function noteFailure(
  ctx: Context,
  user: User | null,
  reason: 'password' | 'locked' | 'code' | 'onlyByProvider',
): Promise<void> {
  await writeAudit(
    ctx,
    ownScope,
    // What was typed may be a password: of an account that is not there nothing is told.
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
