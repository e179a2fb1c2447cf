/** The accounts of everybody, as super admins lock, unlock and reset them. */
import { Done, GivenPassword, SessionsEnded, UserId } from '../../../schemas/api/people.ts';
import { preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation, ownScope } from '../../platform/operation/operation.ts';
import { makeTemporaryPassword, turnOffTwoFactor } from '../access/index.ts';
import { hasWayIn } from '../oidc/index.ts';
import {
  aboutUser,
  claimAccount,
  endSessionsOf,
  givePassword,
  lockAccount,
  notifyUi,
  unlockAccount,
} from './accounts.ts';
import { assertNotSelf } from './user-operations.ts';

export const lockUser = mutation({
  name: 'admin.lockUser',
  summary: 'Lock an account: nobody signs in to it any more, its sessions end, and SCIM does not lift it',
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
  summary: 'Lift the lock of an account, whoever has set it',
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
  summary: 'Give an account a temporary password, shown once; it is good for nothing but its own change',
  role: 'SUPER_ADMIN',
  audit: 'user.passwordReset',
  input: UserId,
  output: GivenPassword,
  scope: () => ownScope,
  prepare: (ctx) => makeTemporaryPassword(ctx),
  async run(ctx, { userId }, temporary) {
    assertNotSelf(ctx, userId, 'reset');
    const user = await claimAccount(ctx, userId);
    // Of a provider that is set no more, or another one, nobody else could let them in.
    if (user.passwordHash === null && (await hasWayIn(ctx.db, user)))
      throw preconditionFailed(
        `${user.email} has no password here: they sign in at the identity provider, which changes it`,
      );
    return givePassword(ctx, user, temporary);
  },
});

export const resetTwoFactor = mutation({
  name: 'admin.resetTwoFactor',
  summary: 'Take away the second factor of an account whose owner has lost it; its sessions end',
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
    ctx.audit(aboutUser(user, { diff: { twoFactorEnabled: [true, false] } }));
    await notifyUi(ctx);
    return { ok: true as const };
  },
});

export const endSessions = mutation({
  name: 'admin.endSessions',
  summary: 'End every session of somebody, but the one that asks; personal tokens stay',
  role: 'SUPER_ADMIN',
  audit: 'user.sessionsEnded',
  input: UserId,
  output: SessionsEnded,
  scope: () => ownScope,
  async run(ctx, { userId }) {
    const user = await claimAccount(ctx, userId);
    const ended = await endSessionsOf(ctx, [userId]);
    ctx.audit(aboutUser(user, { metadata: { ended } }));
    return { ended };
  },
});
