/** Graphs as people draw them, and pipelines made of them through the API. */
import type { GraphEdge, GraphNode, PipelineRef } from '../../schemas/api/pipelines.ts';
import type { Person } from './person.ts';

export function component(
  componentKey: string,
  componentType: string,
  kind: GraphNode['kind'],
  config: Record<string, unknown> = {},
  more: Partial<GraphNode> = {},
): GraphNode {
  return {
    componentKey,
    componentType,
    kind,
    config,
    positionX: 0,
    positionY: 0,
    disabled: false,
    ...more,
  };
}

export const edge = (sourceNodeId: string, targetNodeId: string, sourcePort?: string): GraphEdge => ({
  sourceNodeId,
  targetNodeId,
  ...(sourcePort === undefined ? {} : { sourcePort }),
});

/** Made lines into nothing, with a program between. */
export const soundGraph = (source = '.seen = true') => ({
  nodes: [
    component('lines', 'demo_logs', 'SOURCE', { format: 'json' }),
    component('mark', 'remap', 'TRANSFORM', { source }),
    component('out', 'blackhole', 'SINK'),
  ],
  edges: [edge('lines', 'mark'), edge('mark', 'out')],
});

let made = 0;

export async function drawPipeline(
  person: Person,
  environmentId: string,
  graph: { nodes: GraphNode[]; edges: GraphEdge[]; globalConfig?: Record<string, unknown> } = soundGraph(),
  name = `drawn ${++made}`,
): Promise<PipelineRef & { nodes: (GraphNode & { id: string })[] }> {
  const pipeline = await person.mutate<PipelineRef>('pipeline.create', { environmentId, name });
  const saved = await person.mutate<{ nodes: (GraphNode & { id: string })[]; graphRevision: number }>(
    'pipeline.saveGraph',
    { pipelineId: pipeline.id, ...graph },
  );
  return { ...pipeline, ...saved };
}
