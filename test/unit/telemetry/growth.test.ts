import { expect } from 'chai';
import fc from 'fast-check';
import {
  growthOf as growthAt,
  HOUR_MS,
  MINUTE_MS,
  minuteOf,
} from '../../../controller/insight/telemetry/record/growth.ts';
import {
  type Base,
  type MeasuredPipeline,
  type Reading,
  readingOf,
} from '../../../controller/insight/telemetry/record/reading.ts';

const START = Date.parse('2026-11-23T09:00:00Z');

const pipeline = (more: Partial<MeasuredPipeline> = {}): MeasuredPipeline => ({
  ...{
    version: 1,
    pid: 10,
    uptimeSeconds: 1_000,
    restarts: 0,
    eventsIn: 0,
    eventsOut: 0,
    bytesIn: 0,
    bytesOut: 0,
  },
  ...{
    errorsTotal: 0,
    eventsDiscarded: 0,
    utilization: null,
    latencyMs: null,
    components: [],
    componentBytes: [],
  },
  ...more,
});
const component = (received: number) => ({
  id: 'in',
  kind: 'source',
  in: received,
  out: received,
  errors: 0,
});
const read = (seconds: number, eventsIn: number, more: Partial<MeasuredPipeline> = {}) =>
  readingOf(
    pipeline({ uptimeSeconds: 1_000 + seconds, eventsIn, components: [component(eventsIn)], ...more }),
    START + seconds * 1_000,
  );
const growthOf = (base: Base | null, reading: Reading, now = Math.max(base?.at ?? 0, reading.at)) =>
  growthAt(base, reading, now);
const eventsOf = (growth: ReturnType<typeof growthOf>) =>
  growth?.hours.reduce((sum, hour) => sum + (hour.counters[0] ?? 0), 0) ?? 0;

describe('what a pipeline has counted between two readings', () => {
  it('is the difference, in the minute of the later one', () => {
    const growth = growthOf(read(50, 100), read(110, 700));
    expect(growth?.minute.start).to.equal(START + MINUTE_MS);
    expect(growth?.minute.seconds).to.equal(60);
    expect(growth?.minute.counters[0]).to.equal(600);
    expect(growth?.minute.components.get('in')?.[0]).to.equal(600);
  });

  it('belongs to the minute before where it was read as that minute ended', () => {
    expect(minuteOf(START + MINUTE_MS)).to.equal(START);
    expect(minuteOf(START + MINUTE_MS + 1)).to.equal(START + MINUTE_MS);
  });

  it('begins at zero with another process, another version, or a shorter uptime', () => {
    const before = read(0, 1_000);
    for (const more of [{ pid: 11 }, { version: 2 }, { uptimeSeconds: 20 }])
      expect(growthOf(before, read(60, 300, more))?.minute.counters[0], JSON.stringify(more)).to.equal(300);
  });

  it('lasts no longer than the new engine has run', () => {
    const growth = growthOf(read(0, 1_000), read(60, 300, { pid: 11, uptimeSeconds: 20 }));
    expect(growth?.minute.seconds).to.equal(20);
  });

  it('begins at zero after a smaller counter only where neither process nor uptime is reported', () => {
    const unknown = { pid: null, uptimeSeconds: null };
    expect(growthOf(read(0, 1_000, unknown), read(60, 300, unknown))?.minute.counters[0]).to.equal(300);
    expect(growthOf(read(0, 1_000), read(60, 300))?.minute.counters[0]).to.equal(0);
  });

  it('is unknown at the first reading of an engine that has run for long, and all of it of a young one', () => {
    expect(growthOf(null, read(0, 1_000))).to.equal(null);
    const growth = growthOf(null, read(0, 30, { uptimeSeconds: 30 }));
    expect(growth?.minute.counters[0]).to.equal(30);
    expect(growth?.minute.seconds).to.equal(30);
  });

  it('is nothing by a reading that another controller has overtaken', () => {
    expect(growthOf(read(60, 300), read(55, 280))).to.equal(null);
  });

  it('goes on after a clock was set back by an hour', () => {
    const later = read(0, 1_000);
    const growth = growthOf(later, read(-3_600, 1_600, { uptimeSeconds: 1_060 }), START - 3_600_000);
    expect(growth?.minute.counters[0]).to.equal(600);
    expect(growth?.minute.seconds).to.equal(60);
  });

  it('keeps its rate after a gap, and is shared among the hours of the gap', () => {
    const growth = growthOf(read(0, 0), read(7_200 + 30, 7_230));
    expect(growth?.minute.seconds).to.equal(30);
    expect(growth?.minute.counters[0]).to.equal(30);
    expect(
      growth?.hours.map(({ start, counters }) => [start - START, Math.round(counters[0] ?? 0)]),
    ).to.deep.equal([
      [0, 3_600],
      [HOUR_MS, 3_600],
      [2 * HOUR_MS, 30],
    ]);
  });

  it('tells how many engine processes ended, also where the agent began to count again', () => {
    const exits = (before: number, now: number) =>
      growthOf(read(0, 1, { restarts: before }), read(60, 2, { restarts: now }))?.minute.exits;
    expect([exits(2, 2), exits(2, 5), exits(4, 1)]).to.deep.equal([0, 3, 1]);
  });

  it('finds a component whose name is that of a property of all objects', () => {
    const named = (received: number) => ({ components: [{ ...component(received), id: 'constructor' }] });
    const growth = growthOf(read(0, 5, named(5)), read(60, 25, named(25)));
    expect(growth?.minute.components.get('constructor')?.[0]).to.equal(20);
  });

  /** Engines one after another, each with counters that grow, read at random times, and now and then not for long. */
  const life = fc.array(
    fc.record({
      reads: fc.array(
        fc.record({
          after: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 61, max: 9_000 })),
          events: fc.nat(1e6),
        }),
        { minLength: 1, maxLength: 20 },
      ),
      how: fc.constantFrom('process', 'version', 'uptime'),
    }),
    { minLength: 1, maxLength: 6 },
  );

  it('sums up to what all engines have counted, whatever the readings and restarts', () => {
    fc.assert(
      fc.property(life, (engines) => {
        let [base, seconds, counted, expected]: [Base | null, number, number, number] = [null, 0, 0, 0];
        let [pid, version] = [1, 1];
        for (const { reads, how } of engines) {
          if (how === 'process') pid += 1;
          if (how === 'version') version += 1;
          let [events, uptimeSeconds] = [0, 0];
          for (const { after, events: more } of reads) {
            seconds += after;
            uptimeSeconds += after;
            events += more;
            // An engine that is recognized by its uptime alone has to be younger than the one before.
            const isHidden =
              how === 'uptime' && base !== null && uptimeSeconds >= (base.uptimeSeconds ?? 0) - 2;
            if (isHidden && uptimeSeconds === after) return;
            const reading = read(seconds, events, { pid, version, uptimeSeconds });
            counted += eventsOf(growthOf(base, reading));
            if (base !== null || uptimeSeconds <= 90) expected += more;
            base = reading;
          }
        }
        expect(counted).to.be.closeTo(expected, Math.max(1e-6, expected * 1e-9));
      }),
      { numRuns: 300 },
    );
  });

  it('has the true rate in every minute, however unevenly the engine is read', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 2, maxLength: 60 }), (gaps) => {
        let base: Base | null = null;
        let seconds = 0;
        for (const gap of gaps) {
          seconds += gap;
          const reading = read(seconds, seconds * 7);
          const growth = growthOf(base, reading);
          if (growth) expect((growth.minute.counters[0] ?? 0) / growth.minute.seconds).to.be.closeTo(7, 1e-9);
          base = reading;
        }
      }),
    );
  });
});
