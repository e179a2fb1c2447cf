import { expect } from 'chai';
import {
  arrange,
  freePlace,
  NODE_WIDTH,
  placeNew,
  sizeOf,
} from '../../../../web/src/features/pipeline-editor/canvas/layout.ts';
import { portsOf } from '../../../../web/src/features/pipeline-editor/model/connect.ts';
import { component, drawing } from './drawing.ts';

/** Ten sources, each through eight transforms of which one routes, into a sink: 100 components. */
function hundred() {
  const nodes = [];
  const edges = [];
  for (let row = 0; row < 10; row += 1) {
    nodes.push(component(`> s${row} stdin`));
    let last = `s${row}`;
    for (let at = 0; at < 8; at += 1) {
      const key = `t${row}_${at}`;
      const isRoute = at === 4;
      nodes.push(
        component(
          `= ${key} ${isRoute ? 'route' : 'remap'}`,
          isRoute ? { config: { route: { a: '', b: '' } } } : {},
        ),
      );
      edges.push(`${last}>${key}`);
      last = isRoute ? `${key}.a` : key;
    }
    nodes.push(component(`< o${row} console`));
    edges.push(`${last}>o${row}`);
  }
  return drawing(nodes, edges);
}

describe('the layout of a drawing', () => {
  it('puts whatever is fed to the right of what feeds it, and nothing over anything else', () => {
    const graph = hundred();
    const places = arrange(graph);
    const boxes = graph.nodes.map((node) => ({
      ...(places.get(node.id) ?? { x: 0, y: 0 }),
      ...sizeOf(portsOf(node, graph.edges)),
    }));
    for (const { sourceNodeId, targetNodeId } of graph.edges) {
      const from = places.get(sourceNodeId)?.x ?? 0;
      expect(places.get(targetNodeId)?.x).to.be.at.least(from + NODE_WIDTH);
    }
    const covered = boxes.some((a, at) =>
      boxes
        .slice(at + 1)
        .some(
          (b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height,
        ),
    );
    expect(covered).to.equal(false);
  });

  it('has a taller box for each named output', () => {
    const [none, one, two] = [[], ['a'], ['a', 'b']].map(
      (names) => sizeOf(names.map((name) => ({ name, missing: false }))).height,
    );
    expect((two ?? 0) - (one ?? 0)).to.be.greaterThan(0);
    expect((one ?? 0) - (none ?? 0)).to.be.greaterThan(0);
  });

  it('finds the next free place below', () => {
    const size = { width: 200, height: 56 };
    expect(freePlace([], { x: 5, y: 6 }, size)).to.deep.equal({ x: 5, y: 6 });
    const { x, y } = freePlace([{ x: 0, y: 0, ...size }], { x: 10, y: 10 }, size);
    expect([x, y >= 56]).to.deep.equal([10, true]);
  });

  it('moves what a text brought in off what was there, and lays all out where nothing was', () => {
    const graph = drawing([component('> a stdin'), component('< b console')], ['a>b']);
    const beside = placeNew(graph, new Set(['a']));
    expect(beside.nodes[0]).to.equal(graph.nodes[0]);
    expect(beside.nodes[1]?.positionY).to.be.greaterThan(50);
    const whole = placeNew(graph, new Set());
    expect(whole.nodes[1]?.positionX).to.be.greaterThan((whole.nodes[0]?.positionX ?? 0) + NODE_WIDTH - 1);
  });
});
