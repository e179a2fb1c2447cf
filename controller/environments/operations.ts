import {
  CreatedEnvironment,
  CreateEnvironment,
  Environment,
  EnvironmentList,
  GeneratedEnrollmentToken,
  GenerateEnrollmentToken,
  GetEnvironment,
  ListEnvironments,
} from '../../schemas/api/environments.ts';
import { environmentScope, objectScope, teamScope } from '../access/index.ts';
import { notFound } from '../platform/errors.ts';
import { mutation, query } from '../platform/operation.ts';
import { mintToken } from '../platform/tokens.ts';
import { findEnvironment, insertEnvironment, listEnvironments, replaceEnrollmentToken } from './store.ts';

export const list = query({
  name: 'environment.list',
  summary: 'Environments of a team',
  role: 'VIEWER',
  input: ListEnvironments,
  output: EnvironmentList,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  run: (ctx, input) => listEnvironments(ctx.db, input.teamId),
});

export const get = query({
  name: 'environment.get',
  summary: 'One environment',
  role: 'VIEWER',
  input: GetEnvironment,
  output: Environment,
  scope: (ctx, input) => objectScope(ctx, 'Environment', input.id),
  async run(ctx, input) {
    const environment = await findEnvironment(ctx.db, input.id);
    if (!environment) throw notFound('Environment');
    return environment;
  },
});

export const create = mutation({
  name: 'environment.create',
  summary: 'Make an environment in a team',
  role: 'EDITOR',
  audit: 'environment.created',
  input: CreateEnvironment,
  output: CreatedEnvironment,
  scope: (ctx, input) => teamScope(ctx, input.teamId),
  async run(ctx, input) {
    const id = await insertEnvironment(ctx.db, input);
    ctx.audit({
      entityType: 'Environment',
      entityId: id,
      environmentId: id,
      diff: { name: [null, input.name] },
    });
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['environments'] });
    return { id, name: input.name, teamId: input.teamId };
  },
});

const HOUR_MS = 3_600_000;

export const generateEnrollmentToken = mutation({
  name: 'environment.generateEnrollmentToken',
  summary: 'Make the token with which nodes join; shown once, an earlier one stops working',
  role: 'ADMIN',
  audit: 'environment.enrollmentTokenGenerated',
  input: GenerateEnrollmentToken,
  output: GeneratedEnrollmentToken,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    const minted = mintToken('hge');
    const expiresAt = input.expiresInHours
      ? new Date(ctx.clock.now() + input.expiresInHours * HOUR_MS)
      : null;
    await replaceEnrollmentToken(ctx.db, {
      id: minted.id,
      environmentId: input.environmentId,
      tokenHash: minted.hash,
      maxUses: input.maxUses ?? null,
      expiresAt,
    });
    ctx.audit({
      entityType: 'EnrollmentToken',
      entityId: minted.id,
      metadata: { maxUses: input.maxUses ?? null, expiresAt },
    });
    await ctx.services.bus.publish(ctx.db, {
      type: 'ui',
      environmentId: input.environmentId,
      topics: ['environments'],
    });
    return { id: minted.id, token: minted.token, expiresAt };
  },
});
