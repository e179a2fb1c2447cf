/** How well anomalies of labelled series are found, beside a plain three-sigma rule, and what a pass over many pipelines costs. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Knex } from 'knex';
import { connect } from '../../../controller/database/connect.ts';
import { dayOf } from '../../../controller/database/day-partitions.ts';
import { createAnomalyPass } from '../../../controller/insight/anomalies/index.ts';
import { postgresMinutes } from '../../../controller/insight/telemetry/index.ts';
import { PACKED_TABLES } from '../../../controller/insight/telemetry/minutes/packing-store.ts';
import { MINUTE_TABLES } from '../../../controller/insight/telemetry/minutes/postgres-store.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { newId } from '../../../controller/platform/operation/ids.ts';
import { createBus } from '../../../controller/platform/runtime/bus.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { writeSetting } from '../../../controller/platform/runtime/settings-store.ts';
import { type ManualClock, manualClock } from '../../../reconcilers/loops/clock.ts';
import { makeSet } from '../../support/fixtures/anomaly-series.ts';
import {
  type Counted,
  count,
  type Detector,
  headgate,
  precisionOf,
  recallOf,
  threeSigma,
} from '../../support/fixtures/replay-series.ts';
import { makeDatabase } from '../database.ts';
import { ms, type Result, type Say, whole } from '../result.ts';

const SERIES_PER_KIND = 20;
const SEED = 2_026;
const GOAL = { recall: 0.9, precision: 0.8 };
const PIPELINES = 1_000;
const LONG_DAYS = 90;
const MINUTE_DAYS = 8;
/** Pipelines of which the last half hour is another. */
const UNUSUAL = 100;
const MAX_HOLD_MS = 50;
const HOUR_MS = 3_600_000;
const QUIET = createLogger('silent');

export async function anomalies(say: Say): Promise<Result[]> {
  return [...quality(say), ...(await passes(say))];
}

function quality(say: Say): Result[] {
  const set = makeSet(SERIES_PER_KIND, { seed: SEED });
  const quiet = makeSet(SERIES_PER_KIND, { seed: SEED + 1, isQuiet: true });
  say(`anomalies: replaying ${whole(set.length + quiet.length)} series of two weeks …`);
  const steady = quiet.filter(({ labels }) => labels.length === 0);
  const of = (detector: Detector) => ({
    counted: count(set, detector),
    falseAlarms: count(steady, detector).alarms / (steady.length * 7),
  });
  const [ours, plain] = [of(headgate()), of(threeSigma)];
  const text = (counted: Counted) =>
    `recall ${recallOf(counted).toFixed(2)}, precision ${precisionOf(counted).toFixed(2)}`;
  return [
    {
      what: `anomalies of ${whole(set.length)} labelled series (${whole(ours.counted.labels)} labels)`,
      goal: `recall ≥ ${GOAL.recall}, precision ≥ ${GOAL.precision}`,
      measured: `${text(ours.counted)}; plain three sigma ${text(plain.counted)}`,
      ok: recallOf(ours.counted) >= GOAL.recall && precisionOf(ours.counted) >= GOAL.precision,
    },
    {
      what: 'alarms of a series in which nothing is unusual',
      goal: '',
      measured: `one in ${whole(1 / ours.falseAlarms)} days; plain three sigma ${plain.falseAlarms.toFixed(1)} a day`,
      ok: null,
    },
  ];
}

async function passes(say: Say): Promise<Result[]> {
  const database = await makeDatabase();
  const db = connect(database.url, { poolSize: 2 });
  const bus = createBus({ url: database.url, log: QUIET });
  try {
    say(
      `anomalies: ${LONG_DAYS} days of ${whole(PIPELINES)} pipelines by the hour, ${MINUTE_DAYS} by the minute …`,
    );
    const clock = manualClock(Math.floor(Date.now() / HOUR_MS) * HOUR_MS + HOUR_MS / 3);
    await writeTraffic(db, clock.now());
    await db.raw('VACUUM ANALYZE');
    const context = {
      ...{ db, clock, log: QUIET, signal: new AbortController().signal, requestId: 'bench', ipAddress: null },
      ...{ actor: { type: 'system', name: 'bench' }, services: { bus, minutes: postgresMinutes } },
    } as unknown as Context;
    const pass = createAnomalyPass();
    const results: Result[] = [];
    const measure = async (what: string) => {
      say(`anomalies: ${what} …`);
      results.push(await measured(what, () => pass.run(context)));
    };
    await measure('the first pass of an hour, 7 days');
    await measure('another pass of that hour');
    await makeUnusual(db, clock);
    await measure(`a pass that finds ${UNUSUAL} of them unusual`);
    await writeSetting(db, 'anomalies', { baselineWindowDays: LONG_DAYS });
    await measure(`the first pass of an hour, ${LONG_DAYS} days`);
    return results;
  } finally {
    await bus.stop();
    await db.destroy();
    await database.remove();
  }
}

async function measured(
  what: string,
  run: () => Promise<{ pipelines: number; found: number }>,
): Promise<Result> {
  const turns = watchTurns();
  const startedAt = performance.now();
  const used = process.cpuUsage();
  const { pipelines, found } = await run();
  const took = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(used);
  const { heldMs, cpuMs } = turns.stop();
  return {
    what: `anomalies of ${whole(pipelines)} pipelines: ${what}`,
    goal: `event loop never held > ${MAX_HOLD_MS} ms of CPU`,
    measured: `${ms(took)}, ${ms((user + system) / 1_000)} CPU of the controller, ${whole(found)} found; held ${ms(cpuMs)} of CPU at most, ${ms(heldMs)} by the clock`,
    ok: cpuMs <= MAX_HOLD_MS,
  };
}

/** The longest turn of the event loop: by the clock, which sees other processes too, and by the CPU time of this thread. */
function watchTurns(): { stop(): { heldMs: number; cpuMs: number } } {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const usedMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let [before, longest] = [usedMs(), 0];
  const timer = setInterval(() => {
    const now = usedMs();
    longest = Math.max(longest, now - before);
    before = now;
  }, 1);
  delay.enable();
  return {
    stop() {
      clearInterval(timer);
      delay.disable();
      return { heldMs: delay.max / 1e6, cpuMs: longest };
    },
  };
}

async function writeTraffic(db: Knex, now: number): Promise<void> {
  const [teamId, environmentId, nodeId] = [newId(), newId(), newId()];
  await db('teams').insert({ id: teamId, name: 'bench' });
  await db('environments').insert({ id: environmentId, team_id: teamId, name: 'bench' });
  await db('nodes').insert({ id: nodeId, environment_id: environmentId, name: 'n', host: 'n' });
  const days = Array.from({ length: MINUTE_DAYS + 2 }, (_, day) => dayOf(now + HOUR_MS * 24 * (1 - day)));
  await MINUTE_TABLES.pipeline_minutes.ensure(db, days);
  await PACKED_TABLES.pipeline_minutes.ensure(db, days);
  const bindings = {
    ...{ environmentId, nodeId, ids: Array.from({ length: PIPELINES }, () => newId()), now: new Date(now) },
    ...{ hours: LONG_DAYS * 24, minuteHours: MINUTE_DAYS * 24 },
  };
  const hour = `date_trunc('hour', :now::timestamptz, 'UTC')`;
  // A season of the day and some noise, whose phase differs from pipeline to pipeline.
  const rate = (time: string) =>
    `100 * (1 + 0.5 * sin(extract(epoch FROM ${time}) / 13751 + hashtext(id) % 7)) * (0.95 + 0.1 * random())`;
  const columns = 'seconds, nodes, events_in, errors, latency_sum, latency_count';
  for (const statement of [
    `INSERT INTO pipelines (id, environment_id, name, is_draft) SELECT id, :environmentId, id, false FROM unnest(:ids::text[]) id`,
    `INSERT INTO pipeline_versions (id, pipeline_id, version, config_yaml, log_level, graph_nodes, graph_edges, global_config, source)
     SELECT id, id, 1, '', 'info', '[]', '[]', '{}', 'ui' FROM unnest(:ids::text[]) id`,
    `UPDATE pipelines SET deployed_version_id = id`,
    `UPDATE pipeline_deploys SET deployed_at = :now::timestamptz - interval '100 days'`,
    `INSERT INTO series_readings (node_id, pipeline_id, read_at, reading)
     SELECT :nodeId, id, :now, '{}' FROM unnest(:ids::text[]) id`,
    `INSERT INTO pipeline_hours (pipeline_id, environment_id, hour, ${columns})
     SELECT id, :environmentId, at, 3600, 0, 3600 * ${rate('at')}, random(), 4 + random(), 1
     FROM unnest(:ids::text[]) id, generate_series(${hour} - :hours * interval '1 hour', ${hour}, '1 hour') at`,
    `INSERT INTO packed_pipeline_minutes (pipeline_id, hour, ${columns}, events_out, bytes_in, bytes_out, discarded, exits,
       utilization)
     SELECT id, at, s, n, e, z, l, n, z, z, z, z, z, z FROM unnest(:ids::text[]) id,
       generate_series(${hour} - :minuteHours * interval '1 hour', ${hour} - interval '2 hours', '1 hour') at,
       LATERAL (SELECT array_fill(60::real, ARRAY[60]) AS s, array_fill(1::real, ARRAY[60]) AS n,
         array_fill(0::real, ARRAY[60]) AS z, array_agg((60 * ${rate('at')} + 0 * m)::real) AS e,
         array_agg((4 + random() + 0 * m)::real) AS l FROM generate_series(1, 60) m) minutes`,
    `INSERT INTO pipeline_minutes (pipeline_id, minute, ${columns})
     SELECT id, at, 60, 1, 60 * ${rate('at')}, 0, 4 + random(), 1 FROM unnest(:ids::text[]) id,
       generate_series(${hour} - interval '1 hour', :now::timestamptz - interval '1 minute', '1 minute') at`,
  ])
    await db.raw(statement, bindings);
}

async function makeUnusual(db: Knex, clock: ManualClock): Promise<void> {
  await db.raw(
    `UPDATE pipeline_minutes SET events_in = events_in * 4 WHERE minute >= ?::timestamptz - interval '40 minutes'
       AND pipeline_id IN (SELECT id FROM pipelines ORDER BY id LIMIT ?)`,
    [new Date(clock.now()), UNUSUAL],
  );
}
