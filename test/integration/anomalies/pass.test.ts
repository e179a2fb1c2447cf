/** The pass over all pipelines that compares what they do with what they usually do. */
import { expect } from 'chai';
import type { Knex } from 'knex';
import { createAnomalyPass } from '../../../controller/insight/anomalies/index.ts';
import { postgresMinutes } from '../../../controller/insight/telemetry/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import type { PublishedSignal } from '../../../controller/platform/runtime/bus.ts';
import { writeSetting } from '../../../controller/platform/runtime/settings-store.ts';
import { type ManualClock, manualClock } from '../../../reconcilers/loops/clock.ts';
import { useEachPlatform } from '../../support/harness/platform.ts';
import { insertEnvironment, statementsOf } from '../../support/scenes/fleet-parts.ts';
import {
  changeMinutes,
  type DeployedPipeline,
  insertDeployed,
  recordDays,
  type Traffic,
} from '../../support/scenes/usual-traffic.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Twenty past ten: the baseline of the hour stays the same for some passes. */
const NOW = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + 20 * MINUTE_MS;

describe('the pass over metrics', () => {
  const platform = useEachPlatform();
  let clock: ManualClock;
  let pass: ReturnType<typeof createAnomalyPass>;
  let signals: PublishedSignal[];
  let orders: DeployedPipeline;
  let environmentId: string;

  beforeEach(async () => {
    clock = manualClock(NOW);
    pass = createAnomalyPass();
    signals = [];
    context().services.bus.on('ui', (signal) => signals.push(signal));
    environmentId = await insertEnvironment(platform);
    orders = await insertDeployed(platform.db, environmentId, NOW);
    await recordDays(platform.db, [orders], { at: NOW });
  });

  function context(more: Partial<Context> = {}): Context {
    const ctx = platform.context({ type: 'system', name: 'test' });
    return { ...ctx, clock, services: { ...ctx.services, minutes: postgresMinutes }, ...more };
  }
  const run = () => pass.run(context());
  const rows = (): Promise<Record<string, unknown>[]> => platform.db('anomalies').orderBy('id');
  const one = async () => {
    const all = await rows();
    expect(all).to.have.length(1);
    return all[0]!;
  };
  /** The last half hour of a pipeline, as seen at this time. */
  const recently = (traffic: Traffic | null, { pipelineId }: DeployedPipeline = orders, minutes = 33) =>
    changeMinutes(platform.db, pipelineId, { at: clock.now(), minutes }, traffic);
  /** Five minutes later, in which the traffic was this. */
  async function later(traffic: Traffic, minutes = 5): Promise<void> {
    const since = clock.now();
    clock.advance(minutes * MINUTE_MS);
    const { eventsPerSecond = 100, errorsPerSecond = 0.5, latencyMs = 4 } = traffic;
    await platform.db.raw(
      `INSERT INTO pipeline_minutes (pipeline_id, minute, seconds, nodes, events_in, errors, latency_sum, latency_count)
       SELECT ?, ?::timestamptz + m * interval '1 minute', 60, 1, ?, ?, ?, 1 FROM generate_series(0, ?::int) m`,
      [
        orders.pipelineId,
        new Date(since),
        eventsPerSecond * 60,
        errorsPerSecond * 60,
        latencyMs,
        minutes - 1,
      ],
    );
  }

  it('finds nothing in what is usual', async () => {
    expect(await run()).to.deep.equal({ pipelines: 1, found: 0 });
    expect(await rows()).to.deep.equal([]);
    expect(signals).to.deep.equal([]);
  });

  it('finds a drop, with what was expected and the version and commit before it, and pages are notified', async () => {
    await recently({ eventsPerSecond: 20 });
    expect(await run()).to.deep.equal({ pipelines: 1, found: 1 });
    const found = await one();
    expect(found).to.deep.include({
      ...{ environment_id: environmentId, pipeline_id: orders.pipelineId, metric: 'eventsIn' },
      ...{ direction: 'down', severity: 'critical', status: 'open', ended_at: null },
      ...{ version: 7, commit_sha: 'c0ffee'.padEnd(40, '0') },
    });
    expect(found.value).to.be.closeTo(20, 0.01);
    expect(found.expected_low).to.be.within(75, 95);
    expect(found.expected_high).to.be.within(105, 125);
    expect(signals).to.deep.equal([{ type: 'ui', environmentId, topics: ['anomalies'] }]);
  });

  it('finds each metric by itself: errors and latency that rise', async () => {
    await recently({ errorsPerSecond: 30, latencyMs: 40 });
    await run();
    const found = await rows();
    expect(found.map(({ metric, direction }) => `${metric} ${direction}`).sort()).to.deep.equal([
      'errors up',
      'latency up',
    ]);
  });

  it('updates what goes on, whose severity may rise and does not fall', async () => {
    await recently({ eventsPerSecond: 83 });
    await run();
    const first = await one();
    expect(first.severity).to.equal('warning');
    for (const [eventsPerSecond, severity] of [
      [20, 'critical'],
      [83, 'critical'],
    ] as const) {
      await later({ eventsPerSecond }, 10);
      await run();
      const now = await one();
      expect(now).to.deep.include({ id: first.id, severity, started_at: first.started_at });
      expect((now.last_seen_at as Date).getTime()).to.equal(clock.now());
      expect(now.value, 'of the worst moment').to.be.closeTo(20, 1);
    }
    expect(signals, 'of the new one and of the rise').to.have.length(2);
  });

  it('ends what two passes have not seen, and takes it up again within the window', async () => {
    await recently({ eventsPerSecond: 20 });
    await run();
    const seen = (await one()).last_seen_at;
    await later({});
    await later({});
    await run();
    await later({});
    await run();
    expect((await one()).ended_at).to.deep.equal(seen);
    await later({ eventsPerSecond: 20 }, 30);
    await run();
    expect(await one()).to.deep.include({ ended_at: null, status: 'open' });
  });

  it('makes another one after the window', async () => {
    await recently({ eventsPerSecond: 20 });
    await run();
    await platform.db('anomalies').update({ last_seen_at: new Date(clock.now() - 4.1 * HOUR_MS) });
    await run();
    expect(await rows()).to.have.length(2);
  });

  it('is quiet about what was dismissed, for the window, and updates what was acknowledged', async () => {
    await recently({ eventsPerSecond: 20 });
    await run();
    const decide = (status: string, hoursAgo: number) =>
      platform
        .db('anomalies')
        .update({ status, decided_at: new Date(clock.now() - hoursAgo * HOUR_MS), decided_by: 'somebody' });
    await decide('acknowledged', 5);
    await run();
    expect((await one()).status).to.equal('acknowledged');
    await decide('dismissed', 3.9);
    await later({ eventsPerSecond: 20 });
    await run();
    const dismissed = await one();
    expect(dismissed.status).to.equal('dismissed');
    expect((dismissed.last_seen_at as Date).getTime(), 'not seen again').to.be.below(clock.now());
    await decide('dismissed', 4.1);
    await run();
    expect((await rows()).map(({ status }) => status)).to.deep.equal(['dismissed', 'open']);
  });

  it('leaves out pipelines whose nodes are all in maintenance, and drops where some are', async () => {
    await recently({ eventsPerSecond: 20, errorsPerSecond: 30 });
    await platform.db('nodes').update({ maintenance: true });
    expect((await run()).found).to.equal(0);
    const nodeId = 'a second node';
    await platform.db('nodes').insert({ id: nodeId, environment_id: environmentId, name: 'n', host: 'n' });
    await platform.db('series_readings').insert({
      ...{ node_id: nodeId, pipeline_id: orders.pipelineId, read_at: new Date(NOW), reading: '{}' },
    });
    await run();
    expect((await one()).metric).to.equal('errors');
    await platform.db('nodes').update({ maintenance: false });
    await run();
    expect((await rows()).map(({ metric }) => metric).sort()).to.deep.equal(['errors', 'eventsIn']);
  });

  it('leaves out fifteen minutes after a deploy, and names that deploy afterwards', async () => {
    const deploy = (minutesAgo: number) =>
      platform.db('pipeline_deploys').insert({
        ...{ pipeline_id: orders.pipelineId, version: 8, commit_sha: 'beef'.padEnd(40, '0') },
        deployed_at: new Date(clock.now() - minutesAgo * MINUTE_MS),
      });
    await recently({ eventsPerSecond: 20 });
    await deploy(14);
    expect((await run()).found).to.equal(0);
    await later({ eventsPerSecond: 20 }, 25);
    await run();
    expect(await one()).to.include({ version: 8, commit_sha: 'beef'.padEnd(40, '0') });
  });

  it('takes silence for no zero, and zero events for what they are', async () => {
    await recently(null);
    expect((await run()).found).to.equal(0);
    await later({ eventsPerSecond: 0 }, 30);
    await run();
    expect(await one()).to.include({ metric: 'eventsIn', value: 0, direction: 'down' });
  });

  it('says nothing of what is common at this time of the day', async () => {
    await recently({ eventsPerSecond: 300 });
    for (const day of [1, 2, 3])
      await platform.db.raw(
        `UPDATE pipeline_minutes SET events_in = 310 * 60 WHERE minute >= ?::timestamptz AND minute < ?::timestamptz`,
        [new Date(NOW - day * 24 * HOUR_MS - 40 * MINUTE_MS), new Date(NOW - day * 24 * HOUR_MS)],
      );
    expect((await run()).found).to.equal(0);
    await recently({ eventsPerSecond: 700 });
    expect((await run()).found).to.equal(1);
  });

  it('looks at drafts, deleted pipelines and young ones not at all', async () => {
    await recently({ eventsPerSecond: 20 });
    await platform.db('pipelines').update({ tombstoned_at: new Date() });
    expect(await run()).to.deep.equal({ pipelines: 0, found: 0 });
    await platform.db('pipelines').update({ tombstoned_at: null });
    await platform
      .db('pipeline_hours')
      .where('hour', '<', new Date(NOW - 20 * HOUR_MS))
      .delete();
    expect(await run()).to.deep.equal({ pipelines: 1, found: 0 });
  });

  it('does as the settings say', async () => {
    await recently({ eventsPerSecond: 80 });
    const set = (config: object) => writeSetting(platform.db, 'anomalies', config);
    await set({ enabledMetrics: 'errors,latency' });
    expect((await run()).found).to.equal(0);
    await set({ enabledMetrics: '' });
    expect(await run()).to.deep.equal({ pipelines: 0, found: 0 });
    await set({ sigmaThreshold: 10 });
    expect((await run()).found).to.equal(0);
    await set({ minStddevFloorPercent: 50 });
    expect((await run()).found).to.equal(0);
    await set({});
    expect((await run()).found).to.equal(1);
  });

  it('goes on after a restart where it was', async () => {
    await recently({ eventsPerSecond: 20 });
    await run();
    const { id } = await one();
    pass = createAnomalyPass();
    await later({ eventsPerSecond: 20 });
    await run();
    expect((await one()).id).to.equal(id);
  });

  it('writes nothing once the lease is lost', async () => {
    await recently({ eventsPerSecond: 20 });
    const fence = async () => {
      throw new Error('the lease is lost');
    };
    const failure = await pass.run(context({ fence })).catch((error: Error) => error.message);
    expect(failure).to.equal('the lease is lost');
    expect(await rows()).to.deep.equal([]);
  });

  it('keeps environments apart, and makes as many statements for many pipelines as for one', async function () {
    this.timeout(60_000);
    const other = await insertEnvironment(platform);
    const count = async () => (await statementsOf(platform, run)).length;
    await recently({ eventsPerSecond: 20 });
    const few = await count();
    const more: DeployedPipeline[] = [];
    for (let n = 0; n < 12; n += 1)
      more.push(await insertDeployed(platform.db, n % 2 === 0 ? environmentId : other, NOW));
    await recordDays(platform.db, more, { at: NOW });
    for (const pipeline of more.slice(0, 6)) await recently({ eventsPerSecond: 500 }, pipeline);
    signals.length = 0;
    pass = createAnomalyPass();
    expect(await count()).to.equal(few);
    const found = await rows();
    const of = (id: string) => found.filter(({ environment_id }) => environment_id === id).length;
    expect([of(environmentId), of(other)]).to.deep.equal([4, 3]);
    const notified = signals.map((signal) => (signal as { environmentId: string }).environmentId);
    expect(new Set(notified)).to.deep.equal(new Set([environmentId, other]));
    expect(await count(), 'with known baselines, and without news').to.equal(few - 2);
  });

  it('is not started on what another pass has deleted meanwhile', async () => {
    await recently({ eventsPerSecond: 20 });
    const db = platform.db as Knex;
    const fence = async (tx: Knex) => {
      await tx('pipelines').where({ id: orders.pipelineId }).delete();
    };
    await pass.run(context({ db, fence }));
    expect(await rows()).to.deep.equal([]);
  });
});
