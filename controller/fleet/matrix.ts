import { ListNodes } from '../../schemas/api/fleet.ts';
import { cellCode, FleetMatrix } from '../../schemas/api/matrix.ts';
import { environmentScope } from '../access/index.ts';
import { query } from '../platform/operation.ts';
import { type NodeStatus, ofJoined, readStatus } from '../status/index.ts';

function cellsOf({ pairs }: NodeStatus, places: ReadonlyMap<string, number>): number[] {
  return pairs.flatMap(({ pipeline, desired, gate }) => {
    const place = places.get(pipeline.id);
    return place === undefined ? [] : [place, cellCode(gate.status, desired), gate.version ?? -1];
  });
}

const matrix = ofJoined(({ nodes, pipelines }): FleetMatrix => {
  const shown = pipelines.filter(({ pipeline }) => pipeline.deployedVersion !== null);
  const places = new Map(shown.map(({ pipeline }, place) => [pipeline.id, place]));
  return {
    pipelines: shown.map(({ pipeline: { id, name, deployedVersion } }) => ({
      id,
      name,
      version: deployedVersion,
    })),
    nodes: nodes.map((status) => ({
      id: status.node.id,
      name: status.node.name,
      host: status.node.host,
      status: status.health,
      maintenance: status.node.maintenance,
      labels: status.labels,
      groupIds: status.groups.map(({ id }) => id),
      cells: cellsOf(status, places),
    })),
  };
});

export const read = query({
  name: 'fleet.matrix',
  summary: 'Nodes against pipelines, in short: for thousands of nodes',
  role: 'VIEWER',
  input: ListNodes,
  output: FleetMatrix,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  run: async (ctx, input) => matrix(await readStatus(ctx, input)),
});
