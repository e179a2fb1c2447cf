/** A recommended change, as it is made in a graph and in a manifest. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  changeManifest,
  insertIntoGraph,
  renderDiff,
  sampleBefore,
} from '../../../controller/insight/recommendations/change.ts';
import { compile, type Definition, definitionOf } from '../../../controller/pipelines/index.ts';
import { component, edge } from '../../support/fixtures/graphs.ts';

/** Sources that feed sinks in any way, each sink by at least one of them. */
const graphs = fc
  .record({
    sources: fc.integer({ min: 1, max: 4 }),
    fed: fc.array(fc.array(fc.nat(3), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
  })
  .map(({ sources, fed }) => ({
    nodes: [
      ...Array.from({ length: sources }, (_, n) =>
        component(`in${n}`, 'file', 'SOURCE', { include: ['/x'] }),
      ),
      ...fed.map((_, n) => component(`out${n}`, 'http', 'SINK', { uri: 'http://x' })),
    ],
    edges: fed.flatMap((inputs, n) =>
      [...new Set(inputs.map((one) => one % sources))].map((one) => edge(`in${one}`, `out${n}`)),
    ),
    globalConfig: {},
  }));

const manifestOf = ({ sources, transforms, sinks }: Definition) => ({
  ...{ kind: 'Pipeline' as const, name: 'orders', uid: null, labels: {} },
  spec: { sources, transforms, sinks } as Record<string, unknown>,
});

describe('a transform in front of a sink', () => {
  it('is the same in a graph and in a manifest, and changes no other component', () => {
    fc.assert(
      fc.property(graphs, fc.nat(3), (graph, which) => {
        const sinks = graph.nodes.filter(({ kind }) => kind === 'SINK');
        const sink = sinks[which % sinks.length];
        if (!sink) return;
        const change = sampleBefore(graph, sink, 10);
        const drawn = compile(definitionOf({ ...insertIntoGraph(graph, change), globalConfig: {} }));
        const { spec } = changeManifest(manifestOf(definitionOf(graph)), change);
        const written = compile({ ...definitionOf(graph), ...spec } as Definition);
        expect(written.configYaml).to.equal(drawn.configYaml);
        const before = definitionOf(graph);
        const after = definitionOf({ ...insertIntoGraph(graph, change), globalConfig: {} });
        expect(after.transforms).to.deep.equal({
          ...{
            [change.componentKey]: {
              type: 'sample',
              inputs: before.sinks[sink.componentKey]?.inputs,
              rate: 10,
            },
          },
        });
        delete (after.sinks[sink.componentKey] as { inputs?: unknown }).inputs;
        delete (before.sinks[sink.componentKey] as { inputs?: unknown }).inputs;
        expect([after.sources, after.sinks]).to.deep.equal([before.sources, before.sinks]);
      }),
    );
  });

  it('keeps the named output that feeds the sink', () => {
    const graph = {
      nodes: [
        component('in', 'file', 'SOURCE'),
        component('split', 'route', 'TRANSFORM', { route: { errors: 'true' } }),
        component('out', 'http', 'SINK'),
      ],
      edges: [edge('in', 'split'), edge('split', 'out', 'errors')],
    };
    const { edges, nodes } = insertIntoGraph(graph, sampleBefore(graph, graph.nodes[2] as never, 10));
    const keyOf = (id: string) => nodes.find((node) => node.id === id)?.componentKey;
    expect(
      edges.map((one) => [keyOf(one.sourceNodeId), one.sourcePort, keyOf(one.targetNodeId)]),
    ).to.deep.include.members([
      ['split', 'errors', 'sample_out'],
      ['sample_out', undefined, 'out'],
    ]);
  });

  it('is refused where the pipeline was changed since', () => {
    const graph = {
      nodes: [component('in', 'file', 'SOURCE'), component('out', 'http', 'SINK')],
      edges: [edge('in', 'out')],
    };
    const change = sampleBefore(graph, graph.nodes[1] as never, 10);
    const made = insertIntoGraph(graph, change);
    const manifest = manifestOf(definitionOf({ ...graph, globalConfig: {} }));
    for (const attempt of [
      () => insertIntoGraph(made, change),
      () => insertIntoGraph({ ...graph, nodes: graph.nodes.slice(0, 1) }, change),
      () => insertIntoGraph({ ...graph, edges: [] }, change),
      () => changeManifest(changeManifest(manifest, change), change),
      () => changeManifest({ ...manifest, spec: {} }, change),
    ])
      expect(attempt).to.throw(/was changed since it was analyzed/);
  });
});

describe('the diff of a change', () => {
  it('shows what changes in the manifest, and no credential', () => {
    const graph = {
      nodes: [
        component('in', 'file', 'SOURCE'),
        component('out', 'http', 'SINK', { auth: { password: 'hunter22' } }),
      ],
      edges: [edge('in', 'out')],
      globalConfig: {},
    };
    const manifest = manifestOf(definitionOf(graph));
    const diff = renderDiff(
      manifest,
      changeManifest(manifest, sampleBefore(graph, graph.nodes[1] as never, 10)),
    );
    expect(diff)
      .to.include('+    sample_out:')
      .and.include('+      type: sample')
      .and.include('+        - sample_out');
    expect(diff).to.not.include('hunter22');
    expect(renderDiff(manifest, changeManifest(manifest, { action: 'undeploy' }))).to.include(
      '+  deployed: false',
    );
  });
});
