/** Graphs and engine configs: the way from one to the other and back loses nothing. */
import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import { compile } from '../../../controller/pipelines/definition/compile.ts';
import {
  graphOfConfig,
  positionInConfig,
  readEngineConfig,
} from '../../../controller/pipelines/graph/engine-yaml.ts';
import {
  copyGraph,
  definitionOf,
  type Graph,
  normaliseGraph,
} from '../../../controller/pipelines/graph/graph.ts';
import { soundDefinition } from '../../support/fixtures/definition.ts';
import { component, edge } from '../../support/fixtures/graphs.ts';
import { cpuMs, patient } from '../../support/harness/patience.ts';

const yamlOf = (graph: Graph) => compile(definitionOf(graph)).configYaml;
const EMPTY: Graph = { nodes: [], edges: [], globalConfig: {} };

/** A graph as it is saved: with ids, titles, places and links, some components switched off. */
const savedGraph = fc
  .record({
    definition: soundDefinition,
    places: fc.array(fc.integer({ min: -5_000, max: 5_000 }), { minLength: 20, maxLength: 20 }),
    titles: fc.array(fc.option(fc.string({ maxLength: 20 }), { nil: undefined }), {
      minLength: 10,
      maxLength: 10,
    }),
  })
  .map(({ definition, places, titles }): Graph => {
    const compiled = compile(definition);
    const nodes = compiled.nodes.map((node, index) => {
      const displayName = titles[index % titles.length];
      return {
        ...node,
        positionX: places[index % places.length] ?? 0,
        positionY: places[(index * 7) % places.length] ?? 0,
        ...(displayName === undefined ? {} : { displayName }),
        ...(index % 4 === 0 ? { sharedComponentId: 'shared', sharedComponentVersion: 3 } : {}),
      };
    });
    return {
      ...copyGraph({ nodes, edges: compiled.edges }, true),
      globalConfig: definition.global,
    };
  });

/** What counts of a graph: which components there are, and what feeds what in which order. */
function meaning(graph: Graph) {
  const keyOf = new Map(graph.nodes.map((node) => [node.id, node.componentKey]));
  const feeds = (target: string | undefined) =>
    graph.edges
      .filter(({ targetNodeId }) => targetNodeId === target)
      .map(({ sourceNodeId, sourcePort }) => `${keyOf.get(sourceNodeId)}.${sourcePort ?? ''}`);
  return {
    nodes: Object.fromEntries(graph.nodes.map((node) => [node.componentKey, node])),
    inputs: Object.fromEntries(graph.nodes.map((node) => [node.componentKey, feeds(node.id).sort()])),
    globalConfig: graph.globalConfig,
  };
}

describe('a graph and its engine config', () => {
  it('come to the same graph on the way through the text and back, with all that the text does not hold', () => {
    fc.assert(
      fc.property(savedGraph, (graph) => {
        const back = graphOfConfig(yamlOf(graph), graph);
        expect(meaning(back)).to.deep.equal(meaning(graph));
        expect(yamlOf(back)).to.equal(yamlOf(graph));
      }),
      { numRuns: 100 },
    );
  });

  it('come to the same text on the way through a new graph and back', () => {
    fc.assert(
      fc.property(savedGraph, (graph) => {
        const text = yamlOf(graph);
        expect(parse(yamlOf(graphOfConfig(text, EMPTY)))).to.deep.equal(parse(text));
      }),
      { numRuns: 100 },
    );
  });

  it('come to the same config after the graph was copied', () => {
    fc.assert(
      fc.property(savedGraph, (graph) => {
        const copy = copyGraph(graph, true);
        expect(yamlOf({ ...graph, ...copy })).to.equal(yamlOf(graph));
        const ids = new Set(graph.nodes.map(({ id }) => id));
        expect(copy.nodes.some(({ id }) => ids.has(id))).to.equal(false);
      }),
      { numRuns: 100 },
    );
  });

  it('keep named outputs, and write wildcards out', () => {
    const text = `sources: { a1: { type: demo_logs }, a2: { type: demo_logs }, b: { type: demo_logs } }
transforms: { split: { type: route, inputs: ["a*"], route: { errors: 'true' } } }
sinks: { out: { type: blackhole, inputs: [split.errors, split._unmatched, b] } }
`;
    const graph = graphOfConfig(text, EMPTY);
    expect(graph.edges.map(({ id }) => id)).to.deep.equal([
      'a1>split',
      'a2>split',
      'split.errors>out',
      'split._unmatched>out',
      'b>out',
    ]);
    const { transforms, sinks } = parse(yamlOf(graph));
    expect(transforms.split.inputs).to.deep.equal(['a1', 'a2']);
    expect(sinks.out.inputs).to.deep.equal(['split.errors', 'split._unmatched', 'b']);
  });

  it('keep what is switched off, and forget what was taken out of the text', () => {
    const nodes = [
      component('in', 'demo_logs', 'SOURCE'),
      component('off', 'filter', 'TRANSFORM', { condition: 'true' }, { disabled: true }),
      component('fed_by_off', 'blackhole', 'SINK'),
      component('out', 'blackhole', 'SINK'),
    ];
    const edges = [edge('in', 'off'), edge('off', 'fed_by_off'), edge('in', 'out')];
    const graph = { ...normaliseGraph(nodes, edges), globalConfig: {} };
    const text = yamlOf(graph);
    expect(Object.keys(parse(text).sinks)).to.deep.equal(['out']);
    expect(meaning(graphOfConfig(text, graph))).to.deep.equal(meaning(graph));
    const without = graphOfConfig('sources: { in: { type: demo_logs } }', graph);
    expect(without.nodes.map(({ componentKey }) => componentKey)).to.deep.equal(['in', 'off', 'fed_by_off']);
  });

  it('connect components by their keys, though one has the id that is the key of another', () => {
    const nodes = [
      component('first', 'demo_logs', 'SOURCE', {}, { id: 'second' }),
      component('second', 'demo_logs', 'SOURCE', {}, { id: 'first' }),
      component('out', 'blackhole', 'SINK', {}, { id: 'out' }),
    ];
    const graph = { ...normaliseGraph(nodes, [edge('first', 'out')]), globalConfig: {} };
    const text = yamlOf(graph);
    expect(parse(text).sinks.out.inputs).to.deep.equal(['second']);
    expect(yamlOf(graphOfConfig(text, graph))).to.equal(text);
  });

  it('refuse an input that no connection can stand for: what it feeds would be gone', () => {
    const graph = {
      ...normaliseGraph(
        [
          component('off', 'demo_logs', 'SOURCE', {}, { disabled: true }),
          component('out', 'blackhole', 'SINK'),
        ],
        [],
      ),
      globalConfig: {},
    };
    for (const [input, message] of [
      ['nobody', /matches no component/],
      ['"x*"', /matches no component/],
      ['out', /matches no component/],
      ['off', /"off" of "out" is disabled/],
    ] as const) {
      const text = `sources: { in: { type: demo_logs } }\nsinks: { out: { type: blackhole, inputs: [${input}] } }\n`;
      expect(() => graphOfConfig(text, graph), input).to.throw(message);
    }
  });

  it('unlink a shared component whose config was changed in the text', () => {
    const shared = component(
      'in',
      'demo_logs',
      'SOURCE',
      { format: 'json' },
      {
        sharedComponentId: 'shared',
        sharedComponentVersion: 2,
      },
    );
    const graph = { ...normaliseGraph([shared], []), globalConfig: {} };
    const same = graphOfConfig('sources: { in: { type: demo_logs, format: json } }', graph).nodes[0];
    expect(same).to.include({ sharedComponentId: 'shared', sharedComponentVersion: 2 });
    const other = graphOfConfig('sources: { in: { type: demo_logs, format: syslog } }', graph).nodes[0];
    expect(other).not.to.have.property('sharedComponentId');
    expect(other?.id).to.equal(same?.id);
  });
});

describe('a graph that is saved', () => {
  const refused = (
    nodes: ReturnType<typeof component>[],
    edges: ReturnType<typeof edge>[],
    message: RegExp,
  ) => expect(() => normaliseGraph(nodes, edges)).to.throw(message);
  const source = component('in', 'demo_logs', 'SOURCE');
  const filter = component('keep', 'filter', 'TRANSFORM');
  const sink = component('out', 'blackhole', 'SINK');

  it('has one component a key, and one a id', () => {
    refused([source, component('in', 'file', 'SOURCE')], [], /Two components have the key "in"/);
    refused(
      [
        { ...source, id: 'x' },
        { ...sink, id: 'x' },
      ],
      [],
      /Two components have the id "x"/,
    );
  });

  it('has no edge that could not be drawn', () => {
    refused([source, sink], [edge('nobody', 'out')], /names the source "nobody"/);
    refused([source, sink], [edge('in', 'nobody')], /names the target "nobody"/);
    refused([source, sink], [edge('out', 'in')], /a sink has no output/);
    refused([source, filter], [edge('keep', 'in')], /a source takes no input/);
    refused([filter], [edge('keep', 'keep')], /cannot feed itself/);
    refused([source, sink], [edge('in', 'out'), edge('in', 'out')], /in → out is drawn twice/);
    expect(
      normaliseGraph([source, sink], [edge('in', 'out'), edge('in', 'out', 'port')]).edges,
    ).to.have.length(2);
  });

  it('has no option that stands elsewhere', () => {
    for (const reserved of ['type', 'inputs'])
      refused(
        [component('in', 'file', 'SOURCE', { [reserved]: 'x' })],
        [],
        new RegExp(`contains "${reserved}"`),
      );
  });

  it('names components at the ends of its edges by id, however they were named', () => {
    const { nodes, edges } = normaliseGraph([{ ...source, id: 'one' }, sink], [edge('in', 'out')]);
    expect(edges).to.deep.equal([{ id: 'in>out', sourceNodeId: 'one', targetNodeId: nodes[1]?.id }]);
  });
});

describe('the text of an engine config', () => {
  it('is read with bounds, whatever it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const { definition, faults } = readEngineConfig(text);
        expect(definition === null).to.equal(faults.length > 0);
      }),
      { numRuns: 500 },
    );
  });

  it('is refused in no time where it is made to take long', () => {
    const chain = (count: number) =>
      Array.from(
        { length: count },
        (_, i) => `  t${count - i}: { type: remap, inputs: [t${count - i - 1}] }`,
      );
    const long = 'q'.repeat(100);
    const missing = Array.from(
      { length: 200 },
      (_, i) => `  t${i}: { type: remap, inputs: [${Array.from({ length: 20 }, (_, j) => long + j)}] }`,
    );
    const begin = cpuMs();
    for (const lines of [chain(499), chain(5_000), missing]) {
      const text = `transforms:\n${lines.join('\n')}\n`;
      expect(() => graphOfConfig(text, EMPTY)).to.throw(/components, the limit is 500|matches no component/);
    }
    expect(cpuMs() - begin).to.be.below(patient(5_000));
  });

  it('is pointed into with line and column, inside of a program too', () => {
    const text = `sources:
  in: { type: demo_logs }
transforms:
  mark:
    type: remap
    inputs: [in]
    source: |
      .a = 1
      .b = nonsense(
`;
    expect(positionInConfig({ text }, { pointer: '/transforms/mark/inputs/0' })).to.deep.equal({
      line: 6,
      column: 14,
    });
    expect(
      positionInConfig({ text }, { pointer: '/transforms/mark/source', line: 2, column: 6 }),
    ).to.deep.equal({
      line: 9,
      column: 12,
    });
    expect(positionInConfig({ text: 'timezone: x' }, { pointer: '/global/timezone' })).to.deep.equal({
      line: 1,
      column: 1,
    });
  });
});
