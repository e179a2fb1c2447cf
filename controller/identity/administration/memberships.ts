/** Adding, changing and removing a membership: the rules for ADMINs and super admins alike. All functions run in a transaction. */
import type { Role } from '../../../schemas/api/common.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { assertStillSignedIn, findUser, type User } from '../access/index.ts';
import { lockRulesShared, membershipEntries, reconcileMemberships } from '../directory/index.ts';
import {
  addMember,
  deleteMembership,
  listWithoutAdmin,
  lockMembership,
  lockTeam,
  type Membership,
  setRole,
  type Team,
} from '../teams/index.ts';
import { endSessionsOf, notifyUi } from './accounts.ts';
import { listGroupsInto } from './store.ts';

interface TeamAndUser {
  team: Team;
  user: User;
}

const membershipEntry = ({ team, user }: TeamAndUser, role: [Role | null, Role | null]) => ({
  entityType: 'TeamMember',
  entityId: user.id,
  teamId: team.id,
  diff: { role } as Record<string, [unknown, unknown]>,
  metadata: { email: user.email, name: user.name, team: team.name } as Record<string, unknown>,
});

/** Super admins create accounts, so they vouch for the identity of a user. */
const vouches = ({ actor }: Context): boolean => actor.type !== 'user' || actor.isSuperAdmin;

/** Locks the team and the membership, so that the ADMINs of the team can be counted. */
export async function lockMember(
  ctx: Context,
  member: { teamId: string; userId: string },
): Promise<TeamAndUser & { membership: Membership }> {
  const team = await lockTeam(ctx.db, member.teamId);
  await assertStillSignedIn(ctx);
  const membership = await lockMembership(ctx.db, member);
  const user = await findUser(ctx.db, member.userId);
  if (!membership || !user) throw notFound('Member');
  return { team, user, membership };
}

/** @throws CONFLICT where the user is a member already. */
export async function joinTeam(ctx: MutationContext, target: TeamAndUser, role: Role): Promise<void> {
  await addMember(ctx.db, target.team.id, target.user.id, role, vouches(ctx));
  ctx.audit({ ...membershipEntry(target, [null, role]), action: 'team.memberAdded' });
  await notifyUi(ctx);
}

/** Makes the membership manual, so that group sync no longer changes it. A changed role ends the user's sessions. */
export async function changeRole(
  ctx: MutationContext,
  { membership: before, ...target }: TeamAndUser & { membership: Membership },
  role: Role,
): Promise<void> {
  const { team, user } = target;
  await setRole(ctx.db, { teamId: team.id, userId: user.id }, role, vouches(ctx));
  await assertNotLastAdmin(ctx, [team.id], { role: before.role, user });
  if (before.role !== role) await endSessionsOf(ctx, [user.id]);
  const entry = membershipEntry(target, [before.role, role]);
  ctx.audit({
    ...entry,
    action: 'team.memberRoleChanged',
    diff: {
      ...(before.role === role ? {} : entry.diff),
      ...(before.source === 'manual' ? {} : { source: [before.source, 'manual'] }),
    },
  });
  await notifyUi(ctx);
}

/** Removes a manual membership. The user's groups may give another role instead. */
export async function leaveTeam(
  ctx: MutationContext,
  member: { teamId: string; userId: string },
): Promise<void> {
  // Lock order: the group rules come before all other locks.
  await lockRulesShared(ctx.db);
  const { membership: before, ...target } = await lockMember(ctx, member);
  const { team, user } = target;
  if (before.source === 'group') throw await assignedByGroups(ctx, target);
  await deleteMembership(ctx.db, member);
  await endSessionsOf(ctx, [user.id]);
  const changes = await reconcileMemberships(ctx, [user.id]);
  await assertNotLastAdmin(ctx, [team.id], { role: before.role, user });
  ctx.audit(membershipEntry(target, [before.role, null]));
  for (const entry of await membershipEntries(ctx.db, changes)) ctx.audit(entry);
  await notifyUi(ctx);
}

async function assignedByGroups(ctx: Context, { team, user }: TeamAndUser) {
  const groups = await listGroupsInto(ctx.db, { teamId: team.id, userId: user.id });
  const by =
    groups.length > 0
      ? `the identity provider's ${groups.length === 1 ? 'group' : 'groups'} ${groups.map((name) => `"${name}"`).join(', ')}`
      : 'the default team of all users who sign in at the identity provider';
  return preconditionFailed(
    `${user.email} is in "${team.name}" by ${by}: remove them there, or ask a super admin to change the group mapping`,
    { groups },
  );
}

/** Call it after the change, which an error rolls back: a team that had this user as ADMIN must keep an ADMIN who can sign in. */
export async function assertNotLastAdmin(
  ctx: Context,
  teamIds: readonly string[],
  before: { role: Role; user: User },
): Promise<void> {
  if (before.role !== 'ADMIN' || before.user.lockedAt !== null) return;
  const without = await listWithoutAdmin(ctx.db, teamIds);
  if (without.length === 0) return;
  const teams = without.map((name) => `"${name}"`).join(', ');
  throw preconditionFailed(
    `${before.user.email} is the last ADMIN of ${teams} who can sign in: make another member ADMIN first`,
    { teams: without },
  );
}
