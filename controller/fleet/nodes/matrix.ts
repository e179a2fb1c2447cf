import { ListNodes } from '../../../schemas/api/fleet/fleet.ts';
import { cellCode, FleetMatrix } from '../../../schemas/api/fleet/matrix.ts';
import { environmentScope } from '../../identity/access/index.ts';
import { query } from '../../platform/operation/operation.ts';
import { type Cells, memoizePerJoin, type NodeCells, readCells } from '../status/index.ts';

/**
 * The cells of one node as a flat list of numbers. `columns` maps the index of a pipeline to its column in the answer; -1 for a
 * pipeline without a column.
 */
function flattenCells({ cells }: NodeCells, columns: readonly number[]): number[] {
  const numbers: number[] = [];
  for (const { pipelineIndex, status, desired: isDesired, canary, version } of cells) {
    const column = columns[pipelineIndex] ?? -1;
    if (column >= 0) numbers.push(column, cellCode(status, isDesired, canary), version ?? -1);
  }
  return numbers;
}

const matrix = memoizePerJoin(({ nodes, pipelines }: Cells): FleetMatrix => {
  const deployed = pipelines.filter(
    ({ deployedVersion, rollout }) => deployedVersion !== null || rollout !== null,
  );
  const columns = pipelines.map((pipeline) => deployed.indexOf(pipeline));
  return {
    pipelines: deployed.map(({ id, name, deployedVersion, rollout }) => ({
      ...{ id, name, version: deployedVersion },
      canaryVersion: rollout?.version ?? null,
    })),
    nodes: nodes.map((row) => ({
      id: row.node.id,
      name: row.node.name,
      host: row.node.host,
      status: row.health,
      maintenance: row.node.maintenance,
      labels: row.labels,
      groupIds: row.groups.map(({ id }) => id),
      cells: flattenCells(row, columns),
    })),
  };
});

export const read = query({
  name: 'fleet.matrix',
  summary: 'Compact matrix of nodes and pipelines, for thousands of nodes',
  role: 'VIEWER',
  input: ListNodes,
  output: FleetMatrix,
  weight: 'heavy',
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  run: async (ctx, input) => matrix(await readCells(ctx, input.environmentId)),
});
