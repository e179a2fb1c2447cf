/** What heartbeats leave out where the controller allows it: nothing that it would have stored. */
import { expect } from 'chai';
import fc from 'fast-check';
import { parseHeartbeatReply } from '../../../agent/link/answers.ts';
import { HeartbeatBuilder, withoutEmpty } from '../../../agent/report/heartbeat-body.ts';
import type { Pipeline } from '../../../agent/supervise/lifecycle/pipeline.ts';
import { normalizeEntry } from '../../../controller/fleet/heartbeats/normalize-entry.ts';
import { toRow } from '../../../controller/fleet/heartbeats/report-row.ts';
import type { PipelineReport } from '../../../schemas/agent/protocol.ts';

const counter = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1_000_000 }));
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const component = fc.record({
  componentId: fc.constantFrom('in', 'parse', 'out'),
  componentKind: fc.constantFrom('source' as const, 'transform' as const, 'sink' as const),
  ...{ receivedEvents: counter, sentEvents: counter },
  ...{ receivedBytes: optional(counter), sentBytes: optional(counter), errorsTotal: optional(counter) },
  ...{ discardedEvents: optional(counter), filteredEvents: optional(counter) },
  ...{ utilization: optional(fc.constantFrom(0, 0.5)), bufferEvents: optional(counter) },
});
const report: fc.Arbitrary<PipelineReport> = fc.record({
  pipelineId: fc.constant('01hzpipeline'),
  version: fc.nat(9),
  status: fc.constantFrom('RUNNING' as const, 'STOPPED' as const, 'CRASHED' as const),
  pid: nullable(fc.nat(9)),
  ...{ eventsIn: optional(counter), eventsOut: optional(counter), errorsTotal: optional(counter) },
  ...{ restarts: optional(fc.nat(3)), lastError: nullable(fc.constantFrom('', 'it ended')) },
  degraded: nullable(fc.constant('one of two ports')),
  warnings: fc.constantFrom([], ['deprecated']),
  refused: nullable(fc.constant({ version: 3, checksum: 'sha256:1', error: 'unknown field' })),
  draining: nullable(fc.constant({ version: 1, secondsLeft: 3 })),
  lastDrain: fc.constant(null),
  componentMetrics: optional(fc.array(component, { maxLength: 3 })),
  recentLogs: fc.constantFrom([], ['a line']),
});

describe('the body of a heartbeat', () => {
  const stored = (sent: PipelineReport, before: PipelineReport) => {
    const read = (one: PipelineReport) => {
      const entry = normalizeEntry(JSON.parse(JSON.stringify(one)));
      if ('reason' in entry) throw new Error(entry.reason);
      return entry.report;
    };
    return toRow(read(sent), toRow(read(before), undefined, 0), 5_000, 5_000);
  };

  it('means the same without what is empty, and is never longer', () => {
    fc.assert(
      fc.property(report, report, (before, whole) => {
        const sparse = withoutEmpty(whole);
        expect(stored(sparse, withoutEmpty(before))).to.deep.equal(stored(whole, before));
        expect(JSON.stringify(sparse).length).to.be.at.most(JSON.stringify(whole).length);
      }),
      { numRuns: 500 },
    );
  });

  it('leaves nothing out before the controller has said that it may', () => {
    const logs = { since: () => ({ lines: [], next: 0 }) };
    const current = { pipelineId: 'one', version: 1, checksum: 'sha256:1' };
    const pipeline = {
      current,
      logs,
      status: 'RUNNING',
      warnings: [],
      lastError: null,
    } as unknown as Pipeline;
    const builder = new HeartbeatBuilder();
    const entry = (how?: { omitEmpty: boolean }) =>
      builder.build([pipeline], () => undefined, {}, how).body.pipelines[0];
    expect(entry()).to.include.keys('pid', 'lastError', 'warnings', 'recentLogs');
    expect(entry({ omitEmpty: true })).to.deep.equal({
      ...{ pipelineId: 'one', version: 1, status: 'RUNNING', configChecksum: 'sha256:1' },
    });
  });

  it('is told so by an answer that says true', () => {
    expect(parseHeartbeatReply('{"ok":true,"mayOmitEmpty":true}').mayOmitEmpty).to.equal(true);
    for (const answer of ['{"ok":true}', '{"ok":true,"mayOmitEmpty":"yes"}', ''])
      expect(parseHeartbeatReply(answer).mayOmitEmpty, answer).to.equal(undefined);
  });
});
