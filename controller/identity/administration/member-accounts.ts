/** What the ADMINs of a team may do to the accounts of its members. */
import { Done, GivenPassword, Member } from '../../../schemas/api/identity/people.ts';
import type { Context } from '../../platform/operation/context.ts';
import { forbidden, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { createTemporaryPassword, teamScope, type User } from '../access/index.ts';
import { outOfReachReason, readMemberScope } from '../teams/index.ts';
import {
  claimAccount,
  isManagedByProvider,
  lockAccount,
  resetPasswordOf,
  unlockAccount,
} from './accounts.ts';
import { findProvisioning } from './store.ts';

/** Locks the account of a member, after a check that the caller may change it. */
async function claimMember(
  ctx: Context,
  { teamId, userId }: { teamId: string; userId: string },
): Promise<User> {
  const isMember = async () => (await readMemberScope(ctx.db, userId)).teamIds.includes(teamId);
  if (!(await isMember())) throw notFound('Member');
  const user = await claimAccount(ctx, userId);
  // Read again under the lock: nobody can add this user to another team now.
  const memberScope = await readMemberScope(ctx.db, userId);
  if (!memberScope.teamIds.includes(teamId)) throw notFound('Member');
  const reason = outOfReachReason(ctx.actor, { userId, isSuperAdmin: user.isSuperAdmin, ...memberScope });
  if (reason !== null) throw forbidden(reason);
  return user;
}

export const lockMember = mutation({
  name: 'team.lockMember',
  summary: 'Lock the account of a member: nobody can sign in to it, and its sessions end',
  role: 'ADMIN',
  audit: 'user.locked',
  input: Member,
  output: Done,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  async run(ctx, input) {
    const user = await claimMember(ctx, input);
    if (user.lockedAt !== null)
      throw preconditionFailed(
        user.lockedBy === 'scim'
          ? 'The identity provider has locked this account already'
          : 'This account is locked already',
      );
    await lockAccount(ctx, user);
    return { ok: true as const };
  },
});

export const unlockMember = mutation({
  name: 'team.unlockMember',
  summary: 'Unlock the account of a member',
  role: 'ADMIN',
  audit: 'user.unlocked',
  input: Member,
  output: Done,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  async run(ctx, input) {
    const user = await claimMember(ctx, input);
    const provisioning = await findProvisioning(ctx.db, user.id);
    if (user.lockedBy === 'scim' || (provisioning && (provisioning.deleted || !provisioning.active)))
      throw preconditionFailed(
        'The identity provider has locked this account: activate it there, or ask a super admin',
      );
    if (user.lockedAt === null) throw preconditionFailed('This account is not locked');
    await unlockAccount(ctx, user);
    return { ok: true as const };
  },
});

export const resetMemberPassword = mutation({
  name: 'team.resetMemberPassword',
  summary: 'Give a member a temporary password, shown once; it only allows setting a new one',
  role: 'ADMIN',
  audit: 'user.passwordReset',
  input: Member,
  output: GivenPassword,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  prepare: (ctx) => createTemporaryPassword(ctx),
  async run(ctx, input, temporary) {
    const user = await claimMember(ctx, input);
    if (await isManagedByProvider(ctx, user))
      throw preconditionFailed(`${user.email} signs in at the identity provider: change the password there`);
    return resetPasswordOf(ctx, user, temporary);
  },
});
