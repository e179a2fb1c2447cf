import { isDeepStrictEqual } from 'node:util';
import type { GraphNode } from '../../../schemas/api/pipelines.ts';
import { lockEditable, lockHandmade, lockHolding } from '../../delivery/ownership/index.ts';
import { findActiveRollout } from '../../delivery/rollouts/index.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { notFound } from '../../platform/operation/errors.ts';
import { compile } from '../definition/compile.ts';
import { definitionOf, type Graph } from '../graph/graph.ts';
import { findPipeline, findVersionContent, type PipelineRecord } from './store.ts';

/** @throws NOT_FOUND */
export async function getPipeline(ctx: Pick<Context, 'db'>, id: string): Promise<PipelineRecord> {
  const pipeline = await findPipeline(ctx.db, id);
  if (!pipeline) throw notFound('Pipeline');
  return pipeline;
}

/**
 * The pipeline, locked until the transaction ends.
 * @throws NOT_FOUND; PRECONDITION_FAILED where git describes it and the policy refuses changes by hand.
 */
export async function lockPipeline(ctx: MutationContext, id: string): Promise<PipelineRecord> {
  await lockEditable(ctx, 'pipelines', id);
  return getPipeline(ctx, id);
}

/**
 * The same for what is done at once, against git where it describes the pipeline: git's spec is held, or the one of that
 * hash. @throws NOT_FOUND
 */
export async function lockPipelineHolding(
  ctx: MutationContext,
  id: string,
  reason: string,
  specHash?: string,
): Promise<{ pipeline: PipelineRecord; held: boolean }> {
  const held = await lockHolding(ctx, 'pipelines', id, reason, specHash);
  return { pipeline: await getPipeline(ctx, id), held };
}

/** The same for what no manifest can say. @throws NOT_FOUND; PRECONDITION_FAILED where git describes it. */
export async function lockHandmadePipeline(ctx: MutationContext, id: string): Promise<PipelineRecord> {
  await lockHandmade(ctx, 'pipelines', id);
  return getPipeline(ctx, id);
}

/** @throws NOT_FOUND */
export function nodeOf(pipeline: Pick<Graph, 'nodes'>, nodeId: string): GraphNode {
  const node = pipeline.nodes.find(({ id, componentKey }) => (id ?? componentKey) === nodeId);
  if (!node) throw notFound('Component');
  return node;
}

/**
 * The config of what is stored. Not always the very text of a version: the database keeps the keys of an object in an
 * order of its own, so only what was rendered from it on both sides may be compared.
 */
export const renderStored = (graph: Graph): string => compile(definitionOf(graph)).configYaml;

/** Whether a deploy would ship something else than what runs, on canary nodes where a rollout is active. */
export async function hasConfigChanges(ctx: Pick<Context, 'db'>, pipeline: PipelineRecord): Promise<boolean> {
  const active = await findActiveRollout(ctx.db, pipeline.id);
  const newest = active?.canaryVersionId ?? pipeline.deployedVersionId;
  const deployed = newest && (await findVersionContent(ctx.db, newest));
  if (!deployed) return pipeline.nodes.length > 0;
  return (
    deployed.logLevel !== pipeline.logLevel ||
    deployed.drainSeconds !== pipeline.drainSeconds ||
    !isDeepStrictEqual(deployed.nodeSelector, pipeline.nodeSelector) ||
    renderStored(deployed) !== renderStored(pipeline)
  );
}
