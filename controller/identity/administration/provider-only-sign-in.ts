/** Sign-in by providers only: the break-glass accounts that may still use a password, and the sessions that end. */

import type { MutationContext } from '../../platform/operation/context.ts';
import { badRequest, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import {
  type AccessPolicy,
  countSuperAdmins,
  countSuperAdminsWithPassword,
  deletePasswordSessions,
  findUser,
  isPasswordAllowed,
  listBreakGlass,
  lockUsers,
  replaceBreakGlass,
} from '../access/index.ts';
import { canSignInByProvider } from '../oidc/index.ts';

/** Runs in a transaction and returns the diff of the audit row. @throws NOT_FOUND, or BAD_REQUEST for a user who is not a super admin with a password. */
export async function changeBreakGlass(
  ctx: MutationContext,
  userIds: readonly string[],
): Promise<Record<string, [unknown, unknown]>> {
  await lockUsers(ctx.db);
  const before = (await listBreakGlass(ctx.db)).map(({ email }) => email);
  for (const id of userIds) {
    const user = await findUser(ctx.db, id);
    if (!user) throw notFound(`The user ${id}`);
    if (!user.isSuperAdmin || user.passwordHash === null)
      throw badRequest(`breakGlassUserIds: ${user.email} is not a super admin with a password`);
  }
  await replaceBreakGlass(ctx.db, userIds);
  const after = (await listBreakGlass(ctx.db)).map(({ email }) => email);
  return before.join() === after.join() ? {} : { breakGlass: [before, after] };
}

/** Returns how many users' sessions ended. @throws PRECONDITION_FAILED where nobody could administer the server afterwards. */
export async function enforceProviderOnly(
  ctx: MutationContext,
  before: AccessPolicy,
  after: AccessPolicy,
): Promise<number> {
  if (!after.onlyByProvider) return 0;
  const now = ctx.clock.now();
  if ((await countSuperAdminsWithPassword(ctx.db, now)) === 0)
    throw preconditionFailed(
      'Nobody could sign in while no provider answers: set a break-glass account first, a super admin with a password',
    );
  if ((await countSuperAdmins(ctx.db, now)) === 0) throw preconditionFailed('No super admin could sign in');
  if (!before.onlyByProvider) await assertNotOwnLockout(ctx);
  const ended = await deletePasswordSessions(ctx.db);
  for (const userId of ended.slice(0, 20)) await ctx.services.bus.publish(ctx.db, { type: 'user', userId });
  return ended.length;
}

async function assertNotOwnLockout(ctx: MutationContext): Promise<void> {
  if (ctx.actor.type !== 'user') return;
  const { userId } = ctx.actor;
  const user = await findUser(ctx.db, userId);
  if (!user || (await isPasswordAllowed(ctx.db, userId)) || (await canSignInByProvider(ctx.db, user))) return;
  throw preconditionFailed(
    'You would lock yourself out: link your account to a provider first, or make it a break-glass account',
  );
}
