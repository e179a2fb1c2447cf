/** Points a minute from what nodes report: with two controllers, restarts, gaps, and a database that goes away. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Knex } from 'knex';
import { createRecorder, maintainMetricDays } from '../../../controller/insight/telemetry/index.ts';
import { newId } from '../../../controller/platform/operation/ids.ts';
import { type ManualClock, manualClock } from '../../../reconcilers/loops/clock.ts';
import { QUIET, usePlatform } from '../../support/harness/platform.ts';
import { until } from '../../support/harness/until.ts';
import { type EnrolledNode, insertEnvironment, insertNodes } from '../../support/scenes/fleet-parts.ts';

const START = Date.parse('2026-11-23T09:00:00Z');

interface Reported {
  eventsIn: number;
  pid?: number | null;
  uptimeSeconds?: number | null;
  restarts?: number;
  latency?: number;
  utilization?: number;
}

const measured = ({
  eventsIn,
  pid = 1,
  uptimeSeconds = 10_000,
  restarts = 0,
  latency,
  utilization,
}: Reported) => ({
  ...{ version: 1, pid, uptimeSeconds, restarts, eventsIn, eventsOut: eventsIn / 2, bytesIn: eventsIn * 100 },
  ...{
    bytesOut: eventsIn * 10,
    errorsTotal: 0,
    eventsDiscarded: 0,
    utilization: utilization ?? null,
    latencyMs: latency === undefined ? null : latency * 1_000,
  },
  componentBytes: [[eventsIn * 100, 0]] as [number, number][],
  components: [
    { id: 'in', kind: 'source', in: eventsIn, out: eventsIn, errors: 0 },
    { id: 'parse', kind: 'transform', in: eventsIn, out: eventsIn, errors: 0, latency, utilization },
  ],
});

describe('the recorder of metrics', () => {
  const platform = usePlatform();
  let environmentId: string;
  let clock: ManualClock;
  let pipelineId: string;

  before(async () => {
    environmentId = await insertEnvironment(platform);
  });
  beforeEach(() => {
    clock = manualClock(START);
    pipelineId = newId();
  });

  const recorder = (db: Knex = platform.db) => createRecorder({ db, clock, log: QUIET });
  type Recorder = ReturnType<typeof recorder>;
  const aNode = async (): Promise<EnrolledNode> => {
    const [node] = await insertNodes(platform, environmentId, 1);
    if (!node) throw new Error('no node');
    return node;
  };
  const report = (to: Recorder, node: EnrolledNode, reported: Reported, host: Record<string, number> = {}) =>
    to.observe(
      node,
      clock.now(),
      new Map([[pipelineId, { row: measured(reported), at: clock.now() }]]),
      host,
    );
  const at = (seconds: number) => clock.advance(START + seconds * 1_000 - clock.now());
  const minutes = (table = 'pipeline_minutes') =>
    platform
      .db(table as 'pipeline_minutes')
      .where({ pipeline_id: pipelineId })
      .orderBy(table === 'component_minutes' ? ['component_id', 'minute'] : ['minute']) as Promise<
      Record<string, unknown>[]
    >;
  const hourSum = async () => {
    const rows = await platform.db('pipeline_hours').where({ pipeline_id: pipelineId });
    return rows.reduce((sum, { events_in }) => sum + events_in, 0);
  };

  it('stores a point once its minute is over, and the day that it needs', async () => {
    const [one, node] = [recorder(), await aNode()];
    at(10);
    report(one, node, { eventsIn: 1_000 });
    at(50);
    report(one, node, { eventsIn: 1_400 });
    await one.flush();
    expect(await minutes()).to.deep.equal([]);
    at(65);
    report(one, node, { eventsIn: 1_550 });
    at(115);
    report(one, node, { eventsIn: 2_000, latency: 0.004, utilization: 0.5 });
    at(125);
    report(one, node, { eventsIn: 2_100 });
    await one.flush();
    const [begun, first, ...more] = await minutes();
    expect(more).to.deep.equal([]);
    expect(begun).to.deep.include({ minute: new Date(START), seconds: 40, nodes: 1, events_in: 400 });
    expect(first).to.deep.include({
      minute: new Date(START + 60_000),
      seconds: 65,
      nodes: 1,
      events_in: 600,
    });
    expect(first).to.deep.include({ bytes_in: 60_000, events_out: 300, latency_sum: 4, latency_count: 1 });
    const components = await minutes('component_minutes');
    expect(components.map((row) => [row.component_id, row.kind, row.events_in, row.bytes_in])).to.deep.equal([
      ['in', 'source', 400, 40_000],
      ['in', 'source', 600, 60_000],
      ['parse', 'transform', 400, 0],
      ['parse', 'transform', 600, 0],
    ]);
    expect((await minutes('node_pipeline_minutes')).map((row) => row.node_id)).to.deep.equal([
      node.nodeId,
      node.nodeId,
    ]);
    await one.stop();
    expect(await hourSum()).to.equal(1_100);
  });

  it('stores by itself, spread over the minute', async () => {
    const [one, node] = [recorder(), await aNode()];
    report(one, node, { eventsIn: 0, uptimeSeconds: 5 });
    at(30);
    report(one, node, { eventsIn: 300, uptimeSeconds: 35 });
    at(61);
    report(one, node, { eventsIn: 600, uptimeSeconds: 66 });
    const stored = async () => {
      clock.advance(1_000);
      return (await minutes()).some(({ events_in }) => events_in === 300);
    };
    await until(stored, { what: 'the minute to be stored' });
    await one.stop();
  });

  it('ends the minute of a node that fell silent', async () => {
    const [one, node] = [recorder(), await aNode()];
    report(one, node, { eventsIn: 0, uptimeSeconds: 1 });
    at(40);
    report(one, node, { eventsIn: 400, uptimeSeconds: 41 });
    at(40 + 120);
    await one.flush();
    expect(await hourSum()).to.equal(400);
    await one.stop();
  });

  it('adds the nodes of a pipeline, so that its rate is that of all of them', async () => {
    const one = recorder();
    const nodes = await insertNodes(platform, environmentId, 3);
    for (const seconds of [50, 110, 130]) {
      at(seconds);
      for (const node of nodes) report(one, node, { eventsIn: seconds * 10 });
    }
    await one.flush();
    const [row] = await minutes();
    expect(row).to.deep.include({ nodes: 3, seconds: 180, events_in: 1_800 });
    await one.stop();
  });

  it('counts each event once where a node speaks to two controllers in turn', async () => {
    const [here, there, node] = [recorder(), recorder(), await aNode()];
    report(here, node, { eventsIn: 500 });
    await here.flush({ open: true });
    for (let beat = 1; beat <= 60; beat += 1) {
      at(beat * 15);
      report(beat % 3 === 0 ? here : there, node, { eventsIn: 500 + beat * 15 * 4 });
      if (beat % 5 === 0) await Promise.all([here.flush(), there.flush()]);
    }
    await Promise.all([here.stop(), there.stop()]);
    expect(await hourSum()).to.be.closeTo(60 * 15 * 4, 1e-6);
    const rows = await minutes();
    const rates = rows.map((row) => (Number(row.events_in) * Number(row.nodes)) / Number(row.seconds));
    for (const rate of rates) expect(rate).to.be.closeTo(4, 1e-9);
    expect(rows).to.have.length(15);
  });

  it('counts what two controllers and restarts bring in any order as a plain model does', async () => {
    const step = fc.record({
      after: fc.integer({ min: 2, max: 80 }),
      events: fc.nat(10_000),
      to: fc.boolean(),
      restart: fc.boolean(),
      flush: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        pipelineId = newId();
        const [here, there, node] = [recorder(), recorder(), await aNode()];
        let [events, pid, expected, upSince] = [0, 1, 0, clock.now()];
        for (const [index, { after, events: more, to, restart, flush }] of steps.entries()) {
          // Both controllers see the end of an engine: what only one of them knows is lost with the process.
          if (restart) for (const one of [here, there]) await one.flush({ open: true });
          if (restart) [events, pid, upSince] = [0, pid + 1, clock.now()];
          clock.advance(after * 1_000);
          events += more;
          expected += more;
          const uptimeSeconds = (clock.now() - upSince) / 1_000;
          report(to ? here : there, node, { eventsIn: events, pid, uptimeSeconds });
          if (index === 0) await Promise.all([here.flush({ open: true }), there.flush({ open: true })]);
          if (flush) await Promise.all([here.flush(), there.flush()]);
        }
        await here.stop();
        await there.stop();
        expect(await hourSum()).to.be.closeTo(expected, Math.max(1e-6, expected * 1e-9));
      }),
      { numRuns: 15 },
    );
  });

  it('counts the exits of an engine that never runs long enough to be read, and nothing twice', async () => {
    const [one, node] = [recorder(), await aNode()];
    const crashed = (restarts: number, pid: number | null) => ({
      row: measured({ eventsIn: 1_000, restarts, pid, uptimeSeconds: pid === null ? null : 10_000 }),
      at: START,
    });
    const observe = (reported: ReturnType<typeof crashed>) =>
      one.observe(node, clock.now(), new Map([[pipelineId, reported]]), {});
    observe(crashed(0, 1));
    for (const [index, seconds] of [20, 50, 70, 110].entries()) {
      at(seconds);
      observe(crashed(index + 1, null));
    }
    at(150);
    report(one, node, { eventsIn: 300, restarts: 4, pid: 7, uptimeSeconds: 30 });
    await one.stop();
    const rows = await minutes();
    expect(rows.map(({ exits, events_in }) => [exits, events_in])).to.deep.equal([
      [2, 0],
      [2, 0],
      [0, 300],
    ]);
  });

  it('keeps readings while the database is away, and tells their sum once it is back', async () => {
    let isAway = false;
    const away = new Proxy(platform.db, {
      get: (db, name, receiver) =>
        name === 'transaction' && isAway
          ? () => Promise.reject(new Error('connection lost'))
          : Reflect.get(db, name, receiver),
    });
    const [one, node] = [recorder(away), await aNode()];
    report(one, node, { eventsIn: 0 });
    at(61);
    report(one, node, { eventsIn: 61 });
    await one.flush();
    isAway = true;
    for (let minute = 2; minute < 900; minute += 1) {
      at(minute * 60);
      report(one, node, { eventsIn: minute * 60 });
      if (minute % 100 === 0) await one.flush();
    }
    expect(one.sizes().waiting).to.be.at.most(700);
    isAway = false;
    await one.stop();
    expect(await hourSum()).to.be.closeTo(899 * 60, 1e-6);
  });

  it('keeps to what can be added up, whatever an agent reports', async () => {
    const [one, node] = [recorder(), await aNode()];
    report(one, node, { eventsIn: 0, uptimeSeconds: 1 });
    at(20);
    const huge = { eventsIn: Number.MAX_SAFE_INTEGER, latency: Number.MAX_VALUE, utilization: -5 };
    report(one, node, { ...huge, uptimeSeconds: 21, restarts: 2 ** 31 - 1 });
    await one.stop();
    const row = (await minutes()).at(-1);
    expect(row).to.deep.include({ exits: 10_000, latency_sum: 86_400_000, utilization: 0 });
  });

  it('stores the metrics of others where those of one node are refused', async () => {
    const one = recorder();
    const nodes = await insertNodes(platform, environmentId, 5);
    for (const node of nodes) report(one, node, { eventsIn: 0, uptimeSeconds: 1 });
    at(20);
    for (const [index, node] of nodes.entries()) {
      const row = measured({ eventsIn: 100, uptimeSeconds: 21 });
      // Postgres stores no text with this character.
      if (index === 2) row.components[0]!.kind = 'so\0urce';
      one.observe(node, clock.now(), new Map([[pipelineId, { row, at: clock.now() }]]), {});
    }
    await one.stop();
    const counted = await minutes('node_pipeline_minutes');
    expect(counted.filter((row) => row.events_in === 100)).to.have.length(4);
    expect(one.sizes().waiting).to.equal(0);
  });

  it('measures the host: busy share and rates of the minute, gauges as they were last', async () => {
    const [one, node] = [recorder(), await aNode()];
    const host = (seconds: number) => ({
      ...{ cpuSecondsTotal: seconds * 4, cpuSecondsIdle: seconds * 3, memoryUsedBytes: 1_000 + seconds },
      ...{ memoryTotalBytes: 8_000, loadAvg1: 1.5, netRxBytes: seconds * 50 },
    });
    for (const seconds of [50, 110, 130]) {
      at(seconds);
      report(one, node, { eventsIn: seconds }, host(seconds));
    }
    await one.flush();
    const rows = await platform.db('node_minutes').where({ node_id: node.nodeId }).orderBy('minute');
    expect(rows).to.have.length(2);
    expect(rows[1]).to.deep.include({
      cpu_percent: 25,
      memory_used_bytes: 1_110,
      net_rx_rate: 50,
      load_avg1: 1.5,
    });
    expect(rows[1]).to.deep.include({ fs_used_bytes: null, disk_read_rate: null });
    await one.stop();
  });

  it('forgets a node that is deleted, and stores nothing of it', async () => {
    const [one, node] = [recorder(), await aNode()];
    report(one, node, { eventsIn: 1, uptimeSeconds: 1 });
    await platform.db('nodes').where({ id: node.nodeId }).delete();
    await one.flush({ open: true });
    expect(await minutes()).to.deep.equal([]);
    one.forget(node.nodeId);
    expect(one.sizes()).to.deep.equal({ nodes: 0, series: 0, waiting: 0, bytes: 0 });
    await one.stop();
  });

  it('drops whole days by age: of details after two, of the others by the setting', async () => {
    await maintainMetricDays({ db: platform.db, clock, log: QUIET });
    const daysOf = async (table: string) => {
      const { rows } = await platform.db.raw<{ rows: { name: string }[] }>(
        `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = ?::regclass ORDER BY 1`,
        [table],
      );
      return rows.map(({ name }) => name.slice(-8));
    };
    const later = manualClock(START + 4 * 86_400_000);
    await maintainMetricDays({ db: platform.db, clock: later, log: QUIET });
    const details = await daysOf('component_minutes');
    expect([details[0], details.at(-1)]).to.deep.equal(['20261125', '20261129']);
    expect((await daysOf('pipeline_minutes'))[0]).to.equal('20261123');
  });
});
