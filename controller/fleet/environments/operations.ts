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
} from '../../../schemas/api/fleet/environments.ts';
import { Done } from '../../../schemas/api/identity/people.ts';
import { environmentScope, objectScope, teamScope } from '../../identity/access/index.ts';
import { mintToken } from '../../platform/crypto/tokens.ts';
import { diffOf } from '../../platform/operation/audit-entry.ts';
import type { Context } from '../../platform/operation/context.ts';
import { forbidden, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation, query } from '../../platform/operation/operation.ts';
import { allows } from '../../platform/operation/permissions.ts';
import {
  bumpConfigRevision,
  deleteEnvironment,
  detachPromotions,
  type EnvironmentRecord,
  findEnvironment,
  insertEnvironment,
  listEnvironments,
  lockContents,
  lockEnvironment,
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
    return withSecretStore(ctx, await getEnvironment(ctx, input.id));
  },
});

export const create = mutation({
  name: 'environment.create',
  summary: 'Create an environment in a team',
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
      metadata: { name: input.name },
    });
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['environments'] });
    return { id, name: input.name, teamId: input.teamId };
  },
});

const HOUR_MS = 3_600_000;

export const generateEnrollmentToken = mutation({
  name: 'environment.generateEnrollmentToken',
  summary: 'Create the token that nodes enroll with; it is returned once and replaces an earlier one',
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
  summary: 'Revoke the token that nodes enroll with; enrolled nodes stay',
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
  summary: 'Rename an environment; an ADMIN also sets approvals, the node limit, archiving and redacted keys',
  role: 'EDITOR',
  audit: 'environment.updated',
  input: UpdateEnvironment,
  output: Environment,
  scope: (ctx, input) => objectScope(ctx, 'Environment', input.id),
  prepare: (ctx, input) => ctx.services.secretStores.prepareChange(ctx, input),
  async run(ctx, { id, ...change }, backend) {
    await lockEnvironment(ctx.db, id);
    const before = await getEnvironment(ctx, id);
    const needsAdmin =
      change.requireApproval !== undefined ||
      change.maxNodes !== undefined ||
      change.archiveNodesAfterDays !== undefined ||
      change.redactKeys !== undefined;
    // A user who may not approve must not be able to switch off approvals, or the redaction that hides values from them.
    if (needsAdmin && !allows(ctx.actor, { teamId: before.teamId, environmentId: id }, { role: 'ADMIN' }))
      throw forbidden(
        'requireApproval, maxNodes, archiveNodesAfterDays and redactKeys need the role ADMIN in the team',
      );
    const after = {
      name: change.name ?? before.name,
      requireApproval: change.requireApproval ?? before.requireApproval,
      maxNodes: change.maxNodes === undefined ? before.maxNodes : change.maxNodes,
      archiveNodesAfterDays: change.archiveNodesAfterDays ?? before.archiveNodesAfterDays,
      autoRevert: change.autoRevert ?? before.autoRevert,
      pricePerGb: change.pricePerGb === undefined ? before.pricePerGb : change.pricePerGb,
      redactKeys: change.redactKeys,
    };
    await updateEnvironment(ctx.db, id, after);
    if (after.autoRevert !== before.autoRevert) {
      await bumpConfigRevision(ctx.db, id);
      await ctx.services.bus.publish(ctx.db, { type: 'config', environmentId: id, reason: 'auto revert' });
    }
    if (backend) await ctx.services.secretStores.applyChange(ctx, backend);
    const now = await getEnvironment(ctx, id);
    ctx.audit({
      entityType: 'Environment',
      entityId: id,
      diff: diffOf(before, now, FIELDS),
      metadata: { name: now.name, ...(backend ? { secretBackendFields: backend.fields } : {}) },
    });
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['environments'] });
    return withSecretStore(ctx, now);
  },
});

const FIELDS = [
  'name',
  'requireApproval',
  'maxNodes',
  'archiveNodesAfterDays',
  'autoRevert',
  'pricePerGb',
  'secretBackend',
  'redactKeys',
] as const;

async function getEnvironment(ctx: Context, id: string): Promise<EnvironmentRecord> {
  const environment = await findEnvironment(ctx.db, id);
  if (!environment) throw notFound('Environment');
  return environment;
}

const withSecretStore = async (ctx: Context, environment: EnvironmentRecord): Promise<Environment> => ({
  ...environment,
  secretStore: await ctx.services.secretStores.describe(ctx.db, environment.id),
  secretCommands: allows(ctx.actor, environment, { role: 'EDITOR' })
    ? [...ctx.services.secretStores.execCommands]
    : [],
});

/** Closes the pull request of a promotion whose source environment was deleted: `{requestId, environmentId}`. */
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
    const { name } = await getEnvironment(ctx, id);
    const note = `The source environment "${name}" was deleted`;
    const locked = await lockContents(ctx.db, id);
    if (!locked) throw notFound('Environment');
    const ended = await detachPromotions(ctx.db, { id, name }, note);
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
