/** What is recommended about a pipeline, by what was measured. */
import { expect } from 'chai';
import {
  pullRequestTexts,
  renderExplanation,
  renderTitle,
} from '../../../controller/insight/recommendations/explanation.ts';
import {
  type Finding,
  findSavings,
  type Measured,
  type PipelineFacts,
} from '../../../controller/insight/recommendations/rules.ts';
import { component, edge } from '../../support/fixtures/graphs.ts';

const NOW = Date.UTC(2026, 10, 28);
const DAY_MS = 86_400_000;
const GRAPH = {
  nodes: [component('in', 'file', 'SOURCE'), component('out', 'http', 'SINK')],
  edges: [edge('in', 'out')],
};

const measured = (more: Partial<Measured> = {}): Measured => ({
  ...{ hours: 168, eventsIn: 1e6, eventsOut: 1e6, bytesIn: 10e9, bytesOut: 9.8e9, errors: 0 },
  ...{ hoursReported: 168, hoursWithEvents: 168, ...more },
});
const idle = measured({ eventsIn: 0, eventsOut: 0, bytesIn: 0, bytesOut: 0, hoursWithEvents: 0 });
const day = (more: Partial<Measured> = {}) =>
  measured({ hours: 24, hoursReported: 24, hoursWithEvents: 24, bytesIn: 1e9, bytesOut: 1e8, ...more });
const facts = (more: Partial<PipelineFacts> = {}): PipelineFacts => ({
  ...{ pipelineId: 'p', deployedAt: NOW - 10 * DAY_MS, graph: GRAPH, isInMaintenance: false },
  ...{ week: measured(), day: day(), sinks: [{ componentId: 'out', bytesOut: 9.8e9 }], ...more },
});
const find = (more: Partial<PipelineFacts>, type: Finding['type']) =>
  findSavings(facts(more), NOW).find((finding) => finding.type === type) ?? null;
const texts = (finding: Finding | null, savedCostPerMonth: number | null = null) => {
  if (!finding) throw new Error('nothing was found');
  const of = { ...finding, savedCostPerMonth };
  return { title: renderTitle(of), text: renderExplanation(of), pull: pullRequestTexts(of, 'orders') };
};

describe('a pipeline that sends nearly all that comes in', () => {
  it('is recommended a sample in front of its largest sink, which saves nine tenths of that', () => {
    const found = find({}, 'LOW_REDUCTION');
    expect(found?.change).to.deep.equal({
      ...{ action: 'insertTransform', sink: 'out', componentKey: 'sample_out', componentType: 'sample' },
      config: { rate: 10 },
    });
    expect(found?.savedBytesPerMonth).to.be.closeTo((9.8e9 / 168) * 720 * 0.9, 1);
  });

  it('is described with its figures, and in money only where there is a price', () => {
    const found = find({}, 'LOW_REDUCTION');
    const { title, text, pull } = texts(found, 12.5);
    expect(title).to.equal('Sends 98 % of the bytes that come in');
    expect(text)
      .to.include('In 7 days, 10 GB came in and 9.8 GB went out.')
      .and.include('12.50 at the price');
    expect(pull.title).to.equal('Put sample before out in the pipeline orders (saves about 38 GB a month)');
    expect(pull.body).to.include('Estimated saving: 38 GB in 30 days');
    expect(texts(found).text).to.include('Estimated saving: 38 GB in 30 days.').and.not.include('price');
  });

  for (const { reason, more } of [
    { reason: 'without traffic', more: { week: idle } },
    { reason: 'with an hour of traffic', more: { week: measured({ hoursWithEvents: 1 }) } },
    { reason: 'with less than a gigabyte', more: { week: measured({ bytesIn: 0.9e9, bytesOut: 0.9e9 }) } },
    { reason: 'that reduces', more: { week: measured({ bytesOut: 8.9e9 }) } },
  ])
    it(`is not one ${reason}`, () => expect(find(more, 'LOW_REDUCTION')).to.equal(null));

  it('may send more than comes in, to several sinks', () => {
    expect(find({ week: measured({ bytesOut: 20e9 }) }, 'LOW_REDUCTION')).not.to.equal(null);
  });

  it('is about the largest sink that is still there', () => {
    const sinks = [
      { componentId: 'gone', bytesOut: 9e9 },
      { componentId: 'out', bytesOut: 1e9 },
    ];
    expect(find({ sinks }, 'LOW_REDUCTION')?.figures).to.include({ sink: 'out', sinkBytes: 1e9 });
    const none = find({ sinks: [] }, 'LOW_REDUCTION');
    expect(none).to.deep.include({ change: null, savedBytesPerMonth: null });
    expect(texts(none).text).to.include('Filter events or drop fields').and.not.include('Estimated');
  });

  it('gets no sample where metrics flow, or events are sampled already', () => {
    for (const [source, between] of [
      ['host_metrics', null],
      ['vector', null],
      ['file', component('few', 'sample', 'TRANSFORM', { rate: 2 })],
      ['file', component('few', 'log_to_metric', 'TRANSFORM', { metrics: [] })],
    ] as const) {
      const nodes = [component('in', source, 'SOURCE'), component('out', 'http', 'SINK')];
      const graph = between
        ? { nodes: [...nodes, between], edges: [edge('in', 'few'), edge('few', 'out')] }
        : { nodes, edges: [edge('in', 'out')] };
      expect(find({ graph }, 'LOW_REDUCTION'), source).to.deep.include({ change: null });
    }
  });

  it('gets a transform of a name that is free', () => {
    const graph = { ...GRAPH, nodes: [...GRAPH.nodes, component('sample_out', 'remap', 'TRANSFORM')] };
    expect(find({ graph }, 'LOW_REDUCTION')?.change).to.include({ componentKey: 'sample_out_2' });
  });
});

describe('a pipeline whose events end in errors', () => {
  it('is one with errors in 5 % of its events over a day, and saves what is lost', () => {
    const found = find({ day: day({ eventsIn: 100_000, errors: 5_000 }) }, 'HIGH_ERROR_RATE');
    expect(found).to.deep.include({ change: null });
    expect(found?.savedBytesPerMonth).to.be.closeTo(1e9 * 30 * 0.05, 1);
    expect(texts(found).title).to.equal('5 % of its events end in errors');
    expect(texts(found).text).to.include('100,000 events came in and 5,000 errors');
  });

  it('loses no more than came in, though an event may count several errors', () => {
    const found = find({ day: day({ eventsIn: 10_000, errors: 50_000 }) }, 'HIGH_ERROR_RATE');
    expect(found?.savedBytesPerMonth).to.be.closeTo(30e9, 1);
  });

  for (const { reason, more } of [
    { reason: 'with fewer errors', more: day({ eventsIn: 100_000, errors: 4_999 }) },
    { reason: 'with few events', more: day({ eventsIn: 999, errors: 999 }) },
    { reason: 'with an hour of traffic', more: day({ errors: 1e6, hoursWithEvents: 1 }) },
    { reason: 'that was deployed an hour ago', more: day({ errors: 1e6, hoursReported: 1 }) },
    { reason: 'without traffic', more: { ...idle, hours: 24 } },
  ])
    it(`is not one ${reason}`, () => expect(find({ day: more }, 'HIGH_ERROR_RATE')).to.equal(null));
});

describe('a pipeline without events', () => {
  it('is recommended to be undeployed after a week in which its nodes reported it', () => {
    const found = find({ week: idle }, 'STALE_PIPELINE');
    expect(found).to.deep.include({ change: { action: 'undeploy' }, savedBytesPerMonth: 0 });
    expect(texts(found).title).to.equal('No events for 7 days');
    expect(texts(found).pull.title).to.equal('Undeploy the pipeline orders');
    expect(texts(found).text).to.include('no bytes').and.not.include('Estimated');
  });

  for (const { reason, more } of [
    { reason: 'that has an event', more: { week: { ...idle, eventsIn: 1 } } },
    { reason: 'on a node in maintenance', more: { week: idle, isInMaintenance: true } },
    { reason: 'whose nodes were silent', more: { week: { ...idle, hoursReported: 150 } } },
    { reason: 'that was deployed 6 days ago', more: { week: idle, deployedAt: NOW - 6 * DAY_MS } },
    { reason: 'of which nobody knows since when it runs', more: { week: idle, deployedAt: null } },
  ])
    it(`is left alone where it is one ${reason}`, () => expect(find(more, 'STALE_PIPELINE')).to.equal(null));
});

describe('tags of metrics', () => {
  const counter = (tags: Record<string, string>, more = {}) =>
    component('count', 'log_to_metric', 'TRANSFORM', {
      metrics: [{ type: 'counter', field: 'id', name: 'seen', increment_by_value: true, tags, ...more }],
    });
  const graph = (transform: ReturnType<typeof counter>, sink = 'prometheus_exporter', limited = false) => ({
    nodes: [
      component('in', 'file', 'SOURCE'),
      transform,
      component('limit', 'tag_cardinality_limit', 'TRANSFORM'),
      component('out', sink, 'SINK'),
    ],
    edges: [
      edge('in', 'count'),
      ...(limited ? [edge('count', 'limit'), edge('limit', 'out')] : [edge('count', 'out')]),
    ],
  });

  it('of fields that may have any number of values are limited before a metrics store', () => {
    const found = find(
      { graph: graph(counter({ user: '{{ user_id }}', how: '{{.method}}' })) },
      'HIGH_CARDINALITY',
    );
    expect(found?.figures).to.deep.include({ sink: 'out', fields: ['user_id'] });
    expect(found?.savedBytesPerMonth).to.equal(null);
    expect(found?.change).to.deep.include({
      ...{ sink: 'out', componentKey: 'limit_out', componentType: 'tag_cardinality_limit' },
      config: { mode: 'exact', value_limit: 500, limit_exceeded_action: 'drop_tag' },
    });
    expect(texts(found).text).to.include('the field user_id').and.include('is not known here');
  });

  it('may be in the name of a metric, or deep in an event', () => {
    for (const [transform, field] of [
      [counter({}, { name: 'seen_{{ path }}' }), 'path'],
      [counter({ pod: '{{ kubernetes.pod_name }}' }), 'kubernetes.pod_name'],
    ] as const)
      expect(find({ graph: graph(transform) }, 'HIGH_CARDINALITY')?.figures.fields).to.deep.equal([field]);
  });

  for (const { reason, of } of [
    { reason: 'are fixed texts', of: graph(counter({ source: 'web' })) },
    {
      reason: 'are known for few values',
      of: graph(counter({ a: '{{ level }}', b: '{{ .kubernetes.Namespace }}' })),
    },
    { reason: 'are limited', of: graph(counter({ user: '{{ user_id }}' }), 'prometheus_exporter', true) },
    { reason: 'go to no metrics store', of: graph(counter({ user: '{{ user_id }}' }), 'console') },
    {
      reason: 'are of a shape that nobody expects',
      of: graph(component('count', 'log_to_metric', 'TRANSFORM', { metrics: 'x' })),
    },
  ])
    it(`are no cause where they ${reason}`, () => {
      expect(find({ graph: of }, 'HIGH_CARDINALITY')).to.equal(null);
    });

  it('cost nothing where nothing flows', () => {
    const unlimited = graph(counter({ user: '{{ user_id }}' }));
    expect(find({ graph: unlimited, week: idle }, 'HIGH_CARDINALITY')).to.equal(null);
  });
});
