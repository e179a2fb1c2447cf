/** Who is in a team, as its ADMINs decide. Removing a team is here too: groups may lead those who were in it elsewhere. */
import { Deleted } from '../../../schemas/api/common.ts';
import { AddMember, Done, Member, MemberRole, TeamId } from '../../../schemas/api/people.ts';
import { conflict, DomainError, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation, ownScope } from '../../platform/operation/operation.ts';
import { findUserByEmail, teamScope } from '../access/index.ts';
import { lockRulesShared, membershipEntries, reconcileMemberships } from '../directory/index.ts';
import {
  deleteTeam,
  listEnvironmentsOf,
  listMemberIds,
  lockMembership,
  lockTeam,
  lockTeamWhole,
} from '../teams/index.ts';
import { endSessionsOf, notifyUi } from './accounts.ts';
import { changeRole, joinTeam, leaveTeam, takeMember } from './memberships.ts';

export const addMember = mutation({
  name: 'team.addMember',
  summary: 'Put somebody who has an account into a team',
  role: 'ADMIN',
  audit: 'team.memberAdded',
  input: AddMember,
  output: Done,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  async run(ctx, { teamId, email, role }) {
    const team = await lockTeam(ctx.db, teamId);
    const user = await findUserByEmail(ctx.db, email);
    if (!user)
      throw new DomainError(
        'NOT_FOUND',
        `There is no account with the address ${email}: a super admin makes accounts`,
      );
    const membership = await lockMembership(ctx.db, { teamId, userId: user.id });
    if (membership)
      throw conflict(
        membership.source === 'manual'
          ? `${user.email} is in this team already`
          : `${user.email} is in this team already, by group sync: change their role to take that over by hand`,
      );
    await joinTeam(ctx, { team, user }, role);
    return { ok: true as const };
  },
});

export const removeMember = mutation({
  name: 'team.removeMember',
  summary: 'Take somebody out of a team; their sessions end',
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
  summary:
    'Give a member of a team another role; their sessions end, and group sync leaves it alone from then on',
  role: 'ADMIN',
  audit: 'team.memberRoleChanged',
  input: MemberRole,
  output: Done,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  async run(ctx, { role, ...of }) {
    await changeRole(ctx, await takeMember(ctx, of), role);
    return { ok: true as const };
  },
});

const NAMED = 10;

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
    const team = await lockTeamWhole(ctx.db, teamId);
    const environments = await listEnvironmentsOf(ctx.db, teamId);
    if (environments.length > 0) {
      const named = environments.slice(0, NAMED).join(', ');
      const more = environments.length > NAMED ? ` and ${environments.length - NAMED} more` : '';
      throw preconditionFailed(`"${team.name}" has environments: delete ${named}${more} first`, {
        environments: environments.slice(0, NAMED),
      });
    }
    const members = await listMemberIds(ctx.db, teamId);
    await deleteTeam(ctx.db, teamId);
    await endSessionsOf(ctx, members);
    // Whom no mapping leads to a team any more, the default team takes.
    const followed = await reconcileMemberships(ctx, members);
    ctx.audit({
      entityType: 'Team',
      ...{ entityId: teamId, teamId },
      diff: { name: [team.name, null] },
      metadata: { name: team.name, members: members.length },
    });
    for (const entry of await membershipEntries(ctx.db, followed)) ctx.audit(entry);
    await notifyUi(ctx);
    return { deleted: true as const };
  },
});
