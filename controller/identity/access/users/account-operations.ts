/** What people change of their own account. */
import { ChangePassword, ConfirmPassword, Done, UpdateProfile } from '../../../../schemas/api/people.ts';
import { badRequest, conflict, preconditionFailed } from '../../../platform/operation/errors.ts';
import { mutation, ownScope } from '../../../platform/operation/operation.ts';
import { confirmedBy } from '../sessions/confirmation.ts';
import { endSessions } from '../sessions/sessions.ts';
import { confirmSession } from '../sessions/sessions-store.ts';
import { assertStrongPassword } from '../sign-in/password-rules.ts';
import { hashPassword, verifyPassword } from '../sign-in/passwords.ts';
import { caller, callersAccount, lockCallersAccount } from './caller.ts';
import { setOwnPassword, updateUser } from './users-store.ts';

export const changePassword = mutation({
  name: 'user.changePassword',
  summary: 'Change the password; other sessions end',
  role: 'VIEWER',
  audit: 'user.passwordChanged',
  input: ChangePassword,
  output: Done,
  evenIfOwing: ['CHANGE_PASSWORD'],
  scope: () => ownScope,
  async prepare(ctx, input) {
    const user = await callersAccount(ctx);
    const before = user.passwordHash;
    if (before === null)
      throw preconditionFailed('You have no password here: you sign in at your identity provider');
    if (user.passwordExpiresAt !== null && user.passwordExpiresAt.getTime() <= ctx.clock.now())
      throw preconditionFailed('This temporary password has expired: ask for another one');
    await confirmedBy(ctx, user, {
      by: () => verifyPassword(input.currentPassword, before),
      refusal: 'The current password is wrong',
    });
    if (input.newPassword.normalize('NFKC') === input.currentPassword.normalize('NFKC'))
      throw badRequest('The new password is the one that you have. Choose another');
    await assertStrongPassword(input.newPassword, user);
    return { before, after: await hashPassword(input.newPassword) };
  },
  async run(ctx, _, { before, after }) {
    const user = await lockCallersAccount(ctx);
    if (user.passwordHash !== before)
      throw conflict('The password was changed elsewhere at this moment; sign in again');
    await setOwnPassword(ctx.db, user.id, { passwordHash: after, at: new Date(ctx.clock.now()) });
    await endSessions(ctx, [user.id], caller(ctx).sessionId);
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });
    ctx.audit({ entityType: 'User', entityId: user.id, metadata: { name: user.name } });
    return { ok: true as const };
  },
});

export const confirmPassword = mutation({
  name: 'user.confirmPassword',
  summary: 'Give the password again, for changes that ask for it; holds for 10 minutes in this session',
  role: 'VIEWER',
  audit: 'user.passwordConfirmed',
  input: ConfirmPassword,
  output: Done,
  evenIfOwing: ['SET_UP_TWO_FACTOR'],
  scope: () => ownScope,
  async prepare(ctx, input) {
    const user = await callersAccount(ctx);
    const { passwordHash } = user;
    if (passwordHash === null)
      throw preconditionFailed('You have no password here: sign in again at your identity provider');
    await confirmedBy(ctx, user, {
      by: () => verifyPassword(input.currentPassword, passwordHash),
      refusal: 'The current password is wrong',
    });
  },
  async run(ctx) {
    const { userId, sessionId } = caller(ctx);
    await confirmSession(ctx.db, sessionId, new Date(ctx.clock.now()));
    ctx.audit({ entityType: 'User', entityId: userId });
    return { ok: true as const };
  },
});

export const updateProfile = mutation({
  name: 'user.updateProfile',
  summary: 'Change your name',
  role: 'VIEWER',
  audit: 'user.profileUpdated',
  input: UpdateProfile,
  output: Done,
  scope: () => ownScope,
  async run(ctx, input) {
    const user = await lockCallersAccount(ctx);
    const name = input.name.trim();
    if (name !== user.name) await updateUser(ctx.db, user.id, { name });
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });
    ctx.audit({
      entityType: 'User',
      entityId: user.id,
      ...(name === user.name ? {} : { diff: { name: [user.name, name] } }),
    });
    return { ok: true as const };
  },
});
