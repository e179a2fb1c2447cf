/** The accounts of people in a team, as far as its ADMINs reach. */
import { Done, GivenPassword, Member } from '../../../schemas/api/people.ts';
import type { Context } from '../../platform/operation/context.ts';
import { forbidden, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { makeTemporaryPassword, teamScope, type User } from '../access/index.ts';
import { outOfReach, readMemberScope } from '../teams/index.ts';
import { claimAccount, givePassword, isKeptByProvider, lockAccount, unlockAccount } from './accounts.ts';
import { findProvisioning } from './store.ts';

/** The account, once it is sure that the caller may do to it what they like. */
async function reach(ctx: Context, { teamId, userId }: { teamId: string; userId: string }): Promise<User> {
  const isMember = async () => (await readMemberScope(ctx.db, userId)).teamIds.includes(teamId);
  if (!(await isMember())) throw notFound('Member');
  const user = await claimAccount(ctx, userId);
  // Nobody puts this person into a team from now on.
  const standing = await readMemberScope(ctx.db, userId);
  if (!standing.teamIds.includes(teamId)) throw notFound('Member');
  const reason = outOfReach(ctx.actor, { userId, isSuperAdmin: user.isSuperAdmin, ...standing });
  if (reason !== null) throw forbidden(reason);
  return user;
}

export const lockMember = mutation({
  name: 'team.lockMember',
  summary: 'Lock the account of a member: nobody signs in to it any more, and its sessions end',
  role: 'ADMIN',
  audit: 'user.locked',
  input: Member,
  output: Done,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  async run(ctx, input) {
    const user = await reach(ctx, input);
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
  summary: 'Let a member whose account is locked sign in again',
  role: 'ADMIN',
  audit: 'user.unlocked',
  input: Member,
  output: Done,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  async run(ctx, input) {
    const user = await reach(ctx, input);
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
  summary: 'Give a member a temporary password, shown once; it is good for nothing but its own change',
  role: 'ADMIN',
  audit: 'user.passwordReset',
  input: Member,
  output: GivenPassword,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  prepare: (ctx) => makeTemporaryPassword(ctx),
  async run(ctx, input, temporary) {
    const user = await reach(ctx, input);
    if (await isKeptByProvider(ctx, user))
      throw preconditionFailed(
        `${user.email} signs in at the identity provider: their password is changed there`,
      );
    return givePassword(ctx, user, temporary);
  },
});
