/**
 * Heartbeats with five pipelines each, against a bare Koa route that stores every row of them in the same Postgres: the first
 * of each node, what a steady fleet sends, and as many as go in. Engines restart in one heartbeat of a hundred. Afterwards the
 * stored state and the time when each node was heard are compared with what it sent last.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../../controller/database/connect.ts';
import type { TestDb } from '../../support/harness/test-db.ts';
import { type Child, startBare, startController } from '../child.ts';
import { type BenchFleet, makeFleet } from '../fleet.ts';
import { drive } from '../load.ts';
import { cpuMs, cpuMsOfTree } from '../machine.ts';
import type { RowOptions } from '../options.ts';
import { postmasterOf } from '../postgres-of.ts';
import { profileFolder } from '../profile.ts';
import { heartbeatWriter } from '../requests.ts';
import { median, ms, percent, percentile, type Result, type Say, whole } from '../result.ts';
import { storedOtherwise } from '../stored.ts';

const ROUNDS = 3;
const ROUND_SECONDS = 4;
const STEADY_SECONDS = 20;
const SETTLE_SECONDS = 210;
/** A fifth of the fleet at a 5 s poll: both sides can keep up with it. */
const STEADY_SHARE = 0.2;
const CONNECTIONS = 64;
const GOALS = { first: 1.5, steady: 0.5, taken: 0.8 };
const STORED_LIMIT_MS = 30_000;
/** A prime, so that it is another node each time. */
const STATE_CHANGES_EVERY = 101;

interface Side {
  child: Child;
  postmaster: number;
  db: TestDb;
  /** The table and column that tell when a node was heard. */
  heard: [table: string, column: string];
  /** By node: what it sent last. */
  restarts: Int32Array;
  sentAt: Float64Array;
  turn: number;
  perSecond: number[];
  cost: { first: Cost; steady: Cost[] };
}

/** CPU microseconds a heartbeat. */
interface Cost {
  server: number;
  postgres: number;
}
const NONE: Cost = { server: 0, postgres: 0 };

export async function heartbeats(say: Say, options: RowOptions): Promise<Result[]> {
  say('heartbeat: making a fleet …');
  const fleet = await makeFleet({ nodes: options.nodes });
  const ends: (() => Promise<unknown>)[] = [() => fleet.remove()];
  try {
    const bareUrl = await fleet.copy();
    const postmaster = await postmasterOf(fleet);
    const open = async (url: string, child: Child, heard: Side['heard']): Promise<Side> => {
      ends.push(() => child.stop());
      const db = connect(url, { poolSize: 1 });
      ends.push(() => db.destroy());
      const count = fleet.nodes.length;
      return {
        ...{ child, postmaster, db, heard, turn: -1, perSecond: [], cost: { first: NONE, steady: [] } },
        ...{ restarts: new Int32Array(count), sentAt: new Float64Array(count) },
      };
    };
    const profile = options.profile ? profileFolder() : undefined;
    if (profile) ends.push(async () => say(`the controller in row heartbeat, ${profile.summary()}`));
    const headgate = await open(
      fleet.url,
      await startController(join(fleet.folder, 'data'), {
        variables: { HEADGATE_DATABASE_URL: fleet.url },
        profileDir: profile?.path,
      }),
      ['node_presence', 'heard_at'],
    );
    const bare = await open(bareUrl, await startBare('heartbeat', { BARE_DATABASE_URL: bareUrl }), [
      'node_reports',
      'reported_at',
    ]);
    for (const side of [headgate, bare]) side.cost.first = await costOf(side, fleet, firsts);
    say(`  heartbeats: every node has sent its first; ${SETTLE_SECONDS} s until their minute is stored`);
    await sleep(SETTLE_SECONDS * 1_000);
    const rounds = async (what: string, work: (side: Side) => Promise<unknown>) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const side of round % 2 === 0 ? [headgate, bare] : [bare, headgate]) await work(side);
        say(`  heartbeats, ${what}: round ${round + 1} of ${ROUNDS}`);
      }
    };
    await rounds('steady', async (side) => side.cost.steady.push(await costOf(side, fleet, steadily)));
    await rounds('as many as go in', (side) => measure(side, fleet));
    const whatIsStored = await compareStored(headgate, fleet);
    const atRate = await atFleetRate(headgate, fleet, say);
    return [
      costs(
        'first heartbeats of all nodes: CPU of server and Postgres',
        GOALS.first,
        [headgate.cost.first],
        [bare.cost.first],
      ),
      costs(
        'steady heartbeats: CPU of server and Postgres',
        GOALS.steady,
        headgate.cost.steady,
        bare.cost.steady,
      ),
      ratio(headgate, bare),
      ...whatIsStored,
      atRate,
    ];
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

const firsts = (fleet: BenchFleet) => ({ seconds: 120, count: fleet.nodes.length });
const steadily = (fleet: BenchFleet) => ({
  seconds: STEADY_SECONDS,
  rate: (STEADY_SHARE * fleet.nodes.length) / 5,
  /** These nodes send, each every 5 s. */
  nodes: Math.round(STEADY_SHARE * fleet.nodes.length),
});

/** What each heartbeat costs, until the last one is stored. */
async function costOf(side: Side, fleet: BenchFleet, loadOf: (fleet: BenchFleet) => LoadOf): Promise<Cost> {
  const before = { server: cpuMs(side.child.pid), postgres: cpuMsOfTree(side.postmaster) };
  const { requests } = await send(side, fleet, loadOf(fleet));
  await untilStored(side, fleet);
  return {
    server: ((cpuMs(side.child.pid) - before.server) * 1_000) / requests,
    postgres: ((cpuMsOfTree(side.postmaster) - before.postgres) * 1_000) / requests,
  };
}

/** One round: as many as go in, then until all of it is in the database. */
async function measure(side: Side, fleet: BenchFleet): Promise<void> {
  const startedAt = performance.now();
  const { requests } = await send(side, fleet, { seconds: ROUND_SECONDS });
  await untilStored(side, fleet);
  side.perSecond.push(requests / ((performance.now() - startedAt) / 1_000));
}

interface LoadOf {
  seconds: number;
  rate?: number;
  count?: number;
  nodes?: number;
}

async function send(side: Side, fleet: BenchFleet, { nodes = fleet.nodes.length, ...load }: LoadOf) {
  const write = heartbeatWriter(fleet.environments[0]!.pipelineIds);
  const outcome = await drive({
    ...load,
    port: side.child.port,
    connections: CONNECTIONS,
    next() {
      side.turn += 1;
      const index = side.turn % nodes;
      if (side.turn % STATE_CHANGES_EVERY === 0) side.restarts[index]! += 1;
      side.sentAt[index] = Date.now();
      return write(fleet.nodes[index]!, side.turn, side.restarts[index]);
    },
  });
  if (outcome.statuses.get(200) !== outcome.requests) {
    throw new Error(`expected 200 everywhere, got ${JSON.stringify([...outcome.statuses])}`);
  }
  return outcome;
}

/** The nodes that were not heard since they sent last. */
async function unheard({ db, heard: [table, column], sentAt }: Side, fleet: BenchFleet): Promise<number> {
  const rows: { node_id: string; at: Date }[] = await db(table).select({ node_id: 'node_id', at: column });
  const stored = new Map(rows.map(({ node_id, at }) => [node_id, at.getTime()]));
  return fleet.nodes.filter(({ id }, index) => (stored.get(id) ?? 0) < sentAt[index]!).length;
}

/** Batches are stored in the order of their heartbeats: with the last one, all others are. */
async function untilStored(side: Side, fleet: BenchFleet): Promise<void> {
  const [table, column] = side.heard;
  const last = side.sentAt.indexOf(Math.max(...side.sentAt));
  const deadline = performance.now() + STORED_LIMIT_MS;
  while (performance.now() < deadline) {
    const row = await side.db(table).where({ node_id: fleet.nodes[last]!.id }).first({ at: column });
    if (row && row.at.getTime() >= side.sentAt[last]!) return;
    await sleep(50);
  }
  throw new Error(`heartbeats were not all stored within ${STORED_LIMIT_MS / 1_000} s`);
}

function costs(what: string, goal: number, ours: readonly Cost[], theirs: readonly Cost[]): Result {
  const middle = (all: readonly Cost[]) => ({
    server: median(all.map(({ server }) => server)),
    postgres: median(all.map(({ postgres }) => postgres)),
  });
  const [headgate, bare] = [middle(ours), middle(theirs)];
  const sum = ({ server, postgres }: Cost) => server + postgres;
  const share = sum(headgate) / sum(bare);
  const text = ({ server, postgres }: Cost) => `${server.toFixed(0)} + ${postgres.toFixed(0)}`;
  return {
    what,
    goal: `≤ ${percent(goal)} of bare Koa`,
    measured: `${percent(share)}: ${text(headgate)} against ${text(bare)} µs a heartbeat`,
    ok: share <= goal,
  };
}

function ratio(headgate: Side, bare: Side): Result {
  const ours = median(headgate.perSecond);
  const theirs = median(bare.perSecond);
  return {
    what: 'heartbeats, as many as go in, until all are stored',
    goal: `≥ ${percent(GOALS.taken)} of bare Koa`,
    measured: `${percent(ours / theirs)}: ${whole(ours)} against ${whole(theirs)} a second`,
    ok: ours / theirs >= GOALS.taken,
  };
}

async function compareStored(side: Side, fleet: BenchFleet): Promise<Result[]> {
  const differences = await storedOtherwise(side.db, fleet.nodes, (index) => side.restarts[index]);
  const missed = await unheard(side, fleet);
  return [
    {
      what: 'stored rows whose state is not what the node sent last',
      goal: '0',
      measured: `${differences} of ${whole(fleet.nodes.length * 5)}`,
      ok: differences === 0,
    },
    {
      what: 'nodes that are not stored as heard since they sent last',
      goal: '0',
      measured: `${missed} of ${whole(fleet.nodes.length)}`,
      ok: missed === 0,
    },
  ];
}

/** What the whole fleet sends at a 5 s poll, evenly spread. */
async function atFleetRate(side: Side, fleet: BenchFleet, say: Say): Promise<Result> {
  const rate = fleet.nodes.length / 5;
  say(`  heartbeats: ${rate} a second for 10 s`);
  const { latencies } = await send(side, fleet, { seconds: 10, rate });
  await untilStored(side, fleet);
  const p99 = percentile(latencies, 0.99);
  return {
    what: `heartbeats of ${whole(fleet.nodes.length)} nodes at a 5 s poll (${whole(rate)} a second)`,
    goal: 'p99 < 100 ms',
    measured: `p50 ${ms(percentile(latencies, 0.5))}, p99 ${ms(p99)}, longest ${ms(percentile(latencies, 1))}`,
    ok: p99 < 100,
  };
}
