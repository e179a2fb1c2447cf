/** Staged rollouts: some nodes get a version first, the others when the rollout is broadened by a user or by its verdict. */
import type { Static } from 'typebox';
import { ChangedRollout, CreateRollout, WhichRollout } from '../../../schemas/api/delivery/rollouts.ts';
import { matchesSelector, selectorText } from '../../../schemas/pipelines/selector.ts';
import {
  describedInGit,
  lockHandmade,
  lockRow,
  ROLLED_BACK_JOB,
  writeAsReconciler,
} from '../../delivery/ownership/index.ts';
import {
  assertNoRollout,
  endActive,
  findRollout,
  isActive,
  type RolloutRecord,
  startRollouts,
} from '../../delivery/rollouts/index.ts';
import { readStatus } from '../../fleet/status/index.ts';
import { objectScope } from '../../identity/access/index.ts';
import { nameOfActor } from '../../platform/operation/actor-name.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { badRequest, conflict, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { getPipeline, lockPipelineHolding, renderStored } from '../lifecycle/lock-pipeline.ts';
import { publishPipelineChange } from '../lifecycle/publish-change.ts';
import { type PipelineRecord, updatePipeline } from '../lifecycle/store.ts';
import { findVersionContent } from '../lifecycle/versions-store.ts';
import { addVersion, assertDeployable, rollBackActiveRollout } from '../versions/create-version.ts';
import { lockVariables } from './missing-variables.ts';

/** @throws PRECONDITION_FAILED if git manages the pipeline: its canary is set in the manifest */
async function assertNotInGit(ctx: Pick<Context, 'db'>, pipeline: PipelineRecord): Promise<void> {
  if (pipeline.managedBy !== 'git') return;
  const { message, details } = await describedInGit(ctx.db, 'pipelines', pipeline);
  throw preconditionFailed(`${message}. Its canary is spec.rollout of the manifest`, details);
}

type Selection = Pick<Static<typeof CreateRollout>, 'canarySelector'>;

/** @throws BAD_REQUEST unless some nodes are canary nodes and others are not */
async function assertSplitsNodes(
  ctx: Context,
  pipeline: PipelineRecord,
  { canarySelector }: Selection,
): Promise<void> {
  if (Object.keys(canarySelector).length === 0)
    throw badRequest(
      'canarySelector is empty and would mean every node; name labels of some nodes, or deploy without a rollout',
    );
  const { id, environmentId, nodeSelector } = pipeline;
  const { nodes } = await readStatus(ctx, { environmentId, pipelineId: id });
  const all = nodes.filter(({ labels }) => matchesSelector(nodeSelector, labels));
  const canaries = all.filter(({ labels }) => matchesSelector(canarySelector, labels));
  const selector = selectorText(canarySelector);
  if (canaries.length === 0)
    throw badRequest(
      `No node of the pipeline carries ${selector}; choose labels that some of its ${all.length} nodes have`,
    );
  if (canaries.length === all.length)
    throw badRequest(
      `All ${all.length} nodes of the pipeline carry ${selector}, so there would be no other nodes to compare with; choose fewer, or deploy without a rollout`,
    );
}

export const create = mutation({
  name: 'stagedRollout.create',
  summary: 'Check a pipeline, create a version of it and deploy that version to some nodes first',
  role: 'EDITOR',
  permission: 'pipelines.deploy',
  audit: 'rollout.created',
  input: CreateRollout,
  output: ChangedRollout,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async prepare(ctx, { pipelineId, canarySelector }) {
    const pipeline = await getPipeline(ctx, pipelineId);
    await assertNotInGit(ctx, pipeline);
    await assertSplitsNodes(ctx, pipeline, { canarySelector });
    return assertDeployable(ctx, pipeline.environmentId, pipeline);
  },
  async run(ctx, input, configYaml) {
    const { pipelineId, canarySelector, changelog, supersede = false } = input;
    await lockHandmade(ctx, 'pipelines', pipelineId);
    const pipeline = await getPipeline(ctx, pipelineId);
    if (renderStored(pipeline) !== configYaml)
      throw conflict('The pipeline was changed while it was being checked; start the rollout again');
    const active = await assertNoRollout(ctx, pipelineId, supersede);
    await lockVariables(ctx, pipeline.environmentId, [configYaml]);
    const version = await addVersion(ctx, pipeline, pipeline, { configYaml, changelog });
    if (active) await rollBackActiveRollout(ctx, pipeline, `Superseded by version ${version.number}`);
    await updatePipeline(ctx.db, pipelineId, { isDraft: false, latestVersionId: version.id });
    const [rolloutId = ''] = await startRollouts(ctx, pipeline.environmentId, [
      {
        ...{ pipelineId, canarySelector, changelog, commit: null },
        previousVersionId: pipeline.deployedVersionId,
        canaryVersionId: version.id,
        windowMinutes: input.healthCheckWindowMinutes,
        onPass: input.onPass ?? 'broaden',
        onFail: input.onFail ?? 'rollback',
        source: 'ui',
      },
    ]);
    const metadata = { name: pipeline.name, rolloutId, version: version.number, canarySelector, changelog };
    await publishPipelineChange(ctx, pipeline, { reason: 'canary deployed', served: true, metadata });
    return { rolloutId, status: 'CANARY_DEPLOYED' as const };
  },
});

/**
 * Returns the rollout and locks its pipeline's row, which every code that ends a rollout locks first.
 *
 * @throws NOT_FOUND; PRECONDITION_FAILED if it has ended
 */
async function lockActive(ctx: MutationContext, id: string): Promise<RolloutRecord> {
  const found = await findRollout(ctx.db, id);
  if (!found || !(await lockRow(ctx.db, 'pipelines', found.pipelineId))) throw notFound('Rollout');
  const rollout = (await findRollout(ctx.db, id)) ?? found;
  if (!isActive(rollout))
    throw preconditionFailed(
      `This rollout has ended already: ${rollout.status === 'BROADENED' ? 'every node got the version' : 'it was rolled back'} (${rollout.endReason})`,
    );
  return rollout;
}

const metadataOf = (pipeline: PipelineRecord, rollout: RolloutRecord, reason: string) => ({
  name: pipeline.name,
  rolloutId: rollout.id,
  version: rollout.canaryVersion,
  previousVersion: rollout.previousVersion,
  reason,
});

export const broaden = mutation({
  name: 'stagedRollout.broaden',
  summary: 'Deploy the version of a rollout to all nodes',
  role: 'EDITOR',
  permission: 'pipelines.deploy',
  audit: 'rollout.broadened',
  input: WhichRollout,
  output: ChangedRollout,
  scope: (ctx, input) => objectScope(ctx, 'Rollout', input.rolloutId),
  async run(ctx, { rolloutId, reason = 'Broadened by hand' }) {
    const rollout = await lockActive(ctx, rolloutId);
    const { pipelineId, environmentId, canaryVersionId } = rollout;
    const pipeline = await getPipeline(ctx, pipelineId);
    await endActive(ctx, environmentId, [{ pipelineId, status: 'BROADENED', reason }]);
    // The same version from git on more nodes, so it is no drift.
    if (pipeline.managedBy === 'git') await writeAsReconciler(ctx.db);
    await updatePipeline(ctx.db, pipelineId, {
      isDraft: false,
      deployedVersionId: canaryVersionId,
      deployedAt: new Date(ctx.clock.now()),
    });
    const metadata = metadataOf(pipeline, rollout, reason);
    await publishPipelineChange(ctx, pipeline, { reason: 'broadened', served: true, metadata });
    return { rolloutId, status: 'BROADENED' as const };
  },
});

export const rollback = mutation({
  name: 'stagedRollout.rollback',
  summary: 'Return the canary nodes to the version of the other nodes; for a pipeline in git, hold its spec',
  role: 'EDITOR',
  permission: 'pipelines.deploy',
  audit: 'rollout.rolledBack',
  input: WhichRollout,
  output: ChangedRollout,
  scope: (ctx, input) => objectScope(ctx, 'Rollout', input.rolloutId),
  async run(ctx, { rolloutId, reason = 'Rolled back by hand' }) {
    const rollout = await lockActive(ctx, rolloutId);
    const { pipelineId, environmentId } = rollout;
    const why = `The rollout of version ${rollout.canaryVersion} was rolled back: ${reason}`.slice(0, 1_000);
    const before = await getPipeline(ctx, pipelineId);
    const { pipeline, held } =
      before.managedBy === 'git'
        ? await lockPipelineHolding(ctx, pipelineId, why, rollout.canarySpecHash ?? undefined)
        : { pipeline: before, held: false };
    await endActive(ctx, environmentId, [{ pipelineId, status: 'ROLLED_BACK', reason }]);
    const previous = pipeline.deployedVersionId
      ? await findVersionContent(ctx.db, pipeline.deployedVersionId)
      : null;
    // If nothing was deployed before, the pipeline becomes a draft again. A graph that users edit stays unchanged.
    if (!previous) await updatePipeline(ctx.db, pipelineId, { isDraft: true });
    else if (held) {
      const { nodes, edges, globalConfig, logLevel, drainSeconds, nodeSelector } = previous;
      const settings = { logLevel, drainSeconds, nodeSelector };
      await updatePipeline(ctx.db, pipelineId, { nodes, edges, globalConfig, ...settings });
      const payload = { environmentId, pipelineId, reason: `${why} (${nameOfActor(ctx.actor)})` };
      const key = `${ROLLED_BACK_JOB}:${pipelineId}`;
      await ctx.services.jobs.add(ctx.db, ROLLED_BACK_JOB, payload, { key });
    }
    const metadata = metadataOf(pipeline, rollout, reason);
    await publishPipelineChange(ctx, pipeline, { reason: 'rollout rolled back', served: true, metadata });
    return { rolloutId, status: 'ROLLED_BACK' as const };
  },
});
