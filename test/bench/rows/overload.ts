/**
 * One viewer searches the log of a node, 60 times at once and again as soon as all are answered, while nodes send heartbeats
 * and somebody else looks at pipelines: what these two notice of it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../../controller/database/connect.ts';
import { dayOf } from '../../../controller/database/day-partitions.ts';
import { type ApiClient, signIn } from '../../../controller/demo/client.ts';
import { logDays } from '../../../controller/fleet/logs/store.ts';
import { makeUser, PASSWORD } from '../../support/users/person.ts';
import { startController } from '../child.ts';
import { type BenchFleet, makeFleet } from '../fleet.ts';
import { drive } from '../load.ts';
import type { RowOptions } from '../options.ts';
import { heartbeatWriter } from '../requests.ts';
import { ms, percentile, type Result, type Say, whole } from '../result.ts';

const NODES = 500;
const LINES = 60_000;
const SEARCHES = 60;
const SECONDS = 20;
/** A second. */
const HEARTBEATS = 100;
const LISTS = 10;
/** A wave of searches that are all refused is followed by the next one after so long. */
const WAVE_MS = 1_000;
const GOAL_MS = 1_000;
const VIEWER = 'viewer@example.org';
const OTHER = 'other@example.org';

interface Asked {
  /** Milliseconds from when each was due. */
  latencies: number[];
  /** By status; 0 where no answer came. */
  statuses: Map<number, number>;
}

export async function overload(say: Say, options: RowOptions): Promise<Result[]> {
  say(`overload: ${whole(LINES)} log lines, ${SEARCHES} searches at once …`);
  const fleet = await makeFleet({ nodes: options.nodes ?? NODES });
  try {
    await writeLinesAndUsers(fleet);
    const controller = await startController(fleet.folder, {
      variables: { HEADGATE_DATABASE_URL: fleet.url },
    });
    try {
      const results = await measure(fleet, controller.port, options.seconds ?? SECONDS);
      const lost = controller.output().match(/lease not renewed|heartbeats not stored/g)?.length ?? 0;
      const what = 'of these, times that the lease was not renewed or heartbeats were not stored';
      return [...results, { what, goal: '0', measured: `${lost}`, ok: lost === 0 }];
    } finally {
      await controller.stop();
    }
  } finally {
    await fleet.remove();
  }
}

async function writeLinesAndUsers(fleet: BenchFleet): Promise<void> {
  const db = connect(fleet.url, { poolSize: 1 });
  try {
    const { team_id: teamId } = (await db('environments').first('team_id'))!;
    for (const email of [VIEWER, OTHER]) await makeUser(db, { email, teams: { [teamId]: 'VIEWER' } });
    await logDays.ensure(db, [dayOf(Date.now())]);
    await db.raw(
      `INSERT INTO log_lines (received_at, node_id, pipeline_id, level, line)
       SELECT now(), :nodeId, :pipelineId, 'INFO',
         now() || '  INFO vector::topology::running: Component ' || n || ' is running. component_kind="sink" component_id=out'
       FROM generate_series(1, :lines) n`,
      { nodeId: fleet.nodes[0]!.id, pipelineId: fleet.environments[0]!.pipelineIds[0]!, lines: LINES },
    );
    await db.raw('ANALYZE log_lines');
  } finally {
    await db.destroy();
  }
}

async function measure(fleet: BenchFleet, port: number, seconds: number): Promise<Result[]> {
  const url = `http://127.0.0.1:${port}`;
  const viewer = await signIn(url, VIEWER, PASSWORD);
  const other = await signIn(url, OTHER, PASSWORD);
  const endsAt = performance.now() + seconds * 1_000;
  const [searches, lists, beats] = await Promise.all([
    searchInWaves(viewer, fleet.nodes[0]!.id, endsAt),
    listAtRate(other, fleet.environments[0]!.id, endsAt),
    heartbeats(fleet, port, seconds),
  ]);
  const during = `while ${SEARCHES} searches over ${whole(LINES)} log lines run at once`;
  return [
    held(`pipeline.list of somebody else, ${LISTS} a second, ${during}`, lists),
    held(`heartbeats, ${HEARTBEATS} a second, ${during}`, beats),
    { what: 'the searches themselves', goal: '', measured: spelled(searches), ok: null },
  ];
}

async function searchInWaves(api: ApiClient, nodeId: string, endsAt: number): Promise<Asked> {
  const asked: Asked = { latencies: [], statuses: new Map() };
  while (performance.now() < endsAt) {
    const rest = sleep(WAVE_MS);
    await Promise.all(
      Array.from({ length: SEARCHES }, () =>
        note(
          asked,
          performance.now(),
          api.ask('fleet.nodeLogs', { nodeId, contains: 'nowhere to be found' }),
        ),
      ),
    );
    await rest;
  }
  return asked;
}

/** Whether or not earlier ones were answered, so that a stall is seen. */
async function listAtRate(api: ApiClient, environmentId: string, endsAt: number): Promise<Asked> {
  const asked: Asked = { latencies: [], statuses: new Map() };
  const startedAt = performance.now();
  const all: Promise<void>[] = [];
  for (let turn = 0; ; turn += 1) {
    const dueAt = startedAt + (turn * 1_000) / LISTS;
    if (dueAt >= endsAt) break;
    await sleep(Math.max(0, dueAt - performance.now()));
    all.push(note(asked, dueAt, api.ask('pipeline.list', { environmentId })));
  }
  await Promise.all(all);
  return asked;
}

async function note(asked: Asked, dueAt: number, call: Promise<Response>): Promise<void> {
  const status = await call.then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.status;
    },
    () => 0,
  );
  asked.latencies.push(performance.now() - dueAt);
  asked.statuses.set(status, (asked.statuses.get(status) ?? 0) + 1);
}

function heartbeats(fleet: BenchFleet, port: number, seconds: number): Promise<Asked> {
  const write = heartbeatWriter(fleet.environments[0]!.pipelineIds);
  let turn = 0;
  return drive({
    port,
    seconds,
    connections: 32,
    rate: HEARTBEATS,
    next() {
      turn += 1;
      return write(fleet.nodes[turn % fleet.nodes.length]!, turn);
    },
  });
}

function held(what: string, asked: Asked): Result {
  const failures = asked.latencies.length - (asked.statuses.get(200) ?? 0);
  const p99 = percentile(asked.latencies, 0.99);
  return {
    what,
    goal: `p99 < ${whole(GOAL_MS)} ms, all answered`,
    measured: spelled(asked),
    ok: failures === 0 && p99 < GOAL_MS,
  };
}

function spelled({ latencies, statuses }: Asked): string {
  const counts = [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${whole(count)} × ${status}`);
  return `p50 ${ms(percentile(latencies, 0.5))}, p99 ${ms(percentile(latencies, 0.99))}; ${counts.join(', ')}`;
}
