import {
  CreatedEnvironment,
  CreateEnvironment,
  DeletedEnvironment,
  Environment,
  EnvironmentId,
  EnvironmentList,
  GeneratedEnrollmentToken,
  GenerateEnrollmentToken,
  GetEnvironment,
  ListEnvironments,
  UpdateEnvironment,
} from '../../../schemas/api/environments.ts';
import { Done } from '../../../schemas/api/people.ts';
import { environmentScope, objectScope, teamScope } from '../../identity/access/index.ts';
import { mintToken } from '../../platform/crypto/tokens.ts';
import type { Context } from '../../platform/operation/context.ts';
import { forbidden, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { allows, mutation, query } from '../../platform/operation/operation.ts';
import {
  bumpConfigRevision,
  deleteEnvironment,
  type EnvironmentRecord,
  findEnvironment,
  insertEnvironment,
  listEnvironments,
  lockContents,
  lockEnvironment,
  releasePromotions,
  replaceEnrollmentToken,
  revokeEnrollmentTokens,
  updateEnvironment,
} from './store.ts';

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
    return withStore(ctx, await existing(ctx, input.id));
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

export const revokeEnrollmentToken = mutation({
  name: 'environment.revokeEnrollmentToken',
  summary: 'End the token with which nodes join; those that have joined stay',
  role: 'ADMIN',
  audit: 'environment.enrollmentTokenRevoked',
  input: EnvironmentId,
  output: Done,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId }) {
    await lockEnvironment(ctx.db, environmentId);
    const revoked = await revokeEnrollmentTokens(ctx.db, environmentId);
    if (!revoked)
      throw preconditionFailed('This environment has no enrollment token; there is nothing to revoke');
    ctx.audit({ entityType: 'EnrollmentToken', entityId: revoked.id });
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['environments'] });
    return { ok: true as const };
  },
});

export const update = mutation({
  name: 'environment.update',
  summary: 'Rename an environment; an ADMIN also sets what it asks for and how many nodes it takes',
  role: 'EDITOR',
  audit: 'environment.updated',
  input: UpdateEnvironment,
  output: Environment,
  scope: (ctx, input) => objectScope(ctx, 'Environment', input.id),
  prepare: (ctx, input) => ctx.services.secretStores.prepareChange(ctx, input),
  async run(ctx, { id, ...change }, backend) {
    await lockEnvironment(ctx.db, id);
    const before = await existing(ctx, id);
    const guarded =
      change.requireApproval !== undefined ||
      change.maxNodes !== undefined ||
      change.archiveNodesAfterDays !== undefined ||
      change.redactKeys !== undefined;
    // Who may not approve must not be able to do away with approvals, nor with what hides values from him.
    if (guarded && !allows(ctx.actor, { teamId: before.teamId, environmentId: id }, { role: 'ADMIN' }))
      throw forbidden(
        'requireApproval, maxNodes, archiveNodesAfterDays and redactKeys need the role ADMIN in the team',
      );
    const after = {
      name: change.name ?? before.name,
      requireApproval: change.requireApproval ?? before.requireApproval,
      maxNodes: change.maxNodes === undefined ? before.maxNodes : change.maxNodes,
      archiveNodesAfterDays: change.archiveNodesAfterDays ?? before.archiveNodesAfterDays,
      autoRevert: change.autoRevert ?? before.autoRevert,
      redactKeys: change.redactKeys,
    };
    await updateEnvironment(ctx.db, id, after);
    if (after.autoRevert !== before.autoRevert) {
      await bumpConfigRevision(ctx.db, id);
      await ctx.services.bus.publish(ctx.db, { type: 'config', environmentId: id, reason: 'auto revert' });
    }
    if (backend) await ctx.services.secretStores.applyChange(ctx, backend);
    const now = await existing(ctx, id);
    ctx.audit({
      entityType: 'Environment',
      entityId: id,
      diff: Object.fromEntries(
        FIELDS.filter((field) => String(before[field]) !== String(now[field])).map((field) => [
          field,
          [before[field], now[field]],
        ]),
      ),
      metadata: { name: now.name, ...(backend ? { secretBackendFields: backend.fields } : {}) },
    });
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['environments'] });
    return withStore(ctx, now);
  },
});

const FIELDS = [
  'name',
  'requireApproval',
  'maxNodes',
  'archiveNodesAfterDays',
  'autoRevert',
  'secretBackend',
  'redactKeys',
] as const;

async function existing(ctx: Context, id: string): Promise<EnvironmentRecord> {
  const environment = await findEnvironment(ctx.db, id);
  if (!environment) throw notFound('Environment');
  return environment;
}

const withStore = async (ctx: Context, environment: EnvironmentRecord): Promise<Environment> => ({
  ...environment,
  secretStore: await ctx.services.secretStores.describe(ctx.db, environment.id),
  secretCommands: allows(ctx.actor, environment, { role: 'EDITOR' })
    ? [...ctx.services.secretStores.execCommands]
    : [],
});

/** Closes the pull request of one promotion that the deleted environment was the source of: `{requestId, environmentId}`. */
export const SOURCE_DELETED_JOB = 'promotion.sourceDeleted';

export const remove = mutation({
  name: 'environment.delete',
  summary: 'Delete an environment with its pipelines and nodes; files in git stay',
  role: 'ADMIN',
  audit: 'environment.deleted',
  input: GetEnvironment,
  output: DeletedEnvironment,
  scope: (ctx, input) => objectScope(ctx, 'Environment', input.id),
  async run(ctx, { id }) {
    const { name } = await existing(ctx, id);
    const note = `The environment "${name}", from which it was to be promoted, was deleted`;
    const locked = await lockContents(ctx.db, id);
    if (!locked) throw notFound('Environment');
    const ended = await releasePromotions(ctx.db, { id, name }, note);
    const counts = await deleteEnvironment(ctx.db, id);
    ctx.audit({ entityType: 'Environment', entityId: id, metadata: { name, ...counts } });
    const { bus, jobs } = ctx.services;
    for (const { id: requestId, targetEnvironmentId: environmentId } of ended) {
      const entity = { entityType: 'Promotion', entityId: requestId, environmentId };
      ctx.audit({ ...entity, action: 'promotion.cancelled', metadata: { note } });
      await jobs.add(ctx.db, SOURCE_DELETED_JOB, { requestId, environmentId });
      await bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['promotions'] });
    }
    await bus.publish(ctx.db, { type: 'environment', environmentId: id });
    await bus.publish(ctx.db, { type: 'wake', loop: 'git', key: id, trigger: 'environment deleted' });
    await bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['environments'] });
    return { deleted: true as const, ...counts };
  },
});
