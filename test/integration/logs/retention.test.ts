/** Days of log lines come and go with the clock, and replicas that do the same at once do not clash. */
import { expect } from 'chai';
import { dayOf } from '../../../controller/database/day-partitions.ts';
import { limitLogSize, maintainLogDays } from '../../../controller/fleet/logs/index.ts';
import { insertLines, logDays } from '../../../controller/fleet/logs/store.ts';
import { writeSetting } from '../../../controller/platform/runtime/settings-store.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import { QUIET, useEachPlatform } from '../../support/harness/platform.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('the retention of log lines', () => {
  const platform = useEachPlatform();
  let clock: ReturnType<typeof manualClock>;

  beforeEach(() => {
    clock = manualClock(Date.parse('2026-11-20T22:30:00Z'));
  });

  const keep = () => maintainLogDays({ db: platform.db, clock, log: QUIET });
  const write = (line: string) =>
    insertLines(platform.db, [
      { receivedAt: new Date(clock.now()), nodeId: 'n', pipelineId: 'p', level: 'INFO', line },
    ]);
  const lines = (): Promise<string[]> => platform.db('log_lines').orderBy('seq').pluck('line');
  const days = async (): Promise<string[]> =>
    (
      await platform.db.raw(
        `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = 'log_lines'::regclass ORDER BY 1`,
      )
    ).rows.map(({ name }: { name: string }) => name);

  it('makes today and two days ahead, by UTC', async () => {
    await keep();
    expect(await days()).to.deep.equal(['log_lines_20261120', 'log_lines_20261121', 'log_lines_20261122']);
    clock.advance(2 * HOUR_MS);
    await keep();
    expect(await days()).to.deep.equal([
      'log_lines_20261120',
      'log_lines_20261121',
      'log_lines_20261122',
      'log_lines_20261123',
    ]);
  });

  it('drops a day once its last line is three days old, and not before', async () => {
    await keep();
    await write('old');
    clock.advance(1.5 * HOUR_MS - 1);
    await write('last of its day');
    clock.advance(3 * DAY_MS);
    await keep();
    expect(await lines()).to.deep.equal(['old', 'last of its day']);
    clock.advance(1);
    await keep();
    expect(await lines()).to.deep.equal([]);
    expect((await days())[0]).to.equal('log_lines_20261121');
  });

  it('keeps to the setting', async () => {
    await writeSetting(platform.db, 'fleet', { logsRetentionDays: 10 });
    await keep();
    await write('kept');
    clock.advance(9 * DAY_MS);
    await keep();
    expect(await lines()).to.deep.equal(['kept']);
    await writeSetting(platform.db, 'fleet', { logsRetentionDays: 1 });
    await keep();
    expect(await lines()).to.deep.equal([]);
  });

  describe('by their size', () => {
    const limit = () => limitLogSize({ db: platform.db, clock, log: QUIET });
    /** Some 4 MiB of a day, which compression does not make smaller. */
    const fill = (line: string) =>
      platform.db.raw(
        `INSERT INTO log_lines (received_at, node_id, pipeline_id, level, line)
         SELECT ?, 'n', 'p', 'INFO', ? || string_agg(md5(n::text || m::text), '') FROM
           generate_series(1, 1300) n, generate_series(1, 100) m GROUP BY n`,
        [new Date(clock.now()), line],
      );
    const firsts = async () => [...new Set((await lines()).map((line) => line.split(':')[0]))].sort();

    it('drops the oldest day once all together are larger than the setting, and no more than that', async () => {
      await writeSetting(platform.db, 'fleet', { logsMibTotal: 11, logsRetentionDays: 30 });
      await keep();
      await fill('oldest:');
      clock.advance(DAY_MS);
      await keep();
      await fill('newer:');
      await limit();
      expect(await firsts()).to.deep.equal(['newer', 'oldest']);
      clock.advance(DAY_MS);
      await keep();
      await fill('today:');
      await Promise.all([limit(), limit()]);
      expect(await firsts()).to.deep.equal(['newer', 'today']);
    });

    it('drops today too where it alone is too large, and goes on storing', async () => {
      await writeSetting(platform.db, 'fleet', { logsMibTotal: 3 });
      await keep();
      await fill('flood:');
      await limit();
      expect(await lines()).to.deep.equal([]);
      await write('after');
      await limit();
      expect(await lines()).to.deep.equal(['after']);
    });
  });

  it('has all at once in several replicas, with lines coming in', async () => {
    await keep();
    clock.advance(10 * DAY_MS);
    await logDays.ensure(platform.db, [dayOf(clock.now())]);
    await Promise.all([keep(), keep(), keep(), keep(), write('a'), write('b'), keep()]);
    expect((await lines()).sort()).to.deep.equal(['a', 'b']);
    expect(await days()).to.deep.equal(['log_lines_20261130', 'log_lines_20261201', 'log_lines_20261202']);
  });

  it('has indexes, defaults and checks on every day', async () => {
    await keep();
    await write('x');
    const { rows } = await platform.db.raw(
      `SELECT indexdef FROM pg_indexes WHERE tablename = 'log_lines_20261120' ORDER BY 1`,
    );
    expect(rows.map(({ indexdef }: { indexdef: string }) => indexdef.replace(/.* USING /, ''))).to.deep.equal(
      ['btree (node_id, seq DESC)', 'btree (pipeline_id, seq DESC)'],
    );
    const error = await platform
      .db('log_lines')
      .insert({
        received_at: new Date(clock.now()),
        node_id: 'n',
        pipeline_id: 'p',
        level: 'LOUD',
        line: 'x',
      })
      .then(
        () => null,
        (thrown: Error) => thrown,
      );
    expect(error?.message).to.include('check constraint');
  });
});
