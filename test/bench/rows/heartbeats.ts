/**
 * Heartbeats with five pipelines each, until the last of them is stored, against a bare Koa route that stores the same
 * rows in the same Postgres. Afterwards every stored row is compared with what its node sent last.
 */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../../controller/database/connect.ts';
import type { TestDb } from '../../support/harness/test-db.ts';
import { type Child, startBare, startController } from '../child.ts';
import { type BenchFleet, makeFleet } from '../fleet.ts';
import { drive } from '../load.ts';
import { cpuMs } from '../machine.ts';
import type { RowOptions } from '../options.ts';
import { profileFolder } from '../profile.ts';
import { COUNTER_BASE, heartbeatWriter } from '../requests.ts';
import { median, ms, percent, percentile, type Result, type Say, whole } from '../result.ts';
import { storedOtherwise, storedSum } from '../stored.ts';

const ROUNDS = 3;
const ROUND_SECONDS = 4;
const CONNECTIONS = 64;
const GOAL = 0.8;
const STORED_LIMIT_MS = 30_000;

interface Side {
  child: Child;
  db: TestDb;
  /** By node: the counter that it sent last. */
  sent: Int32Array;
  turn: number;
  perSecond: number[];
  cpuMicros: number[];
}

export async function heartbeats(say: Say, options: RowOptions): Promise<Result[]> {
  say('heartbeat: making a fleet …');
  const fleet = await makeFleet();
  const ends: (() => Promise<unknown>)[] = [() => fleet.remove()];
  try {
    const bareUrl = await fleet.copy();
    const open = async (url: string, child: Child): Promise<Side> => {
      ends.push(() => child.stop());
      const db = connect(url, { poolSize: 1 });
      ends.push(() => db.destroy());
      return { child, db, sent: new Int32Array(fleet.nodes.length), turn: 0, perSecond: [], cpuMicros: [] };
    };
    const dataDir = join(fleet.folder, 'data');
    const profile = options.profile ? profileFolder() : undefined;
    if (profile) ends.push(async () => say(`the controller in row heartbeat, ${profile.summary()}`));
    const headgate = await open(
      fleet.url,
      await startController(dataDir, {
        variables: { HEADGATE_DATABASE_URL: fleet.url },
        profileDir: profile?.path,
      }),
    );
    const bare = await open(bareUrl, await startBare('heartbeat', { BARE_DATABASE_URL: bareUrl }));
    for (let round = -1; round < ROUNDS; round += 1) {
      for (const side of round % 2 === 0 ? [headgate, bare] : [bare, headgate]) {
        await measure(side, fleet, round >= 0);
      }
      say(`  heartbeats: round ${round + 1} of ${ROUNDS}`);
    }
    const mismatches = await countMismatches(headgate, fleet);
    const steady = await atFleetRate(headgate, fleet, say);
    return [ratio(headgate, bare), ...mismatchResult(mismatches, fleet), steady];
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** One round: as many as go in, then until all of it is in the database. */
async function measure(side: Side, fleet: BenchFleet, counted: boolean): Promise<void> {
  const cpuBefore = cpuMs(side.child.pid);
  const startedAt = performance.now();
  const { requests } = await send(side, fleet, { seconds: ROUND_SECONDS });
  await untilStored(side);
  if (!counted) return;
  side.perSecond.push(requests / ((performance.now() - startedAt) / 1_000));
  side.cpuMicros.push(((cpuMs(side.child.pid) - cpuBefore) * 1_000) / requests);
}

async function send(side: Side, fleet: BenchFleet, load: { seconds: number; rate?: number }) {
  const write = heartbeatWriter(fleet.environments[0]!.pipelineIds);
  const outcome = await drive({
    ...load,
    port: side.child.port,
    connections: CONNECTIONS,
    next() {
      side.turn += 1;
      const index = side.turn % fleet.nodes.length;
      side.sent[index] = side.turn;
      return write(fleet.nodes[index]!, side.turn);
    },
  });
  if (outcome.statuses.get(200) !== outcome.requests) {
    throw new Error(`expected 200 everywhere, got ${JSON.stringify([...outcome.statuses])}`);
  }
  return outcome;
}

/** The newest counter in the database is the newest one sent, and none is missing from their sum. */
async function untilStored({ db, sent }: Side): Promise<void> {
  let expected = 0;
  for (const sequence of sent) expected += sequence > 0 ? sequence + COUNTER_BASE : 0;
  const deadline = performance.now() + STORED_LIMIT_MS;
  while (performance.now() < deadline) {
    if (Math.abs((await storedSum(db)) - expected) < 0.5) return;
    await sleep(200);
  }
  throw new Error(`heartbeats were not all stored within ${STORED_LIMIT_MS / 1_000} s`);
}

function ratio(headgate: Side, bare: Side): Result {
  const ours = median(headgate.perSecond);
  const theirs = median(bare.perSecond);
  return {
    what: 'heartbeats of 5 pipelines, all stored',
    goal: `≥ ${percent(GOAL)} of bare Koa`,
    measured:
      `${percent(ours / theirs)}: ${whole(ours)} against ${whole(theirs)} a second; ` +
      `CPU ${median(headgate.cpuMicros).toFixed(0)} against ${median(bare.cpuMicros).toFixed(0)} µs a heartbeat`,
    ok: ours / theirs >= GOAL,
  };
}

function countMismatches({ db, sent }: Side, fleet: BenchFleet): Promise<number> {
  return storedOtherwise(db, fleet.nodes, (index) => sent[index]!);
}

function mismatchResult(mismatches: number, fleet: BenchFleet): Result[] {
  const rows = whole(fleet.nodes.length * 5);
  return [
    {
      what: 'stored rows that are not what the node sent last',
      goal: '0',
      measured: `${mismatches} of ${rows}`,
      ok: mismatches === 0,
    },
  ];
}

/** What the whole fleet sends at a 5 s poll, evenly spread. */
async function atFleetRate(side: Side, fleet: BenchFleet, say: Say): Promise<Result> {
  const rate = fleet.nodes.length / 5;
  say(`  heartbeats: ${rate} a second for 10 s`);
  const { latencies } = await send(side, fleet, { seconds: 10, rate });
  await untilStored(side);
  const p99 = percentile(latencies, 0.99);
  return {
    what: `heartbeats of ${whole(fleet.nodes.length)} nodes at a 5 s poll (${whole(rate)} a second)`,
    goal: 'p99 < 100 ms',
    measured: `p50 ${ms(percentile(latencies, 0.5))}, p99 ${ms(p99)}, longest ${ms(percentile(latencies, 1))}`,
    ok: p99 < 100,
  };
}
