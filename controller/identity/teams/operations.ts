import type { Role } from '../../../schemas/api/common.ts';
import { NoInput } from '../../../schemas/api/common.ts';
import {
  CreatedTeam,
  CreateTeam,
  Done,
  RenameTeam,
  RequireTwoFactor,
  RoleAnswer,
  TeamById,
  TeamDetail,
  TeamId,
  TeamList,
} from '../../../schemas/api/identity/people.ts';
import type { Context } from '../../platform/operation/context.ts';
import { forbidden, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation, ownScope, query } from '../../platform/operation/operation.ts';
import { assertStillSignedIn, mayEnter, teamScope, type UserActor } from '../access/index.ts';
import { outOfReachReason } from './account-reach.ts';
import { addMember, listMembers } from './members-store.ts';
import {
  findTeam,
  insertTeam,
  lacksSecondFactor,
  listEnvironmentsOf,
  listTeams,
  lockTeam,
  updateTeam,
} from './store.ts';

function caller(ctx: Context): UserActor {
  if (ctx.actor.type !== 'user') throw forbidden('Only a signed-in user has teams');
  return ctx.actor;
}

/** A super admin is ADMIN in every team. */
const roleIn = (user: UserActor, teamId: string): Role | null =>
  user.isSuperAdmin ? 'ADMIN' : (user.roles.get(teamId) ?? null);

const ROLES_DESCENDING = ['ADMIN', 'EDITOR', 'VIEWER'] as const;

export const list = query({
  name: 'team.list',
  summary: 'Teams of the signed-in user',
  role: 'VIEWER',
  input: NoInput,
  output: TeamList,
  scope: () => ownScope,
  run: (ctx) => listTeams(ctx.db, caller(ctx)),
});

export const get = query({
  name: 'team.get',
  summary: 'One team, with its members',
  role: 'VIEWER',
  input: TeamById,
  output: TeamDetail,
  async scope(ctx, { id }) {
    if (!mayEnter(ctx, { teamId: id }) || !(await findTeam(ctx.db, id))) throw notFound('Team');
    return { teamId: id };
  },
  async run(ctx, { id }) {
    const role = roleIn(caller(ctx), id);
    const team = await findTeam(ctx.db, id);
    if (!team || !role) throw notFound('Team');
    const members = await listMembers(ctx.db, id);
    return {
      ...{ ...team, role },
      environmentCount: (await listEnvironmentsOf(ctx.db, id)).length,
      members: members.map(({ teamIds, vouched, ...member }) => ({
        ...member,
        accountOutOfReach: outOfReachReason(ctx.actor, { ...member, teamIds, vouched }),
      })),
    };
  },
});

export const myRole = query({
  name: 'team.myRole',
  summary: 'The highest role that the signed-in user has in any team; null in none',
  role: 'VIEWER',
  input: NoInput,
  output: RoleAnswer,
  scope: () => ownScope,
  async run(ctx) {
    const user = caller(ctx);
    const roles = new Set(user.roles.values());
    if (user.isSuperAdmin) roles.add('ADMIN');
    return { role: ROLES_DESCENDING.find((role) => roles.has(role)) ?? null };
  },
});

export const teamRole = query({
  name: 'team.teamRole',
  summary: 'The role that the signed-in user has in a team',
  role: 'VIEWER',
  input: TeamId,
  output: RoleAnswer,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  run: async (ctx, { teamId }) => ({ role: roleIn(caller(ctx), teamId) }),
});

const notifyUi = (ctx: Context) =>
  ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });

export const create = mutation({
  name: 'team.create',
  summary: 'Create a team; its creator becomes the first ADMIN',
  role: 'SUPER_ADMIN',
  audit: 'team.created',
  input: CreateTeam,
  output: CreatedTeam,
  scope: () => ownScope,
  async run(ctx, input) {
    const name = input.name.trim();
    const id = await insertTeam(ctx.db, name);
    if (ctx.actor.type === 'user') await addMember(ctx.db, id, ctx.actor.userId, 'ADMIN');
    ctx.audit({ entityType: 'Team', entityId: id, teamId: id, diff: { name: [null, name] } });
    await notifyUi(ctx);
    return { id, name };
  },
});

export const rename = mutation({
  name: 'team.rename',
  summary: 'Rename a team',
  role: 'ADMIN',
  audit: 'team.renamed',
  input: RenameTeam,
  output: Done,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  async run(ctx, input) {
    const name = input.name.trim();
    const team = await lockTeam(ctx.db, input.teamId);
    await assertStillSignedIn(ctx);
    await updateTeam(ctx.db, team.id, { name });
    ctx.audit({ entityType: 'Team', entityId: team.id, diff: { name: [team.name, name] } });
    await notifyUi(ctx);
    return { ok: true as const };
  },
});

export const updateRequireTwoFactor = mutation({
  name: 'team.updateRequireTwoFactor',
  summary: 'Set whether all members of a team need a second factor',
  role: 'ADMIN',
  audit: 'team.requireTwoFactorChanged',
  input: RequireTwoFactor,
  output: Done,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  async run(ctx, { teamId, requireTwoFactor }) {
    const { userId, sessionId } = caller(ctx);
    const team = await lockTeam(ctx.db, teamId);
    await assertStillSignedIn(ctx);
    if (requireTwoFactor && (await lacksSecondFactor(ctx.db, { teamId, userId, sessionId })))
      throw preconditionFailed(
        'Set up your own second factor first, in your own settings: without it you could do nothing else from now on',
      );
    await updateTeam(ctx.db, teamId, { requireTwoFactor });
    ctx.audit({
      entityType: 'Team',
      entityId: teamId,
      diff: { requireTwoFactor: [team.requireTwoFactor, requireTwoFactor] },
      metadata: { name: team.name },
    });
    await notifyUi(ctx);
    return { ok: true as const };
  },
});
