/** Memberships of a team, changed by its ADMINs; and the deletion of a team, which changes memberships of its members. */
import { Deleted } from '../../../schemas/api/common.ts';
import { AddMember, Done, Member, MemberRole, TeamId } from '../../../schemas/api/identity/people.ts';
import { conflict, DomainError, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation, ownScope } from '../../platform/operation/operation.ts';
import { assertStillSignedIn, findUserByEmail, teamScope } from '../access/index.ts';
import { lockRulesShared, membershipEntries, reconcileMemberships } from '../directory/index.ts';
import {
  deleteTeam,
  listEnvironmentsOf,
  listMemberIds,
  lockMembership,
  lockTeam,
  lockTeamForDelete,
} from '../teams/index.ts';
import { endSessionsOf, notifyUi } from './accounts.ts';
import { changeRole, joinTeam, leaveTeam, lockMember } from './memberships.ts';

export const addMember = mutation({
  name: 'team.addMember',
  summary: 'Add a user to a team',
  role: 'ADMIN',
  audit: 'team.memberAdded',
  input: AddMember,
  output: Done,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  async run(ctx, { teamId, email, role }) {
    const team = await lockTeam(ctx.db, teamId);
    await assertStillSignedIn(ctx);
    const user = await findUserByEmail(ctx.db, email);
    if (!user)
      throw new DomainError('NOT_FOUND', `No account has the address ${email}: a super admin can create it`);
    const membership = await lockMembership(ctx.db, { teamId, userId: user.id });
    if (membership)
      throw conflict(
        membership.source === 'manual'
          ? `${user.email} is in this team already`
          : `${user.email} is in this team already, by group sync: change their role to manage the membership by hand`,
      );
    await joinTeam(ctx, { team, user }, role);
    return { ok: true as const };
  },
});

export const removeMember = mutation({
  name: 'team.removeMember',
  summary: 'Remove a member from a team; their sessions end',
  role: 'ADMIN',
  audit: 'team.memberRemoved',
  input: Member,
  output: Done,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  async run(ctx, input) {
    await leaveTeam(ctx, input);
    return { ok: true as const };
  },
});

export const updateMemberRole = mutation({
  name: 'team.updateMemberRole',
  summary: 'Change the role of a member; their sessions end, and group sync no longer changes the membership',
  role: 'ADMIN',
  audit: 'team.memberRoleChanged',
  input: MemberRole,
  output: Done,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  async run(ctx, { role, ...member }) {
    await changeRole(ctx, await lockMember(ctx, member), role);
    return { ok: true as const };
  },
});

const MAX_NAMED = 10;

export const remove = mutation({
  name: 'team.delete',
  summary: 'Delete a team that has no environments, with its templates and snippets',
  role: 'SUPER_ADMIN',
  audit: 'team.deleted',
  input: TeamId,
  output: Deleted,
  scope: () => ownScope,
  async run(ctx, { teamId }) {
    await lockRulesShared(ctx.db);
    const team = await lockTeamForDelete(ctx.db, teamId);
    const environments = await listEnvironmentsOf(ctx.db, teamId);
    if (environments.length > 0) {
      const names = environments.slice(0, MAX_NAMED).join(', ');
      const more = environments.length > MAX_NAMED ? ` and ${environments.length - MAX_NAMED} more` : '';
      throw preconditionFailed(`"${team.name}" has environments: delete ${names}${more} first`, {
        environments: environments.slice(0, MAX_NAMED),
      });
    }
    const members = await listMemberIds(ctx.db, teamId);
    await deleteTeam(ctx.db, teamId);
    await endSessionsOf(ctx, members);
    // Members whose groups lead to no team any more join the default team.
    const changes = await reconcileMemberships(ctx, members);
    ctx.audit({
      entityType: 'Team',
      ...{ entityId: teamId, teamId },
      diff: { name: [team.name, null] },
      metadata: { name: team.name, members: members.length },
    });
    for (const entry of await membershipEntries(ctx.db, changes)) ctx.audit(entry);
    await notifyUi(ctx);
    return { deleted: true as const };
  },
});
