/**
 * What git does to a pipeline: two operations, each one transaction with its audit row, each safe to repeat. Nothing else
 * writes a git-owned pipeline.
 */
import Type, { type Static } from 'typebox';
import type { PipelineSpec } from '../../schemas/manifests/index.ts';
import { bumpConfigRevision } from '../environments/index.ts';
import type { MutationContext } from '../platform/context.ts';
import { notFound, preconditionFailed } from '../platform/errors.ts';
import { mutation } from '../platform/operation.ts';
import { compile } from './compile.ts';
import type { Definition } from './definition.ts';
import {
  findPipelineByName,
  findTombstone,
  insertPipeline,
  insertVersion,
  latestVersion,
  lockPipeline,
  markDeployed,
  markDraft,
  type PipelineRecord,
  type PipelineWrite,
  tombstonePipeline,
  updatePipeline,
} from './store.ts';

export const ConvergePipeline = Type.Object({
  environmentId: Type.String(),
  /** The pipeline that the manifest's identity stands for; null when git has not applied it before. */
  pipelineId: Type.Union([Type.String(), Type.Null()]),
  name: Type.String(),
  uid: Type.Union([Type.String(), Type.Null()]),
  labels: Type.Unsafe<Record<string, string>>({ type: 'object' }),
  spec: Type.Unsafe<PipelineSpec>({ type: 'object' }),
  specHash: Type.String(),
  commit: Type.Object({
    sha: Type.String(),
    author: Type.String(),
    subject: Type.String(),
    message: Type.String(),
  }),
  path: Type.String(),
});
export type ConvergePipeline = Static<typeof ConvergePipeline>;

export const Converged = Type.Object({
  pipelineId: Type.String(),
  outcome: Type.Enum(['created', 'changed', 'restored', 'unchanged']),
  /** The version that is the newest now. */
  version: Type.Integer(),
  deployed: Type.Boolean(),
});
export type Converged = Static<typeof Converged>;

export const convergePipeline = mutation({
  name: 'pipeline.converge',
  summary: 'Make a pipeline what its manifest says',
  role: 'EDITOR',
  audit: 'pipeline.converged',
  input: ConvergePipeline,
  output: Converged,
  scope: (_ctx, input) => ({ teamId: null, environmentId: input.environmentId }),
  async run(ctx, input) {
    const { spec } = input;
    const compiled = compile(spec as Definition);
    const write: PipelineWrite = {
      name: input.name,
      uid: input.uid,
      description: spec.description ?? null,
      managedBy: 'git',
      nodeSelector: spec.nodeSelector ?? null,
      logLevel: spec.logLevel,
      nodes: compiled.nodes,
      edges: compiled.edges,
      globalConfig: spec.global,
      labels: input.labels,
      dependsOn: spec.dependsOn,
    };
    const before = await findTarget(ctx, input);
    const pipelineId = before ? before.id : await insertPipeline(ctx.db, input.environmentId, write);
    if (before) await updatePipeline(ctx.db, pipelineId, write);
    const latest = before ? await latestVersion(ctx.db, pipelineId) : null;
    const version =
      latest?.specHash === input.specHash
        ? latest
        : await insertVersion(ctx.db, {
            ...write,
            pipelineId,
            configYaml: compiled.configYaml,
            specHash: input.specHash,
            changelog: input.commit.subject,
            source: 'git',
            createdById: null,
            commit: {
              sha: input.commit.sha,
              author: input.commit.author,
              message: input.commit.message,
              path: input.path,
            },
          });
    if (spec.deployed) await markDeployed(ctx.db, pipelineId, version.id);
    else await markDraft(ctx.db, pipelineId);
    await pipelineChanged(ctx, input.environmentId, pipelineId, 'git');

    const outcome = !before
      ? ('created' as const)
      : before.tombstonedAt
        ? ('restored' as const)
        : ('changed' as const);
    ctx.audit({
      action: `pipeline.${outcome}`,
      entityType: 'Pipeline',
      entityId: pipelineId,
      environmentId: input.environmentId,
      diff: {
        version: [latest?.version ?? null, version.version],
        deployed: [before ? !before.isDraft : false, spec.deployed],
        ...(before && before.name !== input.name ? { name: [before.name, input.name] } : {}),
      },
      metadata: { path: input.path },
    });
    return { pipelineId, outcome, version: version.version, deployed: spec.deployed };
  },
});

/**
 * The row to change: the known one; one that git made in a pass that did not live to record it; or a tombstone that comes
 * back. A live namesake that the UI owns is a conflict.
 */
async function findTarget(ctx: MutationContext, input: ConvergePipeline): Promise<PipelineRecord | null> {
  const known = input.pipelineId === null ? null : await lockPipeline(ctx.db, input.pipelineId);
  if (known) return known;
  const namesake = await findPipelineByName(ctx.db, input.environmentId, input.name);
  if (namesake?.managedBy === 'git') return lockPipeline(ctx.db, namesake.id);
  if (namesake) {
    throw preconditionFailed(
      `a pipeline named "${namesake.name}" exists already and is owned by the UI; rename one of the two, or delete that one in the UI`,
      { reason: 'Conflict' },
    );
  }
  const tombstone = await findTombstone(ctx.db, input.environmentId, input);
  return tombstone && lockPipeline(ctx.db, tombstone.id);
}

export const PrunePipeline = Type.Object({ environmentId: Type.String(), pipelineId: Type.String() });

/** How long a pruned pipeline can come back with its id and history. */
export const TOMBSTONE_HOURS = 24;
export const PURGE_JOB = 'purge-pipeline';

export const prunePipeline = mutation({
  name: 'pipeline.prune',
  summary: 'Undeploy and tombstone a pipeline whose manifest is gone',
  role: 'EDITOR',
  audit: 'pipeline.pruned',
  input: PrunePipeline,
  output: Type.Object({ pruned: Type.Boolean() }),
  scope: (_ctx, input) => ({ teamId: null, environmentId: input.environmentId }),
  async run(ctx, input) {
    const pipeline = await lockPipeline(ctx.db, input.pipelineId);
    if (pipeline && pipeline.environmentId !== input.environmentId) throw notFound('Pipeline');
    ctx.audit({
      entityType: 'Pipeline',
      entityId: input.pipelineId,
      environmentId: input.environmentId,
      metadata: { name: pipeline?.name ?? null },
    });
    if (!pipeline || pipeline.tombstonedAt) return { pruned: false };
    await tombstonePipeline(ctx.db, pipeline.id);
    await ctx.services.jobs.add(
      ctx.db,
      PURGE_JOB,
      { pipelineId: pipeline.id },
      { runAt: new Date(ctx.clock.now() + TOMBSTONE_HOURS * 3_600_000), key: `${PURGE_JOB}:${pipeline.id}` },
    );
    await pipelineChanged(ctx, input.environmentId, pipeline.id, 'pruned');
    return { pruned: true };
  },
});

async function pipelineChanged(
  ctx: MutationContext,
  environmentId: string,
  pipelineId: string,
  reason: string,
): Promise<void> {
  await bumpConfigRevision(ctx.db, environmentId);
  await ctx.services.bus.publish(ctx.db, { type: 'config', environmentId, pipelineId, reason });
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['pipelines', 'fleet'] });
}
