/** Pipelines that the UI owns, made for one call. */
import type { GraphNode } from '../../../../schemas/api/pipelines/graph.ts';
import type { Side } from '../../scenes/two-teams.ts';
import type { TestUser } from '../../users/person.ts';

const at = (
  componentKey: string,
  componentType: string,
  kind: GraphNode['kind'],
  config: object,
): GraphNode => ({
  componentKey,
  componentType,
  kind,
  config: { ...config },
  positionX: 0,
  positionY: 0,
  disabled: false,
});
export const GRAPH = {
  nodes: [
    at('lines', 'demo_logs', 'SOURCE', { format: 'json' }),
    at('out', 'blackhole', 'SINK', { print_interval_secs: 0 }),
  ],
  edges: [{ sourceNodeId: 'lines', targetNodeId: 'out' }],
};
export const CONFIG_YAML = `sources: { lines: { type: demo_logs, format: json } }
sinks: { out: { type: blackhole, inputs: [lines] } }
`;

/** A draft that the UI owns. */
export async function freshDraft({ environmentId }: Side, n: number, root: TestUser): Promise<string> {
  return (await root.mutate<{ id: string }>('pipeline.create', { environmentId, name: `draft ${n}` })).id;
}

/** One with a graph; answers its nodes by component key too. */
export async function freshGraph(side: Side, n: number, root: TestUser) {
  const pipelineId = await freshDraft(side, n, root);
  const { nodes } = await root.mutate<{ nodes: { id: string; componentKey: string }[] }>(
    'pipeline.saveGraph',
    {
      pipelineId,
      ...GRAPH,
    },
  );
  const nodeId = nodes.find(({ componentKey }) => componentKey === 'lines')?.id ?? '';
  return { pipelineId, nodeId };
}

export async function freshDeployed(side: Side, n: number, root: TestUser) {
  const { pipelineId } = await freshGraph(side, n, root);
  const { versionId } = await root.mutate<{ versionId: string }>('deploy.agent', {
    pipelineId,
    changelog: 'first',
  });
  return { pipelineId, versionId };
}
