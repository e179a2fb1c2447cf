import { expect } from 'chai';
import type { Metric } from '../../../examples/engine/event.ts';
import { Exposition } from '../../../examples/engine/sinks/exposition.ts';

const metric = (change: Partial<Metric> = {}): Metric => ({
  name: 'component_sent_events_total',
  namespace: 'vector',
  tags: { host: 'n1', component_id: 'in' },
  timestamp: 1760000000000,
  kind: 'absolute',
  type: 'counter',
  value: 42,
  ...change,
});

describe('the text of the Prometheus exporter', () => {
  it('has a bare HELP, sorted labels and a time in milliseconds', () => {
    const exposition = new Exposition({ suppressTimestamp: false, expireMs: 0 });
    exposition.add(metric(), 0);
    expect(exposition.render(0)).to.equal(
      [
        '# HELP vector_component_sent_events_total component_sent_events_total',
        '# TYPE vector_component_sent_events_total counter',
        'vector_component_sent_events_total{component_id="in",host="n1"} 42 1760000000000',
        '',
      ].join('\n'),
    );
  });

  it('leaves the time out when asked to', () => {
    const exposition = new Exposition({ suppressTimestamp: true, expireMs: 0 });
    exposition.add(metric({ tags: {}, value: 0.5, type: 'gauge' }), 0);
    expect(exposition.render(0)).to.match(/\nvector_component_sent_events_total 0\.5\n$/);
  });

  it('escapes label values', () => {
    const exposition = new Exposition({ suppressTimestamp: true, expireMs: 0 });
    exposition.add(metric({ tags: { path: 'a"b\\c\nd' } }), 0);
    expect(exposition.render(0)).to.include('{path="a\\"b\\\\c\\nd"} 42');
  });

  it('keeps the last absolute value and adds up incremental ones', () => {
    const exposition = new Exposition({ defaultNamespace: 'own', suppressTimestamp: true, expireMs: 0 });
    for (const value of [1, 2]) {
      exposition.add(metric({ value, tags: {} }), 0);
      exposition.add(metric({ value, tags: {}, kind: 'incremental', name: 'n', namespace: undefined }), 0);
    }
    expect(exposition.render(0))
      .to.include('vector_component_sent_events_total 2\n')
      .and.include('own_n 3\n');
  });

  it('drops series that were not seen for the flush period', () => {
    const exposition = new Exposition({ suppressTimestamp: true, expireMs: 60_000 });
    exposition.add(metric(), 0);
    expect(exposition.render(60_000)).not.to.equal('');
    expect(exposition.render(60_001)).to.equal('');
  });
});
