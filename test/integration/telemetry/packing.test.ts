/** Hours of minutes that are over are packed: the same is read before and after. */
import { expect } from 'chai';
import fc from 'fast-check';
import { dayAfter, dayOf } from '../../../controller/database/day-partitions.ts';
import { maintainMetricDays, packMinutes } from '../../../controller/insight/telemetry/index.ts';
import {
  type MinuteTable,
  minutesOf,
  PACKED_TABLES,
} from '../../../controller/insight/telemetry/minutes/packing-store.ts';
import { MINUTE_TABLES } from '../../../controller/insight/telemetry/minutes/postgres-store.ts';
import { type ManualClock, manualClock } from '../../../reconcilers/loops/clock.ts';
import { QUIET, usePlatform } from '../../support/harness/platform.ts';

/** Three hours around midnight, which lie in two days. */
const START = Date.parse('2026-11-22T22:00:00Z');
const HOUR_MS = 3_600_000;
const TABLES = Object.keys(MINUTE_TABLES) as MinuteTable[];

type Row = Record<string, unknown>;

describe('packed hours of metrics', function () {
  this.timeout(60_000);
  const platform = usePlatform();
  let clock: ManualClock;

  before(async () => {
    for (const table of Object.values(MINUTE_TABLES))
      await table.ensure(platform.db, [dayOf(START), dayAfter(dayOf(START))]);
  });
  beforeEach(async () => {
    clock = manualClock(START);
    for (const table of TABLES)
      for (const name of [table, `packed_${table}`]) await platform.db.raw('TRUNCATE ??', [name]);
  });

  const pack = () => packMinutes({ db: platform.db, clock, log: QUIET });
  const count = async (table: string): Promise<number> => (await platform.db(table)).length;
  /** All that is read of a table, by key and minute; numbers as precise as packed ones. */
  async function read(table: MinuteTable, from = START, to = START + 24 * HOUR_MS): Promise<Row[]> {
    const { rows } = await platform.db.raw<{ rows: Row[] }>(
      `SELECT * FROM ${minutesOf(table, 'true')} m WHERE m.minute >= :from AND m.minute < :to`,
      {
        from: new Date(from),
        to: new Date(to),
      },
    );
    return rows
      .map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            name,
            typeof value === 'number' ? Math.fround(value) : value,
          ]),
        ),
      )
      .sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
  }
  const textOf = (row: Row) =>
    ['node_id', 'pipeline_id', 'component_id', 'minute']
      .map((name) => JSON.stringify(row[name] ?? ''))
      .join(' ');

  const amount = fc.oneof(
    fc.constant(0),
    fc.integer({ min: 1, max: 1_000_000 }),
    fc.double({ min: 0.001, max: 1e12, noNaN: true }),
  );
  const gauge = fc.option(fc.double({ min: 0.001, max: 1, noNaN: true }));
  const point = fc.record({
    minute: fc.integer({ min: 0, max: 179 }),
    series: fc.integer({ min: 0, max: 4 }),
    amounts: fc.array(amount, { minLength: 6, maxLength: 6 }),
    utilization: gauge,
  });

  const measures = ({ amounts, utilization }: { amounts: number[]; utilization: number | null }): Row => ({
    ...{ seconds: 60, nodes: 1, events_in: amounts[0], events_out: amounts[1], bytes_in: amounts[2] },
    ...{ bytes_out: amounts[3], errors: amounts[4], discarded: amounts[5], exits: 0 },
    ...{ latency_sum: 2.5, latency_count: utilization === null ? 0 : 1, utilization },
  });
  type Point = { minute: number; series: number; amounts: number[]; utilization: number | null };
  async function insert(points: readonly Point[]): Promise<void> {
    const distinct = [...new Map(points.map((one) => [`${one.minute} ${one.series}`, one])).values()];
    for (const one of distinct) {
      const minute = new Date(START + one.minute * 60_000);
      const [node, pipeline] = [`node-${one.series % 2}`, `pipeline-${one.series}`];
      const own = { minute, ...measures(one) };
      const add = (table: string, row: Row) => platform.db(table).insert(row).onConflict().ignore();
      await add('node_pipeline_minutes', { ...own, node_id: node, pipeline_id: pipeline });
      await add('pipeline_minutes', { ...own, pipeline_id: pipeline });
      await add('component_minutes', { ...own, pipeline_id: pipeline, component_id: 'out', kind: 'sink' });
      await add('node_minutes', {
        ...{ minute, node_id: pipeline, cpu_percent: one.utilization, memory_used_bytes: one.amounts[0] },
      });
    }
  }

  it('tell the same before and after, with gaps, and when they are packed again', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(point, { minLength: 1, maxLength: 60 }), async (points) => {
        for (const table of TABLES)
          for (const name of [table, `packed_${table}`]) await platform.db.raw('TRUNCATE ??', [name]);
        await insert(points);
        const before = await Promise.all(TABLES.map((table) => read(table)));
        clock = manualClock(START + 5 * HOUR_MS);
        expect(await pack()).to.be.above(0);
        for (const [index, table] of TABLES.entries()) {
          expect(await count(table), table).to.equal(0);
          expect(await read(table), table).to.deep.equal(before[index]);
        }
        expect(await pack()).to.equal(0);
        const [from, to] = [START + 30 * 60_000, START + 95 * 60_000];
        const within = before[1]?.filter(({ minute }) => Number(minute) >= from && Number(minute) < to);
        expect(await read('pipeline_minutes', from, to)).to.deep.equal(within);
      }),
      { numRuns: 8 },
    );
  });

  it('take up what comes late, and add it to what is there', async () => {
    const early = { minute: 3, series: 0, amounts: [10, 20, 30, 40, 0, 0], utilization: 0.5 };
    await insert([early]);
    clock = manualClock(START + 5 * HOUR_MS);
    await pack();
    await insert([
      { ...early, amounts: [1, 1, 1, 1, 1, 1], utilization: 0.75 },
      { ...early, minute: 4 },
    ]);
    await pack();
    const rows = await read('pipeline_minutes');
    expect(rows.map((row) => [row.events_in, row.errors, row.utilization, row.nodes])).to.deep.equal([
      [11, 1, 0.75, 2],
      [10, 0, 0.5, 1],
    ]);
    expect(await count('packed_pipeline_minutes')).to.equal(1);
  });

  it('hold what no single precision number can as the nearest one, and keep gaps', async () => {
    const point = { minute: 3, series: 0, amounts: [1e300, 1e-300, 5, 0, 0, 0], utilization: null };
    await insert([point, { ...point, series: 1, amounts: [7, 7, 7, 7, 7, 7] }]);
    clock = manualClock(START + 5 * HOUR_MS);
    await pack();
    const rows = await read('pipeline_minutes');
    expect(rows.map((row) => [row.events_in, row.events_out, row.bytes_in, row.utilization])).to.deep.equal([
      [Math.fround(3e38), 0, 5, null],
      [7, 7, 7, null],
    ]);
    expect((await read('node_minutes')).map((row) => [row.memory_used_bytes, row.load_avg1])).to.deep.equal([
      [Math.fround(3e38), null],
      [7, null],
    ]);
  });

  it('are left alone while they may still get points', async () => {
    await insert([{ minute: 3, series: 0, amounts: [1, 1, 1, 1, 1, 1], utilization: null }]);
    clock = manualClock(START + 2 * HOUR_MS - 1);
    expect(await pack()).to.equal(0);
    clock = manualClock(START + 2 * HOUR_MS);
    expect(await pack()).to.equal(4);
  });

  it('are dropped with their day', async () => {
    await insert([{ minute: 3, series: 0, amounts: [1, 1, 1, 1, 1, 1], utilization: null }]);
    clock = manualClock(START + 5 * HOUR_MS);
    await pack();
    clock = manualClock(START + 9 * 86_400_000);
    await maintainMetricDays({ db: platform.db, clock, log: QUIET });
    for (const [name, table] of Object.entries(PACKED_TABLES)) {
      expect(await count(`packed_${name}`), name).to.equal(0);
      expect(
        (await table.sizes(platform.db)).map(({ day }) => day),
        name,
      ).not.to.include(dayOf(START));
    }
  });
});
