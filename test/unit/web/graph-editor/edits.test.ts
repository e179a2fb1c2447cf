import { expect } from 'chai';
import {
  addComponent,
  duplicateComponents,
  freeKey,
  keyProblem,
  linkShared,
  moveComponents,
  removeComponents,
  renameComponent,
  setConfig,
  setTitle,
  unlinkShared,
} from '../../../../web/src/features/pipeline-editor/model/edits.ts';
import {
  contentOf,
  type EditorGraph,
  editorGraph,
  sentGraph,
} from '../../../../web/src/features/pipeline-editor/model/graph.ts';
import { component, drawing, line } from './drawing.ts';

const middle = { x: 0, y: 0 };
const keys = (graph: EditorGraph) => graph.nodes.map(({ componentKey }) => componentKey);
const edges = (graph: EditorGraph) =>
  graph.edges.map(
    ({ sourceNodeId, sourcePort, targetNodeId }) =>
      `${sourceNodeId}${sourcePort ? `.${sourcePort}` : ''}>${targetNodeId}`,
  );

describe('keys of components', () => {
  const free: [wanted: string, key: string][] = [
    ['console', 'console'],
    ['in', 'in_2'],
    ['a-b.c', 'a_b_c'],
    ['2nd', '_2nd'],
    ['', '_'],
  ];
  for (const [wanted, key] of free)
    it(`gives ${key} for “${wanted}”`, () => expect(freeKey(line(), wanted)).to.equal(key));

  const problems: [key: string, says: RegExp | ''][] = [
    ['parse', ''],
    ['other', ''],
    ['', /needs a key/],
    ['in', /Another component/],
    ['9a', /no digit at the start/],
    ['a.b', /Letters, digits and _/],
    ['svc_x', /agent’s own/],
    ['x'.repeat(129), /At most 128/],
  ];
  for (const [key, says] of problems) {
    it(`says of “${key.slice(0, 10)}” what is wrong, if anything is`, () => {
      const problem = keyProblem(line(), 'parse', key);
      if (says === '') expect(problem).to.equal('');
      else expect(problem).to.match(says);
    });
  }
});

describe('a component that is added', () => {
  it('stands behind the one that is selected, and takes its events', () => {
    const before = drawing([component('> in demo_logs', { positionX: 10, positionY: 20 })]);
    const after = before.nodes[0];
    const graph = addComponent(before, { kind: 'TRANSFORM', type: 'remap' }, 'new', { middle, after });
    const added = graph.nodes[1];
    expect(added).to.include({
      componentKey: 'remap',
      componentType: 'remap',
      positionY: 20,
      disabled: false,
    });
    expect(added?.positionX).to.be.greaterThan(200);
    expect(edges(graph)).to.deep.equal(['in>new']);
  });

  it('is not connected where that may not be', () => {
    const graph = line();
    const sink = graph.nodes[2];
    expect(
      edges(addComponent(graph, { kind: 'SINK', type: 'file' }, 'new', { middle, after: sink })),
    ).to.deep.equal(edges(graph));
    const source = addComponent(graph, { kind: 'SOURCE', type: 'file' }, 'new', {
      middle,
      after: graph.nodes[0],
    });
    expect(edges(source)).to.deep.equal(edges(graph));
  });

  it('covers no other', () => {
    let graph = drawing([]);
    for (let count = 0; count < 12; count += 1)
      graph = addComponent(graph, { kind: 'SOURCE', type: 'stdin' }, `n${count}`, {
        middle,
        after: undefined,
      });
    const places = graph.nodes.map(({ positionX, positionY }) => `${positionX} ${positionY}`);
    expect(new Set(places).size).to.equal(12);
    expect(keys(graph).slice(0, 3)).to.deep.equal(['stdin', 'stdin_2', 'stdin_3']);
  });

  it('stands where it is dropped, and takes nothing', () => {
    const graph = addComponent(line(), { kind: 'SINK', type: 'file' }, 'new', { at: { x: 900.4, y: 500.6 } });
    expect(graph.nodes.at(-1)).to.include({ positionX: 900, positionY: 501 });
    expect(graph.edges).to.have.length(2);
  });

  it('follows a shared one', () => {
    const shared = { id: 's', version: 3, config: { codec: 'json' } };
    const graph = addComponent(drawing([]), { kind: 'SINK', type: 'console', shared }, 'new', {
      middle,
      after: undefined,
    });
    expect(graph.nodes[0]).to.deep.include({
      config: { codec: 'json' },
      sharedComponentId: 's',
      sharedComponentVersion: 3,
    });
  });
});

describe('changes of a drawing', () => {
  it('leave edges where they are when a component is renamed', () => {
    const graph = renameComponent(line(), 'parse', 'read');
    expect([keys(graph), edges(graph)]).to.deep.equal([
      ['in', 'read', 'out'],
      ['in>parse', 'parse>out'],
    ]);
  });

  it('take the edges of a component that is removed along', () => {
    const graph = removeComponents(line(), ['parse']);
    expect([keys(graph), edges(graph)]).to.deep.equal([['in', 'out'], []]);
  });

  it('give copies the inputs of what they are copied from', () => {
    let id = 0;
    const made = duplicateComponents(line(), ['parse', 'out'], () => `copy${++id}`);
    expect(keys(made.graph)).to.deep.equal(['in', 'parse', 'out', 'parse_2', 'out_2']);
    expect(edges(made.graph).slice(2)).to.deep.equal(['in>copy1', 'copy1>copy2']);
    expect(made.ids).to.deep.equal(['copy1', 'copy2']);
  });

  it('are none where nothing moved', () => {
    const graph = line();
    expect(moveComponents(graph, new Map([['in', { x: 0.2, y: -0.3 }]]))).to.equal(graph);
    expect(moveComponents(graph, new Map([['in', { x: 7, y: 0 }]])).nodes[0]).to.include({ positionX: 7 });
  });

  it('take a title out that is emptied', () => {
    const named = setTitle(line(), 'in', 'Input');
    expect(named.nodes[0]?.displayName).to.equal('Input');
    expect(setTitle(named, 'in', '').nodes[0]).not.to.have.property('displayName');
  });

  it('let edges follow an output that is renamed, and no other', () => {
    const route = (names: string[]) => ({ route: Object.fromEntries(names.map((name) => [name, 'true'])) });
    const before = drawing(
      [component('= split route', { config: route(['a', 'b']) }), component('< out console')],
      ['split.a>out', 'split.b>out'],
    );
    expect(edges(setConfig(before, 'split', route(['c', 'b'])))).to.deep.equal([
      'split.c>out',
      'split.b>out',
    ]);
    expect(edges(setConfig(before, 'split', route(['b'])))).to.deep.equal(edges(before));
    expect(edges(setConfig(before, 'split', route(['x', 'y'])))).to.deep.equal(edges(before));
  });

  it('keep the config of a shared component that is let go of', () => {
    const linked = linkShared(line(), 'out', { id: 's', version: 2, config: { a: 1 } });
    expect(linked.nodes[2]).to.deep.include({ sharedComponentId: 's', sharedComponentVersion: 2 });
    const own = unlinkShared(linked, 'out').nodes[2];
    expect(own?.config).to.deep.equal({ a: 1 });
    expect(own).not.to.have.any.keys('sharedComponentId', 'sharedComponentVersion');
  });
});

describe('what is sent and read', () => {
  it('names both ends of edges by id, whatever they were named by, and leaves out what leads nowhere', () => {
    let id = 0;
    const { id: _, ...nameless } = component('> in stdin');
    const graph = editorGraph(
      {
        nodes: [nameless, component('< out console', { id: 'o1' })],
        edges: [
          { id: 'x', sourceNodeId: 'in', targetNodeId: 'out' },
          { sourceNodeId: 'gone', targetNodeId: 'out' },
        ],
        globalConfig: {},
      },
      () => `new${++id}`,
    );
    expect(edges(graph)).to.deep.equal(['new1>o1']);
    expect(editorGraph(sentGraph(graph), () => 'never')).to.deep.equal(graph);
  });

  it('is the same content wherever components stand and whatever they are titled', () => {
    const graph = line();
    expect(contentOf(setTitle(moveComponents(graph, new Map([['in', { x: 9, y: 9 }]])), 'in', 'x'))).to.equal(
      contentOf(graph),
    );
    expect(contentOf(setConfig(graph, 'in', { a: 1 }))).not.to.equal(contentOf(graph));
  });
});
