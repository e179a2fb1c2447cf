/** Operations on the graph of a pipeline: save, render while it is edited, and read from an engine config. */
import { isDeepStrictEqual } from 'node:util';
import type { Static } from 'typebox';
import { OrGit } from '../../../schemas/api/delivery/git-words.ts';
import {
  type GraphNode,
  ReadGraph,
  ReadYaml,
  RenderedGraph,
  RenderGraph,
  SavedGraph,
  SaveGraph,
} from '../../../schemas/api/pipelines/graph.ts';
import { objectScope } from '../../identity/access/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { badRequest, conflict } from '../../platform/operation/errors.ts';
import { mutation, query } from '../../platform/operation/operation.ts';
import { getPipeline, hasConfigChanges, lockPipeline } from '../lifecycle/lock-pipeline.ts';
import { publishPipelineChange } from '../lifecycle/publish-change.ts';
import { type PipelineRecord, updatePipeline } from '../lifecycle/store.ts';
import { linkedIds } from '../shared-components/links.ts';
import { listSharedComponents, lockSharedComponents } from '../shared-components/store.ts';
import { graphOfConfig } from './engine-yaml.ts';
import { assertGraphSize, type DefinitionSettings, type Graph, normaliseGraph } from './graph.ts';
import { validateGraph } from './validate-graph.ts';

const graphOf = ({ nodes, edges, globalConfig }: Graph): Graph => ({ nodes, edges, globalConfig });

/**
 * A linked component must equal its shared component: its config is changed there, or after unlinking.
 *
 * @throws BAD_REQUEST
 */
async function assertLinksUnchanged(
  ctx: Context,
  pipeline: PipelineRecord,
  nodes: readonly GraphNode[],
): Promise<void> {
  const linked = nodes.filter((node) => node.sharedComponentId !== undefined);
  if (linked.length === 0) {
    if (nodes.some((node) => node.sharedComponentVersion !== undefined))
      throw badRequest('A sharedComponentVersion also needs a sharedComponentId');
    return;
  }
  const before = new Map(pipeline.nodes.map((node) => [node.id, node]));
  const shared = new Map(
    (await listSharedComponents(ctx.db, pipeline.environmentId)).map((component) => [
      component.id,
      component,
    ]),
  );
  for (const node of linked) {
    const old = before.get(node.id);
    const component = shared.get(node.sharedComponentId ?? '');
    const agrees = (
      other: { config: unknown; componentType: string; kind: string },
      version: number | undefined,
    ) =>
      node.sharedComponentVersion === version &&
      node.componentType === other.componentType &&
      node.kind === other.kind &&
      isDeepStrictEqual(node.config, other.config);
    if (old && old.sharedComponentId === node.sharedComponentId && agrees(old, old.sharedComponentVersion))
      continue;
    if (!component)
      throw badRequest(
        `"${node.componentKey}" is linked to a shared component that this environment does not have; unlink it`,
      );
    if (!agrees(component, component.version))
      throw badRequest(
        `"${node.componentKey}" is linked to the shared component "${component.name}" and differs from its version ${component.version}; change it there, or unlink it first`,
      );
  }
}

export const saveGraph = mutation({
  name: 'pipeline.saveGraph',
  summary: 'Replace the graph of a pipeline; what is deployed stays until the next deploy',
  role: 'EDITOR',
  audit: 'pipeline.graphSaved',
  input: SaveGraph,
  output: OrGit(SavedGraph),
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, input) {
    const { pipelineId } = input;
    const location = await objectScope(ctx, 'Pipeline', pipelineId);
    // Locked first, in the same order as a deletion, which looks for linked components.
    if (location.environmentId)
      await lockSharedComponents(ctx.db, location.environmentId, linkedIds(input.nodes));
    const before = await lockPipeline(ctx, pipelineId);
    if (input.graphRevision !== undefined && input.graphRevision !== before.graphRevision) {
      throw conflict(
        `Somebody has saved this graph since you opened it (revision ${before.graphRevision}, yours began at ${input.graphRevision}); load it again and repeat your change`,
      );
    }
    const graph: Graph = {
      ...normaliseGraph(input.nodes, input.edges),
      globalConfig: input.globalConfig ?? before.globalConfig,
    };
    assertGraphSize(graph);
    await assertLinksUnchanged(ctx, before, graph.nodes);
    if (!isDeepStrictEqual(graphOf(before), graph)) await updatePipeline(ctx.db, pipelineId, graph);
    await publishPipelineChange(ctx, before, {
      reason: 'graph saved',
      served: false,
      diff: {
        nodes: [before.nodes.length, graph.nodes.length],
        edges: [before.edges.length, graph.edges.length],
      },
      metadata: { name: before.name },
    });
    const after = await getPipeline(ctx, pipelineId);
    return {
      pipelineId,
      graphRevision: after.graphRevision,
      ...graphOf(after),
      hasConfigChanges: await hasConfigChanges(ctx, after),
    };
  },
});

/** Normalizes an unsaved graph. */
async function readUnsaved(
  ctx: Context,
  input: Static<typeof RenderGraph>,
): Promise<{ environmentId: string; graph: Graph & DefinitionSettings }> {
  const pipeline = await getPipeline(ctx, input.pipelineId);
  const graph = {
    ...normaliseGraph(input.nodes, input.edges),
    globalConfig: input.globalConfig ?? pipeline.globalConfig,
    nodeSelector: pipeline.nodeSelector,
  };
  assertGraphSize(graph);
  return { environmentId: pipeline.environmentId, graph };
}

export const renderGraph = query({
  name: 'pipeline.renderGraph',
  method: 'POST',
  summary: 'The engine config of a graph that is not saved yet, checked as for a deploy',
  role: 'EDITOR',
  input: RenderGraph,
  output: RenderedGraph,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, input) {
    const { environmentId, graph } = await readUnsaved(ctx, input);
    const { configYaml, errors, levels, warnings } = await validateGraph(ctx, environmentId, graph);
    return { configYaml, valid: errors.length === 0, validationErrors: errors, levels, warnings };
  },
});

export const readYaml = query({
  name: 'pipeline.readYaml',
  method: 'POST',
  summary: 'The graph of an engine config, with the titles and positions of the pipeline',
  role: 'EDITOR',
  input: ReadYaml,
  output: ReadGraph,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, { pipelineId, configYaml, graph }) {
    const pipeline = await getPipeline(ctx, pipelineId);
    const before = graph ? { ...normaliseGraph(graph.nodes, graph.edges), globalConfig: {} } : pipeline;
    const read = graphOfConfig(configYaml, before);
    assertGraphSize(read);
    return graphOf(read);
  },
});
