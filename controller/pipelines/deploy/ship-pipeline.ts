/** Copies a pipeline with all its content into another environment, where it is created or updated, and deployed. */

import { assertNoRollout } from '../../delivery/rollouts/index.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { conflict, preconditionFailed } from '../../platform/operation/errors.ts';
import { pointerSegments } from '../../platform/yaml/pointer.ts';
import { compile } from '../definition/compile.ts';
import { stripCredentials, withoutCredentials } from '../definition/strip-credentials.ts';
import { copyGraph, definitionOf, type Graph } from '../graph/graph.ts';
import { validateGraph, validationFailed } from '../graph/validate-graph.ts';
import { getPipeline, lockHandmadePipeline, renderStored } from '../lifecycle/lock-pipeline.ts';
import { publishPipelineChange } from '../lifecycle/publish-change.ts';
import {
  findPipeline,
  insertPipeline,
  nameConflict,
  type PipelineRecord,
  updatePipeline,
} from '../lifecycle/store.ts';
import { addVersion } from '../versions/create-version.ts';
import { lockVariables, missingVariables } from './missing-variables.ts';

export type ShippedContent = Graph &
  Pick<PipelineRecord, 'description' | 'labels' | 'logLevel' | 'drainSeconds' | 'nodeSelector'>;

/** Copies a graph for another environment: with new ids, without links and without plain-text credentials. */
export function withoutWrittenCredentials(graph: Graph): Graph & { stripped: string[] } {
  const { nodes, stripped } = stripCredentials(graph.nodes);
  const global = withoutCredentials(graph.globalConfig, '/global');
  return {
    ...copyGraph({ nodes, edges: graph.edges }, false),
    globalConfig: global.config,
    stripped: [...stripped, ...global.stripped],
  };
}

/**
 * Fills the stripped credentials with those of the target. `missing` lists the ones that the target lacks. Entries of a list
 * cannot be matched, so credentials stripped from a list are always missing.
 */
export function withOwnCredentials(
  graph: Graph & { stripped: readonly string[] },
  target: Graph | null,
): { graph: Graph; missing: string[] } {
  const nodes = graph.nodes.map((node) => ({ ...node, config: structuredClone(node.config) }));
  const globalConfig = structuredClone(graph.globalConfig);
  const missing = graph.stripped.filter((pointer) => {
    const [key = '', ...path] = pointerSegments(pointer);
    const into = nodes.find(({ componentKey }) => componentKey === key);
    const from = target?.nodes.find(
      ({ componentKey, componentType }) => componentKey === key && componentType === into?.componentType,
    );
    if (into) return !from || !copyInto(into.config, from.config, path);
    return key !== 'global' || !target || !copyInto(globalConfig, target.globalConfig, path);
  });
  return { graph: { nodes, edges: graph.edges, globalConfig }, missing };
}

type Fields = Record<string, unknown>;

function copyInto(into: Fields, from: Fields, path: readonly string[]): boolean {
  let [to, at]: [unknown, unknown] = [into, from];
  for (const segment of path.slice(0, -1)) {
    [to, at] = [to, at].map((value) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, segment)
        ? (value as Fields)[segment]
        : undefined,
    ) as [unknown, unknown];
  }
  const last = path.at(-1) ?? '';
  const isMap = (one: unknown): one is Fields =>
    typeof one === 'object' && one !== null && !Array.isArray(one);
  if (!isMap(to) || !isMap(at) || !Object.hasOwn(at, last) || Array.isArray(at[last])) return false;
  to[last] = at[last];
  return true;
}

/** The engine config that nodes would get. */
export const storedConfig = (graph: Graph): string => compile(definitionOf(graph)).configYaml;

/**
 * Checks everything that a deploy there needs. Asks the engine, so it must not run in a transaction.
 *
 * @throws PRECONDITION_FAILED for missing secrets; BAD_REQUEST with `validationErrors`
 */
export async function assertShippable(
  ctx: Context,
  environment: { id: string; name: string },
  graph: Graph,
): Promise<void> {
  const missing = await missingVariables(ctx, environment.id, storedConfig(graph));
  if (missing.length > 0)
    throw preconditionFailed(
      `${environment.name} lacks ${missing.slice(0, 10).join(', ')}${missing.length > 10 ? ` and ${missing.length - 10} more` : ''}; create what is missing there first`,
      { missingSecrets: missing },
    );
  const { errors } = await validateGraph(ctx, environment.id, graph);
  if (errors.length > 0) throw validationFailed(errors);
}

export interface Shipped {
  pipelineId: string;
  version: number;
}

/**
 * Creates the pipeline, or replaces everything of the existing one except its node selector, and deploys it as a new version.
 *
 * @throws CONFLICT if the name was taken or a secret deleted meanwhile; PRECONDITION_FAILED if git manages the pipeline
 */
export async function shipPipeline(
  ctx: MutationContext,
  { environmentId, teamId, name, pipelineId }: ShippedTo,
  content: ShippedContent,
  { changelog, metadata }: { changelog: string; metadata: Record<string, unknown> },
): Promise<Shipped> {
  const id = pipelineId ?? (await insertPipeline(ctx.db, environmentId, { ...content, dependsOn: [], name }));
  if (id === null) throw nameConflict(name);
  const before = await lockHandmadePipeline(ctx, id);
  if (before.environmentId !== environmentId)
    throw conflict('The pipeline is now in another environment; promote again');
  await assertNoRollout(ctx, id, false);
  if (pipelineId !== null) {
    const { nodeSelector: _, ...rest } = content;
    await updatePipeline(ctx.db, id, rest);
  }
  const stored = await getPipeline(ctx, id);
  const configYaml = renderStored(stored);
  await lockVariables(ctx, environmentId, [configYaml]);
  const version = await addVersion(ctx, stored, stored, { configYaml, changelog });
  await updatePipeline(ctx.db, id, {
    isDraft: false,
    latestVersionId: version.id,
    deployedVersionId: version.id,
    deployedAt: new Date(ctx.clock.now()),
  });
  await publishPipelineChange(ctx, stored, {
    reason: 'promoted',
    served: true,
    action: pipelineId === null ? 'pipeline.created' : 'pipeline.deployed',
    teamId,
    metadata: { name: stored.name, version: version.number, changelog, ...metadata },
  });
  return { pipelineId: id, version: version.number };
}

export interface ShippedTo {
  environmentId: string;
  teamId: string | null;
  name: string;
  /** Id of the pipeline to update; null for a new one. */
  pipelineId: string | null;
}

/** The current pipeline; null if it was deleted meanwhile. */
export async function findLivePipeline(
  ctx: Pick<Context, 'db'>,
  pipelineId: string,
): Promise<PipelineRecord | null> {
  const found = await findPipeline(ctx.db, pipelineId);
  return found?.tombstonedAt === null ? found : null;
}
