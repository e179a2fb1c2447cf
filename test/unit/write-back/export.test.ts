// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as they stand in manifests
import { expect } from 'chai';
import fc from 'fast-check';
import type { StoredObject, StoredPipeline } from '../../../controller/delivery/bindings/index.ts';
import { compile, definitionOf } from '../../../controller/pipelines/index.ts';
import { normaliseSpec, readText, specHash } from '../../../reconcilers/source/index.ts';
import { exportObjects } from '../../../reconcilers/write-back/manifest/export.ts';
import { plainObject, plainOfManifest } from '../../../reconcilers/write-back/manifest/plain-object.ts';
import type { GraphNode } from '../../../schemas/api/pipelines/graph.ts';
import type { PipelineSpec } from '../../../schemas/manifests/index.ts';
import { json } from '../../support/fixtures/odd-yaml.ts';

const node = (
  key: string,
  kind: GraphNode['kind'],
  config: object = {},
  more: Partial<GraphNode> = {},
): GraphNode => ({
  id: `id-${key}`,
  componentKey: key,
  componentType: kind === 'SOURCE' ? 'demo_logs' : kind === 'SINK' ? 'console' : 'remap',
  kind,
  config: config as GraphNode['config'],
  positionX: 1,
  positionY: 2,
  disabled: false,
  ...more,
});
const edge = (from: string, to: string, sourcePort?: string) => ({
  id: `${from}>${to}`,
  sourceNodeId: `id-${from}`,
  targetNodeId: `id-${to}`,
  ...(sourcePort ? { sourcePort } : {}),
});

const pipeline = (more: Partial<StoredPipeline> = {}): StoredPipeline => ({
  kind: 'Pipeline',
  id: '01j9z6k3e8q2aaaaaaaaaaaaaa',
  name: 'orders',
  uid: null,
  labels: {},
  managedBy: 'ui',
  description: null,
  isDraft: true,
  autoRevert: null,
  dependsOn: [],
  logLevel: 'info',
  drainSeconds: null,
  nodeSelector: null,
  nodes: [
    node('in', 'SOURCE'),
    node('parse', 'TRANSFORM', { source: '.a = 1\n.b = 2\n' }),
    node('out', 'SINK'),
  ],
  edges: [edge('in', 'parse'), edge('parse', 'out')],
  globalConfig: {},
  deployed: null,
  ...more,
});

const rule = (name: string, more: object = {}): StoredObject => ({
  kind: 'AlertRule',
  id: '01j9z6k3e8q2bbbbbbbbbbbbbb',
  name,
  uid: null,
  labels: {},
  managedBy: 'ui',
  pipelineName: null,
  metric: 'cpu_usage',
  condition: 'gt',
  threshold: 90,
  durationSeconds: 60,
  enabled: true,
  ...more,
});

const config = fc.dictionary(fc.constantFrom('mode', 'include', 'encoding', 'a_b', 'Zoë', '1'), json, {
  maxKeys: 4,
  noNullPrototype: true,
});
const labels = fc.dictionary(
  fc.constantFrom('team', 'a.b/c', 'ring'),
  fc.constantFrom('x', '', '1', 'yes', 'a: b'),
  { maxKeys: 2, noNullPrototype: true },
);

const pipelines: fc.Arbitrary<StoredPipeline> = fc
  .record({
    configs: fc.array(config, { minLength: 3, maxLength: 7 }),
    program: fc.constantFrom(
      '.a = 1',
      '.a = 1\n',
      '\n.a = 1\n',
      'if true {\n\t.a = "x: y"\n}\n# end\n',
      '',
      '.a = 1  \n',
    ),
    disabled: fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }),
    named: fc.boolean(),
    at: fc.array(fc.integer({ min: -500, max: 2_000 }), { minLength: 14, maxLength: 14 }),
    port: fc.constantFrom(undefined, 'errors'),
    global: config,
    labels,
    selector: fc.option(labels),
    level: fc.constantFrom('trace' as const, 'info' as const, 'error' as const),
    drainSeconds: fc.constantFrom(null, null, 1, 600),
    description: fc.constantFrom(null, '', 'what: for', 'two\nlines'),
    isDraft: fc.boolean(),
  })
  .map(({ configs, program, disabled, named, at, port, global, ...given }) => {
    const last = configs.length - 1;
    const nodes = configs.map((one, index) => {
      const kind = index === 0 ? 'SOURCE' : index === last ? 'SINK' : 'TRANSFORM';
      const own = {
        positionX: at[index] ?? 0,
        positionY: at[index + 7] ?? 0,
        disabled: disabled[index] ?? false,
        ...(named ? { displayName: `No. ${index}` } : {}),
        ...(kind === 'TRANSFORM' && port ? { componentType: 'route' } : {}),
      };
      return node(
        `c${index}`,
        kind,
        kind !== 'TRANSFORM' ? one : port ? { ...one, route: { [port]: '.a' } } : { ...one, source: program },
        own,
      );
    });
    const edges = configs
      .slice(1)
      .map((_, index) => edge(`c${index}`, `c${index + 1}`, index > 0 ? port : undefined));
    const stored = {
      nodes,
      edges,
      globalConfig: global,
      logLevel: given.level,
      drainSeconds: given.drainSeconds,
      nodeSelector: given.selector,
    };
    return pipeline({
      ...stored,
      labels: given.labels,
      description: given.description,
      isDraft: given.isDraft,
      deployed: given.isDraft ? null : stored,
    });
  });

const readOne = (text: string) => {
  const { documents, problems } = readText('p.yaml', text, { scope: { path: '', sharedPaths: [] } });
  expect(problems).to.deep.equal([]);
  return documents[0]?.manifest as NonNullable<(typeof documents)[number]['manifest']>;
};

describe('export', () => {
  it('reads back to the same meaning, the same engine config and the same editor data', function () {
    this.timeout(60_000);
    fc.assert(
      fc.property(pipelines, (stored) => {
        const { files, skipped } = exportObjects([stored]);
        expect(skipped).to.deep.equal([]);
        const manifest = readOne(files[0]?.text ?? '');
        const plain = plainObject(stored);
        expect(manifest.hash).to.equal(specHash('Pipeline', normaliseSpec('Pipeline', plain.spec)));
        expect(compile(manifest.spec as PipelineSpec).configYaml).to.equal(
          compile(definitionOf(stored)).configYaml,
        );
        expect(manifest.uid).to.equal(stored.id);
        const { uid: _, ...said } = plainOfManifest(manifest);
        const { uid: __, ...meant } = plain;
        expect(said).to.deep.equal(meant);
        // Twice the same text, whatever the order of the day.
        expect(exportObjects([structuredClone(stored)]).files).to.deep.equal(files);
      }),
      { numRuns: 300, seed: 11 },
    );
  });

  it('writes programs as blocks, short lists in one line, and no default', () => {
    const { files } = exportObjects([
      pipeline({ labels: { team: 'payments' }, isDraft: false, deployed: pipeline() }),
    ]);
    expect(files).to.deep.equal([
      {
        kind: 'Pipeline',
        path: 'pipelines/orders.yaml',
        text: `apiVersion: headgate/v1
kind: Pipeline
metadata:
  name: orders
  uid: 01j9z6k3e8q2aaaaaaaaaaaaaa
  labels:
    team: payments
spec:
  sources:
    in:
      type: demo_logs
  transforms:
    parse:
      type: remap
      inputs: [ in ]
      source: |
        .a = 1
        .b = 2
  sinks:
    out:
      type: console
      inputs: [ parse ]
  components:
    in:
      position: [ 1, 2 ]
    parse:
      position: [ 1, 2 ]
    out:
      position: [ 1, 2 ]
`,
      },
    ]);
  });

  it('tells what runs where the editor holds something else, and says so', () => {
    const running = pipeline();
    const { files } = exportObjects([pipeline({ isDraft: false, logLevel: 'debug', deployed: running })]);
    expect(files[0]?.text).to.match(
      /^# The editor holds changes that are not deployed; this is what runs\.\n/,
    );
    expect(files[0]?.text).not.to.contain('debug');
  });

  const LEFT_OUT: [reason: RegExp, object: StoredObject][] = [
    [
      /plain secret/,
      pipeline({ nodes: [node('in', 'SOURCE', { auth: { password: 'hunter2' } })], edges: [] }),
    ],
    [
      /there is no value named host/,
      pipeline({ nodes: [node('in', 'SOURCE', { address: '${value.host}' })], edges: [] }),
    ],
    [/\$file/, pipeline({ nodes: [node('in', 'SOURCE', { x: { $file: 'a.vrl' } })], edges: [] })],
    [/inputs/, pipeline({ nodes: [node('parse', 'TRANSFORM')], edges: [] })],
  ];
  for (const [reason, object] of LEFT_OUT) {
    it(`leaves out what no manifest may say: ${reason.source}`, () => {
      const { files, skipped } = exportObjects([object]);
      expect(files).to.deep.equal([]);
      expect(skipped[0]?.reason).to.match(reason);
      expect(JSON.stringify(skipped)).not.to.contain('hunter2');
    });
  }

  it('keeps placeholders of secrets', () => {
    const { files } = exportObjects([
      pipeline({ nodes: [node('in', 'SOURCE', { auth: { password: '${SVC_SECRET_X}' } })], edges: [] }),
    ]);
    expect(files[0]?.text).to.contain('password: ${SVC_SECRET_X}');
  });

  it('names files safely, and no two alike', () => {
    const names = [
      'CPU',
      'cpu',
      '../../etc/passwd',
      'Überlast ÄÖ',
      '…',
      'con',
      '.hidden',
      'a/b\\c',
      'x'.repeat(100),
      '日本',
    ];
    const { files, skipped } = exportObjects(names.map((name) => rule(name)));
    expect(skipped).to.deep.equal([]);
    expect(files.map(({ path }) => path)).to.deep.equal([
      'alerts/CPU.yaml',
      'alerts/cpu-2.yaml',
      'alerts/etc-passwd.yaml',
      'alerts/Uberlast-AO.yaml',
      'alerts/unnamed.yaml',
      'alerts/con-file.yaml',
      'alerts/hidden.yaml',
      'alerts/a-b-c.yaml',
      `alerts/${'x'.repeat(80)}.yaml`,
      'alerts/unnamed-2.yaml',
    ]);
  });
});
