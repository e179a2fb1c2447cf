import { expect } from 'chai';
import fc from 'fast-check';
import { toRow } from '../../../controller/fleet/heartbeats/report-row.ts';
import type { ComponentMetric, PipelineReport } from '../../../schemas/agent/protocol.ts';

const report = (more: Partial<PipelineReport> = {}): PipelineReport => ({
  pipelineId: 'p1',
  version: 2,
  status: 'RUNNING',
  ...more,
});
const component = (receivedEvents: number, sentEvents: number): ComponentMetric => ({
  componentId: 'parse',
  componentKind: 'transform',
  receivedEvents,
  sentEvents,
  receivedBytes: 0,
});

describe('rates from the counters of heartbeats', () => {
  it('are nothing at the first report, however much was counted before', () => {
    const first = toRow(report({ eventsIn: 1e9 }), undefined, 1_700_000_000_000);
    expect(first.rates).to.deep.equal({ eventsIn: 0, eventsOut: 0, bytesIn: 0, bytesOut: 0, errors: 0 });
    expect(first.eventsIn).to.equal(1e9);
  });

  it('are what was counted since the report before, by the second', () => {
    const first = toRow(
      report({ eventsIn: 100, eventsOut: 50, bytesIn: 0, bytesOut: 10, errorsTotal: 1 }),
      undefined,
      0,
    );
    const second = toRow(
      report({ eventsIn: 600, eventsOut: 100, bytesIn: 1_000, bytesOut: 10, errorsTotal: 2 }),
      first,
      5_000,
    );
    expect(second.rates).to.deep.equal({
      eventsIn: 100,
      eventsOut: 10,
      bytesIn: 200,
      bytesOut: 0,
      errors: 0.2,
    });
  });

  it('take a counter that fell for one that began anew', () => {
    const first = toRow(report({ eventsIn: 1_000_000 }), undefined, 0);
    expect(toRow(report({ eventsIn: 50 }), first, 5_000).rates.eventsIn).to.equal(10);
  });

  it('stay as they were when two reports come at almost the same moment', () => {
    const first = toRow(report({ eventsIn: 0 }), undefined, 0);
    const second = toRow(report({ eventsIn: 50 }), first, 5_000);
    for (const elapsed of [0, 1, 200, -1_000])
      expect(toRow(report({ eventsIn: 60 }), second, elapsed).rates.eventsIn, `${elapsed} ms`).to.equal(10);
  });

  it('stay as they were for a report between two readings of the engine, and nothing once it has been read', () => {
    const first = toRow(report({ eventsIn: 0 }), undefined, 0);
    const second = toRow(report({ eventsIn: 50 }), first, 5_000, 5_000);
    const again = toRow(report({ eventsIn: 50 }), second, 1_000, 5_000);
    expect(again.rates).to.equal(second.rates);
    expect(toRow(report({ eventsIn: 50 }), second, 5_000, 5_000).rates.eventsIn).to.equal(0);
    expect(toRow(report({ eventsIn: 60 }), second, 1_000, 5_000).rates.eventsIn).to.equal(10);
  });

  it('stay with the counters while a report leaves them out, and go with the engine that they are of', () => {
    const first = toRow(report({ pid: 7, eventsIn: 100, errorsTotal: 3 }), undefined, 0);
    const second = toRow(report({ pid: 7, eventsIn: 200, errorsTotal: 3 }), first, 5_000);
    const third = toRow(report({ pid: 7 }), second, 0, 5_000);
    expect(third).to.include({ eventsIn: 200, errorsTotal: 3 });
    expect(third.rates).to.equal(second.rates);
    const restarted = toRow(report({ pid: 8 }), second, 0, 5_000);
    expect(restarted).to.include({ eventsIn: 0, errorsTotal: 0 });
    expect(restarted.rates.eventsIn).to.equal(0);
  });

  it('stay where an old reading comes again, and are counted over the whole time to the next one', () => {
    const first = toRow(report({ eventsIn: 0 }), undefined, 0, 5_000);
    const second = toRow(report({ eventsIn: 50 }), first, 5_000, 5_000);
    const old = toRow(report({ eventsIn: 50, metricsAgeSeconds: 40 }), second, 10, 5_000);
    expect(old.rates).to.equal(second.rates);
    expect(toRow(report({ eventsIn: 450 }), second, 45_000, 5_000).rates.eventsIn).to.be.closeTo(8.9, 0.1);
  });

  it('are kept for each component, matched by its name', () => {
    const first = toRow(report({ componentMetrics: [component(100, 90)] }), undefined, 0);
    const other = { ...component(70, 70), componentId: 'new' };
    const second = toRow(report({ componentMetrics: [other, component(200, 140)] }), first, 5_000);
    expect(second.components.map(({ id, inRate, outRate }) => [id, inRate, outRate])).to.deep.equal([
      ['new', 0, 0],
      ['parse', 20, 10],
    ]);
  });

  it('are finite and never negative, whatever comes in whatever order', () => {
    const counters = fc.record(
      { eventsIn: fc.nat(1e6), eventsOut: fc.nat(1e6), errorsTotal: fc.nat(10) },
      { requiredKeys: [] },
    );
    const beats = fc.array(fc.record({ counters, elapsed: fc.integer({ min: -1_000, max: 60_000 }) }), {
      maxLength: 10,
    });
    fc.assert(
      fc.property(beats, (given) => {
        let row: ReturnType<typeof toRow> | undefined;
        for (const { counters: counted, elapsed } of given) {
          row = toRow(report(counted), row, elapsed);
          for (const rate of Object.values(row.rates)) expect(rate).to.be.within(0, Number.MAX_VALUE);
        }
      }),
    );
  });

  it('come with texts that Postgres can hold', () => {
    const row = toRow(report({ lastError: `a\0b\ud800${'x'.repeat(5_000)}` }), undefined, 0);
    expect(row.lastError).to.have.length(4_096);
    expect(row.lastError).to.match(/^ab\ufffdx/);
  });
});
