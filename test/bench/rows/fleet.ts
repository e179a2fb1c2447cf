/**
 * A whole fleet against one controller with its embedded Postgres: every node polls and sends a heartbeat at its own
 * times. Afterwards every stored row is compared with what its node sent last.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../../controller/database/connect.ts';
import { until } from '../../support/harness/until.ts';
import { type Child, startController } from '../child.ts';
import { isGood, latenciesOf, latencyText, ownLag, select, statusesOf, statusText } from '../figures.ts';
import { type BenchFleet, makeFleet, NODES } from '../fleet.ts';
import { cpuMs, cpuMsOfTree, peakMemory, sharedOutMemory } from '../machine.ts';
import type { RowOptions } from '../options.ts';
import { postmasterOf } from '../postgres-of.ts';
import { profileFolder } from '../profile.ts';
import { megabytes, ms, percentile, type Result, type Say, whole } from '../result.ts';
import { storedOtherwise } from '../stored.ts';
import { startSwarm } from '../swarm/client.ts';
import type { SwarmReport } from '../swarm/messages.ts';
import { HEARTBEAT, POLL } from '../swarm/samples.ts';

const ENVIRONMENTS = 20;
const WARM_UP_SECONDS = 15;
const SECONDS = 60;
const GOAL_P99_MS = 100;
const GOAL_BYTES = 1024 ** 3;
/** Above this the generator was late itself, and the latencies say too much. */
const LAG_LIMIT_MS = 20;

export async function fleet(say: Say, options: RowOptions): Promise<Result[]> {
  const nodes = options.nodes ?? NODES;
  say(`fleet: making ${whole(nodes)} nodes …`);
  const fleet = await makeFleet({ nodes, environments: ENVIRONMENTS });
  const profile = options.profile ? profileFolder() : undefined;
  let controller: Child | undefined;
  try {
    controller = await startController(fleet.dataDir, { profileDir: profile?.path });
    const results = await measure(say, fleet, controller, options.seconds ?? SECONDS);
    await controller.stop();
    if (profile) say(`the controller in row fleet, ${profile.summary()}`);
    return results;
  } finally {
    await controller?.stop();
    await fleet.remove();
  }
}

async function measure(say: Say, fleet: BenchFleet, controller: Child, seconds: number): Promise<Result[]> {
  const swarm = await startSwarm({ port: controller.port, nodes: fleet.nodes });
  try {
    swarm.steady();
    say(`  ${WARM_UP_SECONDS} s to warm up, then ${seconds} s`);
    await sleep(WARM_UP_SECONDS * 1_000);
    const postmaster = await postmasterOf(fleet);
    await swarm.report();
    const before = { controller: cpuMs(controller.pid), postgres: cpuMsOfTree(postmaster) };
    const startedAt = performance.now();
    await sleep(seconds * 1_000);
    const report = await swarm.report();
    const tookMs = performance.now() - startedAt;
    const cores = {
      controller: (cpuMs(controller.pid) - before.controller) / tookMs,
      postgres: (cpuMsOfTree(postmaster) - before.postgres) / tookMs,
      generator: report.cpuMs / tookMs,
    };
    const memory = { controller: peakMemory(controller.pid), postgres: sharedOutMemory(postmaster) };
    await swarm.halt();
    const last = await swarm.report();
    const differences = await untilStored(fleet, last);
    return [
      ...latencies(fleet, report),
      unexpected(report),
      stored(fleet, differences),
      {
        what: '… memory: the controller at its peak, and Postgres',
        goal: '< 1 GB together',
        measured: `${megabytes(memory.controller)} and ${megabytes(memory.postgres)}`,
        ok: memory.controller + memory.postgres < GOAL_BYTES,
      },
      {
        what: '… cores: controller, Postgres, load generator',
        goal: '',
        measured: [cores.controller, cores.postgres, cores.generator]
          .map((value) => value.toFixed(2))
          .join(', '),
        ok: null,
      },
      generatorLag(report),
    ];
  } finally {
    await swarm.end();
  }
}

/** Rows that still differ when nothing has been written for a while, or none do. */
export async function untilStored(fleet: BenchFleet, last: SwarmReport): Promise<number> {
  const db = connect(fleet.url, { poolSize: 1 });
  try {
    let differences = Number.NaN;
    await until(
      async () => {
        differences = await storedOtherwise(db, fleet.nodes, (index) => {
          const restarts = last.accepted[index]!;
          return restarts < 0 ? undefined : restarts;
        });
        return differences === 0;
      },
      { what: 'all is stored', timeoutMs: 20_000, everyMs: 1_000 },
    ).catch(() => {});
    return differences;
  } finally {
    await db.destroy();
  }
}

function latencies(fleet: BenchFleet, { samples }: SwarmReport): Result[] {
  const load = `${whole(fleet.nodes.length)} nodes × 5 pipelines at a 5 s poll`;
  return (
    [
      [POLL, `${load}: config poll`],
      [HEARTBEAT, '… heartbeat'],
    ] as const
  ).map(([kind, what]) => {
    const taken = latenciesOf(
      samples,
      select(samples, (at) => samples.kind[at] === kind),
    );
    return {
      what,
      goal: `p99 < ${GOAL_P99_MS} ms`,
      measured: latencyText(taken),
      ok: percentile(taken, 0.99) < GOAL_P99_MS,
    };
  });
}

function unexpected({ samples }: SwarmReport): Result {
  const bad = select(samples, (at) => !isGood(samples.status[at]!));
  return {
    what: '… answers that are not 200 or 304',
    goal: '0',
    measured: `${statusText(statusesOf(samples, bad))} of ${whole(samples.kind.length)}`,
    ok: bad.length === 0,
  };
}

export function stored(fleet: BenchFleet, differences: number): Result {
  return {
    what: '… stored rows that are not what the node sent last',
    goal: '0',
    measured: `${whole(differences)} of ${whole(fleet.nodes.length * 5)}`,
    ok: differences === 0,
  };
}

function generatorLag({ samples }: SwarmReport): Result {
  const lag = ownLag(samples);
  const p99 = percentile(lag, 0.99);
  const late = p99 > LAG_LIMIT_MS ? '; it could not keep its times, the latencies above are too high' : '';
  return {
    what: '… how late the load generator itself was',
    goal: '',
    measured: `p50 ${ms(percentile(lag, 0.5))}, p99 ${ms(p99)}${late}`,
    ok: null,
  };
}
