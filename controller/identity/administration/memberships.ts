/** Joining a team, another role, leaving: the rules, whether an ADMIN of the team or a super admin does it. In a transaction. */
import type { Role } from '../../../schemas/api/common.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { findUser, type User } from '../access/index.ts';
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

interface Place {
  team: Team;
  user: User;
}

const about = ({ team, user }: Place, role: [Role | null, Role | null]) => ({
  entityType: 'TeamMember',
  entityId: user.id,
  teamId: team.id,
  diff: { role } as Record<string, [unknown, unknown]>,
  metadata: { email: user.email, name: user.name, team: team.name } as Record<string, unknown>,
});

/** Whoever makes accounts says whose they are. */
const vouches = ({ actor }: Context): boolean => actor.type !== 'user' || actor.isSuperAdmin;

/** The team, until the transaction ends nobody else's to count the ADMINs of; and somebody in it. */
export async function takeMember(
  ctx: Context,
  of: { teamId: string; userId: string },
): Promise<Place & { membership: Membership }> {
  const team = await lockTeam(ctx.db, of.teamId);
  const membership = await lockMembership(ctx.db, of);
  const user = await findUser(ctx.db, of.userId);
  if (!membership || !user) throw notFound('Member');
  return { team, user, membership };
}

/** @throws CONFLICT for a member. */
export async function joinTeam(ctx: MutationContext, place: Place, role: Role): Promise<void> {
  await addMember(ctx.db, place.team.id, place.user.id, role, vouches(ctx));
  ctx.audit({ ...about(place, [null, role]), action: 'team.memberAdded' });
  await notifyUi(ctx);
}

/** By hand: group sync leaves this membership alone from now on. A role that changes ends the sessions. */
export async function changeRole(
  ctx: MutationContext,
  { membership: before, ...place }: Place & { membership: Membership },
  role: Role,
): Promise<void> {
  const { team, user } = place;
  await setRole(ctx.db, { teamId: team.id, userId: user.id }, role, vouches(ctx));
  await assertNotLastAdmin(ctx, [team.id], { role: before.role, user });
  if (before.role !== role) await endSessionsOf(ctx, [user.id]);
  const entry = about(place, [before.role, role]);
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

/** What somebody was put into by hand; their groups may give them another role instead. */
export async function leaveTeam(ctx: MutationContext, of: { teamId: string; userId: string }): Promise<void> {
  // Before all other locks, as wherever groups are looked at.
  await lockRulesShared(ctx.db);
  const { membership: before, ...place } = await takeMember(ctx, of);
  const { team, user } = place;
  if (before.source === 'group') throw await keptByGroups(ctx, place);
  await deleteMembership(ctx.db, of);
  await endSessionsOf(ctx, [user.id]);
  const followed = await reconcileMemberships(ctx, [user.id]);
  await assertNotLastAdmin(ctx, [team.id], { role: before.role, user });
  ctx.audit(about(place, [before.role, null]));
  for (const entry of await membershipEntries(ctx.db, followed)) ctx.audit(entry);
  await notifyUi(ctx);
}

async function keptByGroups(ctx: Context, { team, user }: Place) {
  const groups = await listGroupsInto(ctx.db, { teamId: team.id, userId: user.id });
  const by =
    groups.length > 0
      ? `the identity provider's ${groups.length === 1 ? 'group' : 'groups'} ${groups.map((name) => `"${name}"`).join(', ')}`
      : 'the default team of everybody who signs in at the identity provider';
  return preconditionFailed(
    `${user.email} is in "${team.name}" by ${by}: take them out there, or have a super admin change what it leads to`,
    { groups },
  );
}

/** After the work, which is undone by this: the team must keep an ADMIN who can sign in, where it had one in this person. */
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
    `${before.user.email} is the last ADMIN of ${teams} who can sign in: make somebody else ADMIN there first`,
    { teams: without },
  );
}
