import { isDeepStrictEqual } from 'node:util';
import type { GraphNode } from '../../../schemas/api/pipelines/graph.ts';
import { lockEditable, lockHandmade, lockHolding } from '../../delivery/ownership/index.ts';
import { findActiveRollout } from '../../delivery/rollouts/index.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { notFound } from '../../platform/operation/errors.ts';
import { compile } from '../definition/compile.ts';
import { definitionOf, type Graph } from '../graph/graph.ts';
import { findPipeline, type PipelineRecord } from './store.ts';
import { findVersionContent } from './versions-store.ts';

/** @throws NOT_FOUND */
export async function getPipeline(ctx: Pick<Context, 'db'>, id: string): Promise<PipelineRecord> {
  const pipeline = await findPipeline(ctx.db, id);
  if (!pipeline) throw notFound('Pipeline');
  return pipeline;
}

/**
 * Locks a pipeline until the transaction ends.
 *
 * @throws NOT_FOUND; PRECONDITION_FAILED if git manages it and the policy refuses changes by hand
 */
export async function lockPipeline(ctx: MutationContext, id: string): Promise<PipelineRecord> {
  await lockEditable(ctx, 'pipelines', id);
  return getPipeline(ctx, id);
}

/**
 * Locks a pipeline for a change that takes effect at once. If git manages it, git's current spec, or the one of `specHash`, is
 * held. @throws NOT_FOUND
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

/** Locks a pipeline for a change that a manifest cannot express. @throws NOT_FOUND; PRECONDITION_FAILED if git manages it */
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
 * Renders the config of a stored graph. It may differ textually from that of a version, since jsonb reorders object keys;
 * compare only renderings of stored graphs with each other.
 */
export const renderStored = (graph: Graph): string => compile(definitionOf(graph)).configYaml;

/** Whether a deploy would change what runs; compared with the canary version if a rollout is active. */
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
