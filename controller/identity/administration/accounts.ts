/** What is done to an account by somebody else, whichever way they come: locks, passwords, second factors. In a transaction. */

import type { AuditEntry } from '../../platform/operation/audit-entry.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { conflict, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import {
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
 * The account, until the transaction ends nobody else's to change; for a super admin no account is, so that they can be
 * counted. The table comes before the row: a sign-in that waits for the row would otherwise be waited for in turn.
 */
export async function claimAccount(ctx: Context, userId: string): Promise<User> {
  const seen = await findUser(ctx.db, userId);
  if (seen?.isSuperAdmin) await lockUsers(ctx.db);
  const user = await lockUserRow(ctx.db, userId);
  if (!user) throw notFound('User');
  if (user.isSuperAdmin && !seen?.isSuperAdmin)
    throw conflict('This person has become a super admin just now; look again');
  return user;
}

/** After the work, which is undone by this: somebody must be left who can make accounts. */
export async function assertNotLastSuperAdmin(ctx: Context, before: User): Promise<void> {
  await refuseLastBreakGlass(ctx, before);
  if (
    !before.isSuperAdmin ||
    before.lockedAt !== null ||
    (await countSuperAdmins(ctx.db, ctx.clock.now())) > 0
  )
    return;
  throw preconditionFailed('This is the last super admin who can sign in: make somebody else one first');
}

/** Where people sign in by providers alone, somebody has to get in on the day on which none answers. */
async function refuseLastBreakGlass(ctx: Context, before: User): Promise<void> {
  if (!before.isSuperAdmin || !(await readAccessPolicy(ctx.db)).onlyByProvider) return;
  if ((await countSuperAdminsWithPassword(ctx.db, ctx.clock.now())) > 0) return;
  throw preconditionFailed(
    'This is the last break-glass account: name another one under Settings → Single sign-on first',
  );
}

/** At once, in the transaction; but for the session that does this, where somebody does it to themselves. */
export const endSessionsOf = (ctx: Context, userIds: readonly string[]) =>
  endSessions(ctx, userIds, ctx.actor.type === 'user' ? ctx.actor.sessionId : null);

export const aboutUser = (user: User, more: Partial<AuditEntry> = {}): AuditEntry => ({
  entityType: 'User',
  entityId: user.id,
  ...more,
  metadata: { email: user.email, name: user.name, ...more.metadata },
});

export const notifyUi = (ctx: Context) =>
  ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });

/** A lock of the identity provider becomes an administrator's. */
export async function lockAccount(ctx: MutationContext, user: User): Promise<void> {
  await setLocked(ctx.db, user.id, 'admin', new Date(ctx.clock.now()));
  await takeOverLock(ctx.db, user.id);
  await assertNotLastSuperAdmin(ctx, user);
  await endSessionsOf(ctx, [user.id]);
  ctx.audit(aboutUser(user, { diff: { lockedBy: [user.lockedBy, 'admin'] } }));
  await notifyUi(ctx);
}

export async function unlockAccount(ctx: MutationContext, user: User): Promise<void> {
  await setUnlocked(ctx.db, user.id);
  ctx.audit(aboutUser(user, { diff: { lockedBy: [user.lockedBy, null] } }));
  await notifyUi(ctx);
}

/** Whether this account is an identity provider's: it signs in there, or SCIM keeps it. */
export async function isKeptByProvider(ctx: Context, user: User): Promise<boolean> {
  if (user.authMethod === 'OIDC') return true;
  const provisioning = await findProvisioning(ctx.db, user.id);
  return provisioning !== null && !provisioning.deleted;
}

export async function givePassword(
  ctx: MutationContext,
  user: User,
  { password, passwordHash, expiresAt }: TemporaryPassword,
): Promise<{ temporaryPassword: string; expiresAt: Date }> {
  await setTemporaryPassword(ctx.db, user.id, { passwordHash, expiresAt });
  await forgetFailures(ctx.db, user.email);
  await endSessionsOf(ctx, [user.id]);
  // Whoever had the account until now may have made some.
  const tokensDeleted = await deletePersonalTokensOf(ctx.db, user.id);
  ctx.audit(aboutUser(user, { metadata: { passwordExpiresAt: expiresAt, tokensDeleted } }));
  await notifyUi(ctx);
  return { temporaryPassword: password, expiresAt };
}
