import { NoInput } from '../../schemas/api/common.ts';
import { CreatedTeam, CreateTeam, TeamList } from '../../schemas/api/people.ts';
import { forbidden } from '../platform/errors.ts';
import { mutation, ownScope, query } from '../platform/operation.ts';
import { addMember, insertTeam, listTeams } from './store.ts';

export const list = query({
  name: 'team.list',
  summary: 'Teams of the signed-in user',
  role: 'VIEWER',
  input: NoInput,
  output: TeamList,
  scope: () => ownScope,
  async run(ctx) {
    if (ctx.actor.type !== 'user') throw forbidden('Only a signed-in user has teams');
    return listTeams(ctx.db, ctx.actor);
  },
});

export const create = mutation({
  name: 'team.create',
  summary: 'Make a team; whoever makes it becomes its first ADMIN',
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
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });
    return { id, name };
  },
});
