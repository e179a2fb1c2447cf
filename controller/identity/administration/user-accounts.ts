/** Super admins lock, unlock and reset accounts. */
import { Done, GivenPassword, SessionsEnded, UserId } from '../../../schemas/api/identity/people.ts';
import { preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation, ownScope } from '../../platform/operation/operation.ts';
import { createTemporaryPassword, turnOffTwoFactor } from '../access/index.ts';
import { canSignInByProvider } from '../oidc/index.ts';
import {
  claimAccount,
  endSessionsOf,
  lockAccount,
  notifyUi,
  resetPasswordOf,
  unlockAccount,
  userEntry,
} from './accounts.ts';
import { assertNotSelf } from './user-operations.ts';

export const lockUser = mutation({
  name: 'admin.lockUser',
  summary: 'Lock an account: nobody can sign in to it, its sessions end, and SCIM does not lift the lock',
  role: 'SUPER_ADMIN',
  audit: 'user.locked',
  input: UserId,
  output: Done,
  scope: () => ownScope,
  async run(ctx, { userId }) {
    assertNotSelf(ctx, userId, 'lock');
    const user = await claimAccount(ctx, userId);
    if (user.lockedBy === 'admin') throw preconditionFailed('This account is locked already');
    await lockAccount(ctx, user);
    return { ok: true as const };
  },
});

export const unlockUser = mutation({
  name: 'admin.unlockUser',
  summary: 'Unlock an account, also one that SCIM has locked',
  role: 'SUPER_ADMIN',
  audit: 'user.unlocked',
  input: UserId,
  output: Done,
  scope: () => ownScope,
  async run(ctx, { userId }) {
    const user = await claimAccount(ctx, userId);
    if (user.lockedAt === null) throw preconditionFailed('This account is not locked');
    await unlockAccount(ctx, user);
    return { ok: true as const };
  },
});

export const resetPassword = mutation({
  name: 'admin.resetPassword',
  summary: 'Give an account a temporary password, shown once; it only allows setting a new one',
  role: 'SUPER_ADMIN',
  audit: 'user.passwordReset',
  input: UserId,
  output: GivenPassword,
  scope: () => ownScope,
  prepare: (ctx) => createTemporaryPassword(ctx),
  async run(ctx, { userId }, temporary) {
    assertNotSelf(ctx, userId, 'reset');
    const user = await claimAccount(ctx, userId);
    // Users of a provider that is no longer configured may get a password, because they could not sign in otherwise.
    if (user.passwordHash === null && (await canSignInByProvider(ctx.db, user)))
      throw preconditionFailed(
        `${user.email} has no password here and signs in at the identity provider: reset the password there`,
      );
    return resetPasswordOf(ctx, user, temporary);
  },
});

export const resetTwoFactor = mutation({
  name: 'admin.resetTwoFactor',
  summary: 'Remove the second factor of an account whose owner has lost it; its sessions end',
  role: 'SUPER_ADMIN',
  audit: 'user.twoFactorReset',
  input: UserId,
  output: Done,
  scope: () => ownScope,
  async run(ctx, { userId }) {
    const user = await claimAccount(ctx, userId);
    if (!user.totpEnabled) throw preconditionFailed(`${user.email} has no second factor`);
    await turnOffTwoFactor(ctx.db, userId);
    await endSessionsOf(ctx, [userId]);
    ctx.audit(userEntry(user, { diff: { twoFactorEnabled: [true, false] } }));
    await notifyUi(ctx);
    return { ok: true as const };
  },
});

export const endSessions = mutation({
  name: 'admin.endSessions',
  summary: "End every session of a user, except the caller's own; personal tokens stay",
  role: 'SUPER_ADMIN',
  audit: 'user.sessionsEnded',
  input: UserId,
  output: SessionsEnded,
  scope: () => ownScope,
  async run(ctx, { userId }) {
    const user = await claimAccount(ctx, userId);
    const ended = await endSessionsOf(ctx, [userId]);
    ctx.audit(userEntry(user, { metadata: { ended } }));
    return { ended };
  },
});
