/** Changes of the caller's own account. */
import {
  ChangePassword,
  ConfirmPassword,
  Done,
  UpdateProfile,
} from '../../../../schemas/api/identity/people.ts';
import { badRequest, conflict, preconditionFailed } from '../../../platform/operation/errors.ts';
import { mutation, ownScope } from '../../../platform/operation/operation.ts';
import { confirmIdentity } from '../sessions/confirmation.ts';
import { endSessions } from '../sessions/sessions.ts';
import { confirmSession } from '../sessions/sessions-store.ts';
import { assertStrongPassword } from '../sign-in/password-rules.ts';
import { caller, getCallerAccount, lockCallerAccount } from './caller.ts';
import { setOwnPassword, updateUser } from './users-store.ts';

export const changePassword = mutation({
  name: 'user.changePassword',
  summary: 'Change the password; other sessions end',
  role: 'VIEWER',
  audit: 'user.passwordChanged',
  input: ChangePassword,
  output: Done,
  allowedBefore: ['CHANGE_PASSWORD'],
  scope: () => ownScope,
  async prepare(ctx, input) {
    const user = await getCallerAccount(ctx);
    const before = user.passwordHash;
    if (before === null)
      throw preconditionFailed('You have no password here: you sign in at your identity provider');
    if (user.passwordExpiresAt !== null && user.passwordExpiresAt.getTime() <= ctx.clock.now())
      throw preconditionFailed('This temporary password has expired: ask an administrator for another one');
    await confirmIdentity(ctx, user, {
      verify: () => ctx.services.passwords.verify(input.currentPassword, before),
      refusal: 'The current password is wrong',
    });
    if (input.newPassword.normalize('NFKC') === input.currentPassword.normalize('NFKC'))
      throw badRequest('The new password is the same as the current one. Choose another');
    await assertStrongPassword(input.newPassword, user);
    return { before, after: await ctx.services.passwords.hash(input.newPassword) };
  },
  async run(ctx, _, { before, after }) {
    const user = await lockCallerAccount(ctx);
    if (user.passwordHash !== before)
      throw conflict('The password has just been changed elsewhere; sign in again');
    await setOwnPassword(ctx.db, user.id, { passwordHash: after, at: new Date(ctx.clock.now()) });
    await endSessions(ctx, [user.id], caller(ctx).sessionId);
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });
    ctx.audit({ entityType: 'User', entityId: user.id, metadata: { name: user.name } });
    return { ok: true as const };
  },
});

export const confirmPassword = mutation({
  name: 'user.confirmPassword',
  summary: 'Confirm the password for sensitive changes; valid for 10 minutes in this session',
  role: 'VIEWER',
  audit: 'user.passwordConfirmed',
  input: ConfirmPassword,
  output: Done,
  allowedBefore: ['SET_UP_TWO_FACTOR'],
  scope: () => ownScope,
  async prepare(ctx, input) {
    const user = await getCallerAccount(ctx);
    const { passwordHash } = user;
    if (passwordHash === null)
      throw preconditionFailed('You have no password here: sign in again at your identity provider');
    await confirmIdentity(ctx, user, {
      verify: () => ctx.services.passwords.verify(input.currentPassword, passwordHash),
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
    const user = await lockCallerAccount(ctx);
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
