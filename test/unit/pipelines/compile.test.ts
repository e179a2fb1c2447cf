// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as they are written in manifests
import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import { compile } from '../../../controller/pipelines/definition/compile.ts';
import { componentsOf, type Definition } from '../../../controller/pipelines/definition/definition.ts';
import { definitionOf } from '../../../controller/pipelines/graph/graph.ts';
import { definition, soundDefinition } from '../../support/fixtures/definition.ts';

type Config = Record<string, Record<string, { inputs?: string[] }> | undefined>;
const configOf = (of: Definition): Config => parse(compile(of).configYaml) as Config;
const keysOf = (config: Config) =>
  ['sources', 'transforms', 'sinks'].flatMap((section) => Object.keys(config[section] ?? {}));

const chain = definition({
  sources: { app: { type: 'file', include: ['/var/log/app.log'] }, other: { type: 'demo_logs' } },
  transforms: {
    split: { type: 'route', inputs: ['app'], route: { errors: '.level == "error"' } },
    tidy: { type: 'remap', inputs: ['split.errors'], source: '.' },
  },
  sinks: {
    search: { type: 'blackhole', inputs: ['tidy', 'other'] },
    archive: { type: 'blackhole', inputs: ['tidy'] },
  },
});

describe('compiling a definition', () => {
  it('keeps named outputs: as key.output in the config, as sourcePort in the graph', () => {
    const { configYaml, edges } = compile(chain);
    expect((parse(configYaml) as Config).transforms?.tidy?.inputs).to.deep.equal(['split.errors']);
    expect(edges.find((edge) => edge.targetNodeId === 'tidy')).to.include({
      sourceNodeId: 'split',
      sourcePort: 'errors',
    });
    expect(edges.find((edge) => edge.targetNodeId === 'split')).not.to.have.property('sourcePort');
  });

  it('expands wildcards, so that they never reach what the agent adds, nor a sink, nor the component itself', () => {
    const all = definition({
      ...chain,
      transforms: { ...chain.transforms, merge: { type: 'remap', inputs: ['*'], source: '.' } },
    });
    expect(configOf(all).transforms?.merge?.inputs).to.deep.equal([
      'app',
      'other',
      'split.errors',
      'split._unmatched',
      'tidy',
    ]);
  });

  it('names an input once, though an entry and a wildcard both stand for it', () => {
    const twice = definition({ ...chain, sinks: { out: { type: 'blackhole', inputs: ['app', 'a*'] } } });
    expect(configOf(twice).sinks?.out?.inputs).to.deep.equal(['app']);
  });

  it('leaves a disabled component out, and with it what then has no input, and keeps what has another', () => {
    const without = { ...chain, components: { split: { disabled: true } } };
    const config = configOf(without);
    expect(keysOf(config)).to.deep.equal(['app', 'other', 'search']);
    expect(config.sinks?.search?.inputs).to.deep.equal(['other']);
    expect(compile(without).nodes.find((node) => node.id === 'split')?.disabled).to.equal(true);
    expect(compile(without).nodes).to.have.length(6);
  });

  it('puts global sections beside the components', () => {
    expect(configOf({ ...chain, global: { timezone: 'UTC' } }).timezone as unknown).to.equal('UTC');
  });

  it('lays components out by their distance from the sources, or where the editor has put them', () => {
    const placed = { ...chain, components: { tidy: { position: [7, 9], displayName: 'Tidy up' } } };
    const nodes = new Map(compile(placed).nodes.map((node) => [node.id, node]));
    expect(nodes.get('tidy')).to.include({ positionX: 7, positionY: 9, displayName: 'Tidy up' });
    expect(nodes.get('app')?.positionX).to.equal(0);
    expect(nodes.get('split')?.positionX).to.be.greaterThan(0);
    expect(nodes.get('archive')?.positionX).to.be.greaterThan(nodes.get('split')?.positionX ?? Infinity);
  });

  it('ends on a cycle', () => {
    const circle = definition({
      sources: { in: { type: 'demo_logs' } },
      transforms: { a: { type: 'remap', inputs: ['b'] }, b: { type: 'remap', inputs: ['a', 'in'] } },
      sinks: { out: { type: 'blackhole', inputs: ['b'] } },
    });
    expect(compile(circle).nodes).to.have.length(4);
  });

  it('writes YAML that reads back as it was, whatever the values', () => {
    const nasty = [
      'no',
      '1.10',
      '012',
      '"',
      '- a',
      '# x',
      'a: b',
      '\ttab',
      'a\nb\n',
      '',
      '~',
      '*x',
      '&x',
      '!!str',
      '${A}',
      '2026-01-01',
      '\u2028',
    ];
    const made = definition({
      sources: {
        in: { type: 'file', include: nasty, nested: { 'a key: with colon': null, list: [[1], {}] } },
      },
      sinks: { out: { type: 'blackhole', inputs: ['in'] } },
    });
    expect(configOf(made).sources?.in).to.deep.equal(made.sources.in);
  });

  it('writes every value out, without anchors: they would hide a variable from whoever looks for it', () => {
    const shared = { a: ['x'] };
    const made = definition({ sources: { in: { type: 'file', one: shared, two: shared } }, sinks: {} });
    expect(compile(made).configYaml).not.to.match(/[&*]\w/);
  });

  it('comes to the same config and the same graph after the way through the graph and back', () => {
    fc.assert(
      fc.property(soundDefinition, (made) => {
        const first = compile(made);
        const stored = JSON.parse(JSON.stringify(first)) as typeof first;
        const back = definitionOf({
          nodes: stored.nodes,
          edges: stored.edges,
          globalConfig: made.global,
          logLevel: 'info',
          nodeSelector: null,
        });
        expect(componentsOf(back)).to.deep.equal(componentsOf(made));
        const second = compile(back);
        expect(second.configYaml).to.equal(first.configYaml);
        expect(second.edges).to.deep.equal(first.edges);
      }),
      { numRuns: 300 },
    );
  });

  it('never ships a component without its inputs, nor an input that is not shipped', () => {
    fc.assert(
      fc.property(soundDefinition, (made) => {
        const config = configOf(made);
        const shipped = new Set(keysOf(config));
        for (const section of ['transforms', 'sinks']) {
          for (const [key, component] of Object.entries(config[section] ?? {})) {
            expect(component.inputs, key).to.be.an('array').that.is.not.empty;
            for (const input of component.inputs ?? [])
              expect(shipped.has(input.split('.')[0] ?? '')).to.equal(true);
          }
        }
        for (const [key, { disabled }] of Object.entries(made.components))
          if (disabled) expect(shipped.has(key)).to.equal(false);
      }),
      { numRuns: 300 },
    );
  });
});
