/** What all that deploys has in common: checks before the row is locked, a version, the end of a rollout that it takes over. */
import { assertEditable } from '../../delivery/ownership/index.ts';
import { endActive } from '../../delivery/rollouts/index.ts';
import type { Actor, Context, MutationContext } from '../../platform/operation/context.ts';
import { newId } from '../../platform/operation/ids.ts';
import type { Graph } from '../graph/graph.ts';
import { invalid, validateGraph } from '../graph/validate-graph.ts';
import { getPipeline } from '../lifecycle/lock-pipeline.ts';
import {
  insertVersions,
  type NewVersion,
  nextVersionNumber,
  type PipelineRecord,
} from '../lifecycle/store.ts';

/** @throws BAD_REQUEST with `validationErrors` */
export async function assertDeployable(ctx: Context, environmentId: string, graph: Graph): Promise<string> {
  const { configYaml, errors } = await validateGraph(ctx, environmentId, graph);
  if (errors.length > 0) throw invalid(errors);
  return configYaml;
}

/** A pipeline that people may change, before its row is locked: what the policy refuses is refused before anything is checked. */
export async function editable(ctx: Context, id: string): Promise<PipelineRecord> {
  const pipeline = await getPipeline(ctx, id);
  await assertEditable(ctx, 'pipelines', pipeline);
  return pipeline;
}

/** A version of what the graph says, of a pipeline whose row is locked. */
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

function creatorOf(actor: Actor): Pick<NewVersion, 'source' | 'createdById' | 'createdByAccount'> {
  if (actor.type !== 'service_account')
    return { source: 'ui', createdById: actor.type === 'user' ? actor.userId : null };
  return { source: 'api', createdById: null, createdByAccount: { id: actor.id, name: actor.name } };
}

/** Ends the rollout that is active, if one is. */
export const rolledBackBy = (
  ctx: MutationContext,
  { id, environmentId }: Pick<PipelineRecord, 'id' | 'environmentId'>,
  reason: string,
) => endActive(ctx, environmentId, [{ pipelineId: id, status: 'ROLLED_BACK', reason }]);
