/** Steps that all deployments share: checks before the row is locked, the new version, and the end of an active rollout. */
import { assertEditable } from '../../delivery/ownership/index.ts';
import { endActive } from '../../delivery/rollouts/index.ts';
import type { Actor, Context, MutationContext } from '../../platform/operation/context.ts';
import { newId } from '../../platform/operation/ids.ts';
import { assertGraphSize, type Graph } from '../graph/graph.ts';
import { validateGraph, validationFailed } from '../graph/validate-graph.ts';
import { getPipeline, renderStored } from '../lifecycle/lock-pipeline.ts';
import { publishPipelineChange } from '../lifecycle/publish-change.ts';
import { type PipelineRecord, updatePipeline } from '../lifecycle/store.ts';
import { insertVersions, type NewVersion, nextVersionNumber } from '../lifecycle/versions-store.ts';

/** @throws BAD_REQUEST with `validationErrors` */
export async function assertDeployable(ctx: Context, environmentId: string, graph: Graph): Promise<string> {
  const { configYaml, errors } = await validateGraph(ctx, environmentId, graph);
  if (errors.length > 0) throw validationFailed(errors);
  return configYaml;
}

/**
 * Returns a pipeline that may be changed by hand. Called before the row is locked, so that the policy refuses before any other
 * check runs.
 */
export async function getEditable(ctx: Context, id: string): Promise<PipelineRecord> {
  const pipeline = await getPipeline(ctx, id);
  await assertEditable(ctx, 'pipelines', pipeline);
  return pipeline;
}

/** Creates a version of a graph. The pipeline's row must be locked. */
export async function addVersion(
  ctx: MutationContext,
  pipeline: PipelineRecord,
  of: Graph & Pick<PipelineRecord, 'logLevel' | 'drainSeconds' | 'nodeSelector'>,
  version: { configYaml: string; changelog: string | null },
): Promise<{ id: string; number: number }> {
  const id = newId();
  const number = await nextVersionNumber(ctx.db, pipeline.id);
  await insertVersions(ctx.db, [
    {
      id,
      version: number,
      pipelineId: pipeline.id,
      configYaml: version.configYaml,
      changelog: version.changelog,
      logLevel: of.logLevel,
      drainSeconds: of.drainSeconds,
      nodeSelector: of.nodeSelector,
      nodes: of.nodes,
      edges: of.edges,
      globalConfig: of.globalConfig,
      specHash: null,
      ...creatorOf(ctx.actor),
      commit: null,
    },
  ]);
  return { id, number };
}

/** Saves a graph as a version that is not deployed. The pipeline's row must be locked. */
export async function saveVersion(
  ctx: MutationContext,
  pipeline: PipelineRecord,
  graph: Graph,
  { changelog, action }: { changelog: string | null; action?: string },
): Promise<{ id: string; number: number }> {
  assertGraphSize(graph);
  await updatePipeline(ctx.db, pipeline.id, graph);
  // Read back from the database, so that a deploy of this graph renders the same text.
  const stored = await getPipeline(ctx, pipeline.id);
  const version = await addVersion(ctx, stored, stored, { configYaml: renderStored(stored), changelog });
  await updatePipeline(ctx.db, pipeline.id, { latestVersionId: version.id });
  await publishPipelineChange(ctx, pipeline, {
    ...{ reason: 'version created', served: false, ...(action ? { action } : {}) },
    metadata: { name: pipeline.name, version: version.number, changelog },
  });
  return version;
}

function creatorOf(actor: Actor): Pick<NewVersion, 'source' | 'createdById' | 'createdByAccount'> {
  if (actor.type !== 'service_account')
    return { source: 'ui', createdById: actor.type === 'user' ? actor.userId : null };
  return { source: 'api', createdById: null, createdByAccount: { id: actor.id, name: actor.name } };
}

/** Ends the active rollout as rolled back, if there is one. */
export const rollBackActiveRollout = (
  ctx: MutationContext,
  { id, environmentId }: Pick<PipelineRecord, 'id' | 'environmentId'>,
  reason: string,
) => endActive(ctx, environmentId, [{ pipelineId: id, status: 'ROLLED_BACK', reason }]);
