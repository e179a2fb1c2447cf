/** Reads and replaces the configuration of a pipeline as one text, without a version or a deploy. */
import { isDeepStrictEqual } from 'node:util';
import { OrGit } from '../../../schemas/api/delivery/git-words.ts';
import { PipelineConfig, SaveConfig } from '../../../schemas/api/pipelines/graph.ts';
import { OfPipeline } from '../../../schemas/api/pipelines/pipelines.ts';
import { objectScope } from '../../identity/access/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { mutation, query } from '../../platform/operation/operation.ts';
import { getPipeline, hasConfigChanges, lockPipeline, renderStored } from '../lifecycle/lock-pipeline.ts';
import { publishPipelineChange } from '../lifecycle/publish-change.ts';
import { type PipelineRecord, updatePipeline } from '../lifecycle/store.ts';
import { graphOfConfig } from './engine-yaml.ts';
import { assertGraphSize } from './graph.ts';

const presentConfig = async (ctx: Pick<Context, 'db'>, pipeline: PipelineRecord) => ({
  pipelineId: pipeline.id,
  configYaml: renderStored(pipeline),
  graphRevision: pipeline.graphRevision,
  hasConfigChanges: await hasConfigChanges(ctx, pipeline),
});

/** Not masked, since the text is edited and sent back. */
export const getConfig = query({
  name: 'pipeline.getConfig',
  summary: 'The saved engine config of a pipeline',
  role: 'EDITOR',
  permission: 'pipelines.edit',
  input: OfPipeline,
  output: PipelineConfig,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  run: async (ctx, input) => presentConfig(ctx, await getPipeline(ctx, input.pipelineId)),
});

export const saveConfig = mutation({
  name: 'pipeline.saveConfig',
  summary: 'Replace the graph of a pipeline by that of an engine config; what is deployed stays',
  role: 'EDITOR',
  permission: 'pipelines.edit',
  audit: 'pipeline.graphSaved',
  input: SaveConfig,
  output: OrGit(PipelineConfig),
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, { pipelineId, configYaml }) {
    const before = await lockPipeline(ctx, pipelineId);
    const graph = graphOfConfig(configYaml, before);
    assertGraphSize(graph);
    const { nodes, edges, globalConfig } = before;
    if (!isDeepStrictEqual({ nodes, edges, globalConfig }, graph))
      await updatePipeline(ctx.db, pipelineId, graph);
    await publishPipelineChange(ctx, before, {
      reason: 'graph saved',
      served: false,
      diff: { nodes: [nodes.length, graph.nodes.length], edges: [edges.length, graph.edges.length] },
      metadata: { name: before.name },
    });
    return presentConfig(ctx, await getPipeline(ctx, pipelineId));
  },
});
