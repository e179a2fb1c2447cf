/** What it costs to record metrics, how much they take on disk, and how long it takes to read them. */
import type { Knex } from 'knex';
import { connect } from '../../../controller/database/connect.ts';
import { dayAfter, dayOf } from '../../../controller/database/day-partitions.ts';
import { type ApiClient, signIn } from '../../../controller/demo/client.ts';
import {
  createRecorder,
  maintainMetricDays,
  packMinutes,
} from '../../../controller/insight/telemetry/index.ts';
import { MINUTE_TABLES } from '../../../controller/insight/telemetry/minutes/postgres-store.ts';
import { newId } from '../../../controller/platform/operation/ids.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { manualClock, systemClock } from '../../../reconcilers/loops/clock.ts';
import { writeLargeFleet } from '../../support/scenes/large-fleet.ts';
import { startController } from '../child.ts';
import { makeFleet } from '../fleet.ts';
import { ADMIN } from '../health-watch.ts';
import { ms, percentile, type Result, type Say, whole } from '../result.ts';

const NODES = 1_000;
const PIPELINES = 10;
/** Of a chart: in one environment. */
const CHARTED = 1_000;
const CALLS = 15;
const WARM_UP_CALLS = 3;
const QUIET = createLogger('silent');

export async function metrics(say: Say): Promise<Result[]> {
  const fleet = await makeFleet({ nodes: 2_000 });
  const db = connect(fleet.url, { poolSize: 2 });
  try {
    await maintainMetricDays({ db, clock: systemClock, log: QUIET });
    say('metrics: recording three minutes of 2,000 nodes with 5 pipelines of 3 components …');
    const recorded = await recording(db, fleet);
    recorded.push(await packing(db, fleet));
    const { team_id: teamId } = (await db('environments').first('team_id'))!;
    const environmentId = newId();
    await db('environments').insert({ id: environmentId, team_id: teamId, name: 'metrics' });
    await writeLargeFleet(db, { environmentId, nodes: NODES, pipelines: PIPELINES });
    say(`metrics: a week of ${whole(CHARTED)} pipelines …`);
    const charted = newId();
    await db('environments').insert({ id: charted, team_id: teamId, name: 'charted' });
    const pipelineId = await writeWeek(db, charted);
    await packMinutes({ db, clock: systemClock, log: QUIET });
    await db.raw('VACUUM ANALYZE');
    const controller = await startController(fleet.folder, {
      variables: { HEADGATE_DATABASE_URL: fleet.url, ...ADMIN },
    });
    try {
      const url = `http://127.0.0.1:${controller.port}`;
      const api = await signIn(url, ADMIN.HEADGATE_ADMIN_EMAIL, ADMIN.HEADGATE_ADMIN_PASSWORD);
      return [
        ...recorded,
        await reading(api, 'metrics.getPipelineMetrics', { pipelineId, minutes: 10_080 }, 'seven days', 50),
        await reading(
          api,
          'dashboard.chartMetrics',
          { environmentId: charted, range: '7d', groupBy: 'pipeline' },
          `seven days of ${whole(CHARTED)} pipelines`,
          200,
        ),
        await reading(
          api,
          'dashboard.chartMetrics',
          { environmentId: charted, range: '7d' },
          `seven days of ${whole(CHARTED)} pipelines together`,
          200,
        ),
        await scraping(api, url, environmentId),
      ];
    } finally {
      await controller.stop();
    }
  } finally {
    await db.destroy();
    await fleet.remove();
  }
}

type Fleet = Awaited<ReturnType<typeof makeFleet>>;

/** Heartbeats every five seconds, of engines whose counters all grow. */
async function recording(db: Knex, fleet: Fleet): Promise<Result[]> {
  const clock = manualClock(Math.floor(Date.now() / 60_000) * 60_000 - 180_000);
  const recorder = createRecorder({ db, clock, log: QUIET });
  const environmentId = fleet.environments[0]!.id;
  const pipelineIds = fleet.environments[0]!.pipelineIds.slice(0, 5);
  const rowOf = (beat: number) => ({
    ...{ version: 1, pid: 1, uptimeSeconds: 10_000 + beat * 5, restarts: 0 },
    ...{ eventsIn: beat * 500, eventsOut: beat * 400, bytesIn: beat * 90_000, bytesOut: beat * 70_000 },
    ...{ errorsTotal: beat, eventsDiscarded: beat, utilization: 0.4, latencyMs: 1.5 },
    components: ['in', 'parse', 'out'].map((id) => ({
      ...{
        id,
        kind: 'transform',
        in: beat * 500,
        out: beat * 400,
        errors: beat,
        latency: 0.0015,
        utilization: 0.4,
      },
    })),
    componentBytes: [0, 1, 2].map(() => [beat * 90_000, beat * 70_000] as const),
  });
  let [beats, series, observing, storing] = [0, 0, 0, 0];
  const cpu = (since?: NodeJS.CpuUsage) => {
    const { user, system } = process.cpuUsage(since);
    return user + system;
  };
  for (let beat = 0; beat <= 36; beat += 1) {
    const at = clock.now();
    const reports = fleet.nodes.map(() => new Map(pipelineIds.map((id) => [id, { row: rowOf(beat), at }])));
    const before = process.cpuUsage();
    for (const [index, { id: nodeId }] of fleet.nodes.entries())
      recorder.observe({ nodeId, environmentId }, at, reports[index]!, { memoryUsedBytes: 5e9 });
    observing += cpu(before);
    beats += fleet.nodes.length;
    clock.advance(5_000);
    if (beat % 12 !== 1 || beat < 12) continue;
    const stored = process.cpuUsage();
    await recorder.flush();
    storing += cpu(stored);
    series += fleet.nodes.length * pipelineIds.length;
  }
  await recorder.stop();
  const perBeat = observing / beats;
  const perSeries = storing / series;
  return [
    {
      what: 'recording a heartbeat of 5 pipelines, CPU of the controller',
      goal: '',
      measured: `${perBeat.toFixed(0)} µs a heartbeat, and ${perSeries.toFixed(0)} µs a pipeline and minute: at a 5 s poll ${(perBeat + (perSeries * 5) / 12).toFixed(0)} µs a heartbeat`,
      ok: null,
    },
  ];
}

const PACKED = { nodes: 200, hours: 6 };
/** Seconds, nodes, six amounts, exits, latency and its count, utilization. */
const VALUES = 12;

/** Some hours of nodes with 5 pipelines each, whose counters and gauges vary by a tenth. */
async function packing(db: Knex, fleet: Fleet): Promise<Result> {
  const nodes = fleet.nodes.slice(0, PACKED.nodes).map(({ id }) => id);
  const varying = (mean: number) => `floor(${mean} * (0.95 + 0.1 * random()))`;
  const today = dayOf(Date.now());
  await MINUTE_TABLES.node_pipeline_minutes.ensure(db, [dayAfter(today, -1)]);
  await db.raw(
    `INSERT INTO node_pipeline_minutes (minute, node_id, pipeline_id, seconds, nodes, events_in, events_out, bytes_in,
       bytes_out, errors, discarded, exits, latency_sum, latency_count, utilization)
     SELECT ?::timestamptz + m * interval '1 minute', n, p, 60, 1, ${varying(30_000)}, ${varying(24_000)},
       ${varying(5e6)}, ${varying(4e6)}, 0, ${varying(12)}, 0, 1.5 + random(), 1, 0.4 + 0.1 * random()
     FROM unnest(?::text[]) n, unnest(?::text[]) p, generate_series(0, ${PACKED.hours * 60 - 1}) m`,
    [new Date(dayAfter(today, -1)), nodes, fleet.environments[0]!.pipelineIds.slice(0, 5)],
  );
  const startedAt = performance.now();
  const rows = await packMinutes({ db, clock: systemClock, log: QUIET });
  const tookMs = performance.now() - startedAt;
  await db.raw('CHECKPOINT');
  const { rows: sizes } = await db.raw<{ rows: { bytes: string }[] }>(
    `SELECT sum(pg_total_relation_size(i.inhrelid))::text AS bytes FROM pg_inherits i
     WHERE i.inhparent = 'packed_node_pipeline_minutes'::regclass`,
  );
  const bytes = Number(sizes[0]?.bytes) / (PACKED.nodes * 5 * PACKED.hours * 60 * VALUES);
  return {
    what: 'bytes on disk of a value, by minute, pipeline and node, once its hour is packed',
    goal: '≤ 4',
    measured: `${bytes.toFixed(1)}, index included; packing takes ${((tookMs * 1_000) / rows).toFixed(0)} µs a series and hour`,
    ok: bytes <= 4,
  };
}

/** Hours of each pipeline; minutes of one. Returns that one. */
async function writeWeek(db: Knex, environmentId: string): Promise<string> {
  const ids = Array.from({ length: CHARTED }, () => newId());
  await db.raw(
    `INSERT INTO pipelines (id, environment_id, name, managed_by, is_draft)
     SELECT id, ?, 'charted-' || place, 'ui', true FROM unnest(?::text[]) WITH ORDINALITY AS p (id, place)`,
    [environmentId, ids],
  );
  const amounts = `3600, 1, 1e6 * random(), 8e5 * random(), 1e8 * random(), 8e7 * random(), 10 * random(), 0`;
  const columns = 'seconds, nodes, events_in, events_out, bytes_in, bytes_out, errors, discarded';
  await db.raw(
    `INSERT INTO pipeline_hours (hour, environment_id, pipeline_id, ${columns})
     SELECT date_trunc('hour', now()) - h * interval '1 hour', ?, id, ${amounts}
     FROM unnest(?::text[]) AS p (id), generate_series(0, 168) h`,
    [environmentId, ids],
  );
  const days = Array.from({ length: 9 }, (_, index) => Date.now() - index * 86_400_000);
  await MINUTE_TABLES.pipeline_minutes.ensure(db, days.map(dayOf));
  const [first = ''] = ids;
  await db.raw(
    `INSERT INTO pipeline_minutes (minute, pipeline_id, ${columns})
     SELECT date_trunc('minute', now()) - m * interval '1 minute', ?, ${amounts} FROM generate_series(0, 10080) m`,
    [first],
  );
  return first;
}

async function reading(
  api: ApiClient,
  procedure: string,
  input: object,
  of: string,
  goalMs: number,
): Promise<Result> {
  const took: number[] = [];
  for (let call = 0; call < WARM_UP_CALLS + CALLS; call += 1) {
    const startedAt = performance.now();
    const answer = await api.ask(procedure, input);
    if (!answer.ok) throw new Error(`${procedure} answered ${answer.status}`);
    await answer.arrayBuffer();
    if (call >= WARM_UP_CALLS) took.push(performance.now() - startedAt);
  }
  const p50 = percentile(took, 0.5);
  return {
    what: `${procedure}, ${of}`,
    goal: `p50 < ${goalMs} ms`,
    measured: `p50 ${ms(p50)}, longest of ${CALLS} ${ms(Math.max(...took))}`,
    ok: p50 < goalMs,
  };
}

/** `/api/metrics` by key; meanwhile the health is asked for, which waits where the event loop is held. */
async function scraping(api: ApiClient, url: string, environmentId: string): Promise<Result> {
  const { key } = await api.mutate<{ key: string }>('serviceAccount.create', {
    ...{ environmentId, name: 'bench', permissions: ['metrics.read'] },
  });
  const took: number[] = [];
  const held: number[] = [];
  let lines = 0;
  for (let call = 0; call < CALLS; call += 1) {
    let isDone = false;
    const watching = (async () => {
      while (!isDone) {
        const startedAt = performance.now();
        await (await fetch(`${url}/schemas/v1/none.json`)).arrayBuffer();
        held.push(performance.now() - startedAt);
      }
    })();
    const startedAt = performance.now();
    const answer = await fetch(`${url}/api/metrics`, { headers: { authorization: `Bearer ${key}` } });
    lines = (await answer.text()).split('\n').length;
    took.push(performance.now() - startedAt);
    isDone = true;
    await watching;
  }
  const p50 = percentile(took, 0.5);
  const longest = Math.max(...held);
  return {
    what: `/api/metrics of ${whole(NODES)} nodes × ${PIPELINES} pipelines (${whole(lines)} lines)`,
    goal: '< 1 s, event loop never held > 50 ms',
    measured: `p50 ${ms(p50)}, longest ${ms(Math.max(...took))}; another request meanwhile waits ${ms(longest)} at most`,
    ok: Math.max(...took) < 1_000 && longest < 50,
  };
}
