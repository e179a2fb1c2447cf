import { ListNodes } from '../../../schemas/api/fleet.ts';
import { cellCode, FleetMatrix } from '../../../schemas/api/matrix.ts';
import { environmentScope } from '../../identity/access/index.ts';
import { query } from '../../platform/operation/operation.ts';
import { type Cells, type NodeCells, ofJoined, readCells } from '../status/index.ts';

/** `places` are those of pipelines in the answer, by their places among all; -1 for one that is not in it. */
function numbersOf({ cells }: NodeCells, places: readonly number[]): number[] {
  const numbers: number[] = [];
  for (const { place, status, desired, canary, version } of cells) {
    const shown = places[place] ?? -1;
    if (shown >= 0) numbers.push(shown, cellCode(status, desired, canary), version ?? -1);
  }
  return numbers;
}

const matrix = ofJoined(({ nodes, pipelines }: Cells): FleetMatrix => {
  const shown = pipelines.filter(
    ({ deployedVersion, rollout }) => deployedVersion !== null || rollout !== null,
  );
  const places = pipelines.map((pipeline) => shown.indexOf(pipeline));
  return {
    pipelines: shown.map(({ id, name, deployedVersion, rollout }) => ({
      ...{ id, name, version: deployedVersion },
      canaryVersion: rollout?.version ?? null,
    })),
    nodes: nodes.map((one) => ({
      id: one.node.id,
      name: one.node.name,
      host: one.node.host,
      status: one.health,
      maintenance: one.node.maintenance,
      labels: one.labels,
      groupIds: one.groups.map(({ id }) => id),
      cells: numbersOf(one, places),
    })),
  };
});

export const read = query({
  name: 'fleet.matrix',
  summary: 'Nodes against pipelines, in short: for thousands of nodes',
  role: 'VIEWER',
  input: ListNodes,
  output: FleetMatrix,
  weight: 'heavy',
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  run: async (ctx, input) => matrix(await readCells(ctx, input.environmentId)),
});
