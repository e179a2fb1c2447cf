/** Sign-in by providers alone: who is let in by a password all the same, and what ends when it begins. */

import type { MutationContext } from '../../platform/operation/context.ts';
import { badRequest, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import {
  type AccessPolicy,
  countSuperAdmins,
  countSuperAdminsWithPassword,
  deletePasswordSessions,
  findUser,
  listBreakGlass,
  lockUsers,
  passwordOpens,
  replaceBreakGlass,
} from '../access/index.ts';
import { hasWayIn } from '../oidc/index.ts';

/** In a transaction. Answers the diff of the audit row. @throws NOT_FOUND, BAD_REQUEST for who is no super admin with a password */
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
      throw badRequest(`breakGlassUserIds: ${user.email} is no super admin with a password`);
  }
  await replaceBreakGlass(ctx.db, userIds);
  const after = (await listBreakGlass(ctx.db)).map(({ email }) => email);
  return before.join() === after.join() ? {} : { breakGlass: [before, after] };
}

/** Answers how many people's sessions ended. @throws PRECONDITION_FAILED where that would lock the house */
export async function keepToProviders(
  ctx: MutationContext,
  before: AccessPolicy,
  after: AccessPolicy,
): Promise<number> {
  if (!after.onlyByProvider) return 0;
  const now = ctx.clock.now();
  if ((await countSuperAdminsWithPassword(ctx.db, now)) === 0)
    throw preconditionFailed(
      'Nobody could sign in on the day on which no provider answers: name a break-glass account first, a super admin with a password',
    );
  if ((await countSuperAdmins(ctx.db, now)) === 0) throw preconditionFailed('No super admin could sign in');
  if (!before.onlyByProvider) await refuseOwnLockout(ctx);
  const ended = await deletePasswordSessions(ctx.db);
  for (const userId of ended.slice(0, 20)) await ctx.services.bus.publish(ctx.db, { type: 'user', userId });
  return ended.length;
}

async function refuseOwnLockout(ctx: MutationContext): Promise<void> {
  if (ctx.actor.type !== 'user') return;
  const { userId } = ctx.actor;
  const user = await findUser(ctx.db, userId);
  if (!user || (await passwordOpens(ctx.db, userId)) || (await hasWayIn(ctx.db, user))) return;
  throw preconditionFailed(
    'You would shut yourself out: link your account to a provider first, or name it as break-glass',
  );
}
