/** A pipeline that comes from another environment with all that it says: made or brought up to date there, and deployed. */

import { assertNoRollout } from '../../delivery/rollouts/index.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { conflict, preconditionFailed } from '../../platform/operation/errors.ts';
import { pointerSegments } from '../../platform/yaml/pointer.ts';
import {
  certificateReferences,
  certificateVariable,
  configVariables,
} from '../../secrets/certificates/index.ts';
import { secretReferences } from '../../secrets/index.ts';
import { compile } from '../definition/compile.ts';
import { stripCredentials, withoutCredentials } from '../definition/strip-credentials.ts';
import { copyGraph, definitionOf, type Graph } from '../graph/graph.ts';
import { invalid, validateGraph } from '../graph/validate-graph.ts';
import { getPipeline, lockHandmadePipeline, renderStored } from '../lifecycle/lock-pipeline.ts';
import { pipelineChanged } from '../lifecycle/publish-change.ts';
import {
  findPipeline,
  insertPipeline,
  nameTaken,
  type PipelineRecord,
  updatePipeline,
} from '../lifecycle/store.ts';
import { addVersion } from '../versions/create-version.ts';

export type ShippedContent = Graph &
  Pick<PipelineRecord, 'description' | 'labels' | 'logLevel' | 'drainSeconds' | 'nodeSelector'>;

/** The graph for another environment: ids of its own, no links, and none of the credentials that are written out in it. */
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
 * What was left out, as the target has it itself. `missing`: where it has nothing either. An entry of a list is not told
 * from its neighbours, so what was taken out of one is missing.
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
    [to, at] = [to, at].map((one) =>
      typeof one === 'object' && one !== null && Object.hasOwn(one, segment)
        ? (one as Fields)[segment]
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

/** The config that nodes would get. */
export const storedConfig = (graph: Graph): string => compile(definitionOf(graph)).configYaml;

/** Secrets and certificates that a config names and the environment has not, as the variables of secrets and the names of files. */
export async function missingVariables(
  ctx: Pick<Context, 'db'>,
  environmentId: string,
  configYaml: string,
): Promise<string[]> {
  const has = await configVariables(ctx.db, environmentId);
  const secrets = secretReferences(configYaml).filter(
    ({ variable, optional }) => !optional && !has.has(variable),
  );
  const files = certificateReferences(configYaml).filter((file) => !has.has(certificateVariable(file)));
  return [...secrets.map(({ variable }) => variable), ...new Set(files)];
}

/**
 * Everything that keeps it from being deployed there. Asks the engine: not for a transaction.
 * @throws PRECONDITION_FAILED for secrets that are missing; BAD_REQUEST with `validationErrors`
 */
export async function checkShipped(
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
  if (errors.length > 0) throw invalid(errors);
}

export interface Shipped {
  pipelineId: string;
  version: number;
}

/**
 * Makes the pipeline, or gives the one that is there everything but its node selector, and deploys it as a new version.
 * @throws CONFLICT where the name was taken meanwhile; PRECONDITION_FAILED where git describes it
 */
export async function shipPipeline(
  ctx: MutationContext,
  { environmentId, teamId, name, pipelineId }: ShippedTo,
  content: ShippedContent,
  { changelog, metadata }: { changelog: string; metadata: Record<string, unknown> },
): Promise<Shipped> {
  const id = pipelineId ?? (await insertPipeline(ctx.db, environmentId, { ...content, dependsOn: [], name }));
  if (id === null) throw nameTaken(name);
  const before = await lockHandmadePipeline(ctx, id);
  if (before.environmentId !== environmentId)
    throw conflict('The pipeline is in another environment by now; promote again');
  await assertNoRollout(ctx, id, false);
  if (pipelineId !== null) {
    const { nodeSelector: _, ...rest } = content;
    await updatePipeline(ctx.db, id, rest);
  }
  const stored = await getPipeline(ctx, id);
  const version = await addVersion(ctx, stored, stored, { configYaml: renderStored(stored), changelog });
  await updatePipeline(ctx.db, id, {
    isDraft: false,
    latestVersionId: version.id,
    deployedVersionId: version.id,
    deployedAt: new Date(ctx.clock.now()),
  });
  await pipelineChanged(ctx, stored, {
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
  /** Of the one that is brought up to date; null for a new one. */
  pipelineId: string | null;
}

/** As it stands; null where it was deleted meanwhile. */
export async function shippedOnto(
  ctx: Pick<Context, 'db'>,
  pipelineId: string,
): Promise<PipelineRecord | null> {
  const found = await findPipeline(ctx.db, pipelineId);
  return found?.tombstonedAt === null ? found : null;
}
