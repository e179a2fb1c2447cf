/** Changes of an account by an administrator: locks, passwords, second factors. All functions run in a transaction. */

import type { AuditEntry } from '../../platform/operation/audit-entry.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { conflict, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import {
  assertStillSignedIn,
  countSuperAdmins,
  countSuperAdminsWithPassword,
  deletePersonalTokensOf,
  endSessions,
  findUser,
  forgetFailures,
  lockUserRow,
  lockUsers,
  readAccessPolicy,
  setLocked,
  setTemporaryPassword,
  setUnlocked,
  type TemporaryPassword,
  type User,
} from '../access/index.ts';
import { findProvisioning, takeOverLock } from './store.ts';

/**
 * Locks the account until the transaction ends; for a super admin it locks all accounts, so that super admins can be counted.
 * The table is locked before the row, to avoid a deadlock with a sign-in that waits for the row.
 */
export async function claimAccount(ctx: Context, userId: string): Promise<User> {
  const before = await findUser(ctx.db, userId);
  if (before?.isSuperAdmin) await lockUsers(ctx.db);
  const user = await lockUserRow(ctx.db, userId);
  await assertStillSignedIn(ctx);
  if (!user) throw notFound('User');
  if (user.isSuperAdmin && !before?.isSuperAdmin)
    throw conflict('This user has just become a super admin; check the account and try again');
  return user;
}

/** Call it after the change, which an error rolls back: a super admin who can sign in must remain. */
export async function assertNotLastSuperAdmin(ctx: Context, before: User): Promise<void> {
  await assertNotLastBreakGlass(ctx, before);
  if (
    !before.isSuperAdmin ||
    before.lockedAt !== null ||
    (await countSuperAdmins(ctx.db, ctx.clock.now())) > 0
  )
    return;
  throw preconditionFailed(
    'This is the last super admin who can sign in: make another user a super admin first',
  );
}

/** Where users may sign in by providers only, somebody must be able to sign in while no provider answers. */
async function assertNotLastBreakGlass(ctx: Context, before: User): Promise<void> {
  if (!before.isSuperAdmin || !(await readAccessPolicy(ctx.db)).onlyByProvider) return;
  if ((await countSuperAdminsWithPassword(ctx.db, ctx.clock.now())) > 0) return;
  throw preconditionFailed(
    'This is the last break-glass account: name another one under Settings → Single sign-on first',
  );
}

/** Ends all sessions of these users, except the session of the caller. */
export const endSessionsOf = (ctx: Context, userIds: readonly string[]) =>
  endSessions(ctx, userIds, ctx.actor.type === 'user' ? ctx.actor.sessionId : null);

export const userEntry = (user: User, more: Partial<AuditEntry> = {}): AuditEntry => ({
  entityType: 'User',
  entityId: user.id,
  ...more,
  metadata: { email: user.email, name: user.name, ...more.metadata },
});

export const notifyUi = (ctx: Context) =>
  ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });

/** A lock of the identity provider becomes a lock of an administrator. */
export async function lockAccount(ctx: MutationContext, user: User): Promise<void> {
  await setLocked(ctx.db, user.id, 'admin', new Date(ctx.clock.now()));
  await takeOverLock(ctx.db, user.id);
  await assertNotLastSuperAdmin(ctx, user);
  await endSessionsOf(ctx, [user.id]);
  ctx.audit(userEntry(user, { diff: { lockedBy: [user.lockedBy, 'admin'] } }));
  await notifyUi(ctx);
}

export async function unlockAccount(ctx: MutationContext, user: User): Promise<void> {
  await setUnlocked(ctx.db, user.id);
  ctx.audit(userEntry(user, { diff: { lockedBy: [user.lockedBy, null] } }));
  await notifyUi(ctx);
}

/** Whether an identity provider manages the account: by sign-in or by SCIM. */
export async function isManagedByProvider(ctx: Context, user: User): Promise<boolean> {
  if (user.authMethod === 'OIDC') return true;
  const provisioning = await findProvisioning(ctx.db, user.id);
  return provisioning !== null && !provisioning.deleted;
}

export async function resetPasswordOf(
  ctx: MutationContext,
  user: User,
  { password, passwordHash, expiresAt }: TemporaryPassword,
): Promise<{ temporaryPassword: string; expiresAt: Date }> {
  await setTemporaryPassword(ctx.db, user.id, { passwordHash, expiresAt });
  await forgetFailures(ctx.db, user.email);
  await endSessionsOf(ctx, [user.id]);
  // Somebody who had taken over the account may have created tokens.
  const tokensDeleted = await deletePersonalTokensOf(ctx.db, user.id);
  ctx.audit(userEntry(user, { metadata: { passwordExpiresAt: expiresAt, tokensDeleted } }));
  await notifyUi(ctx);
  return { temporaryPassword: password, expiresAt };
}
