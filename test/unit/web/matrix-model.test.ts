import { expect } from 'chai';
import { cellCode, type FleetMatrix, type MatrixNode } from '../../../schemas/api/fleet/matrix.ts';
import type { NodePipelineStatus } from '../../../schemas/api/pipelines/on-nodes.ts';
import {
  type MatrixFilter,
  nextProblem,
  viewOf,
} from '../../../web/src/features/fleet/matrix/matrix-model.ts';

const EVERYTHING: MatrixFilter = { node: '', pipeline: '', health: '', differing: false, grouped: false };
const VERSION = 3;

type Run = readonly [place: number, status: NodePipelineStatus, version?: number, desired?: boolean];

const node = (name: string, runs: readonly Run[], more: Partial<MatrixNode> = {}): MatrixNode => ({
  ...{ id: name, name, host: `${name}.example.org`, status: 'HEALTHY', maintenance: false },
  ...{ labels: {}, groupIds: [] },
  cells: runs.flatMap(([place, status, version = VERSION, desired = true]) => [
    place,
    cellCode(status, desired),
    version,
  ]),
  ...more,
});

const MATRIX: FleetMatrix = {
  pipelines: ['orders', 'audit', 'unused'].map((name) => ({
    ...{ id: name, name, version: VERSION },
    canaryVersion: null,
  })),
  nodes: [
    node('node-10', [
      [0, 'RUNNING'],
      [1, 'CRASHED'],
    ]),
    node('node-2', [[0, 'RUNNING', 2]], { labels: { role: 'edge' }, groupIds: ['gone', 'edges'] }),
    node('node-3', [[1, 'RUNNING']], { status: 'UNREACHABLE' }),
    node('node-4', [[0, 'RUNNING', VERSION, false]]),
    node('node-5', []),
  ],
};
const rowsOf = (filter: Partial<MatrixFilter>): string[] =>
  viewOf(MATRIX, [{ id: 'edges', name: 'edges' }], { ...EVERYTHING, ...filter }).rows.map((row) =>
    row.kind === 'node' ? row.node.name : `${row.name} (${row.nodes})`,
  );

describe('the matrix of nodes and pipelines', () => {
  it('has nodes in the order of their names, and the pipelines that some node has', () => {
    expect(rowsOf({})).to.deep.equal(['node-2', 'node-3', 'node-4', 'node-5', 'node-10']);
    expect(viewOf(MATRIX, [], EVERYTHING).columns.map(({ name }) => name)).to.deep.equal(['audit', 'orders']);
  });

  it('counts what runs of what should, and not what a silent node said last', () => {
    const [audit, orders] = viewOf(MATRIX, [], EVERYTHING).columns;
    expect(audit).to.include({ desired: 2, running: 0, wrong: 2 });
    expect(orders).to.include({ desired: 2, running: 2, wrong: 2 });
  });

  it('takes another version, a crash, silence and what should not run there for problems', () => {
    expect(viewOf(MATRIX, [], EVERYTHING).problems).to.equal(4);
    expect(rowsOf({ differing: true })).to.deep.equal(['node-2', 'node-3', 'node-4', 'node-10']);
  });

  it('counts the nodes that are as they should be also while only others are shown', () => {
    const [audit, orders] = viewOf(MATRIX, [], { ...EVERYTHING, differing: true }).columns;
    expect(audit).to.include({ desired: 2, running: 0, wrong: 2 });
    expect(orders).to.include({ desired: 2, running: 2, wrong: 2 });
  });

  it('finds nodes by all words of name, host and labels, and by health', () => {
    expect(rowsOf({ node: 'ROLE=edge node' })).to.deep.equal(['node-2']);
    expect(rowsOf({ node: 'role=hub' })).to.deep.equal([]);
    expect(rowsOf({ health: 'UNREACHABLE' })).to.deep.equal(['node-3']);
    expect(rowsOf({ pipeline: 'aud' })).to.deep.equal(['node-3', 'node-10']);
  });

  it('stands by the first known group of each node, those of none at the end', () => {
    expect(rowsOf({ grouped: true })).to.deep.equal([
      ...['edges (1)', 'node-2'],
      ...['In no group (4)', 'node-3', 'node-4', 'node-5', 'node-10'],
    ]);
  });

  it('goes from problem to problem, once over a silent node, and round the ends', () => {
    const view = viewOf(MATRIX, [], EVERYTHING);
    const differs = ({ name }: MatrixNode, column: { name: string }): boolean =>
      ['node-2 orders', 'node-4 orders', 'node-10 audit'].includes(`${name} ${column.name}`);
    const seen: string[] = [];
    let at = { row: 0, column: -1 };
    for (let step = 0; step < 5; step += 1) {
      at = nextProblem(view, at, 1, differs) ?? at;
      seen.push(`${at.row}:${at.column}`);
    }
    expect(seen).to.deep.equal(['0:1', '1:-1', '2:1', '4:0', '0:1']);
    expect(nextProblem(view, at, -1, differs)).to.deep.equal({ row: 4, column: 0 });
    const sound = viewOf({ ...MATRIX, nodes: [node('a', [[0, 'RUNNING']])] }, [], EVERYTHING);
    expect(nextProblem(sound, { row: 0, column: -1 }, 1, () => false)).to.equal(null);
  });
});
