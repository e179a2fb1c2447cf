/**
 * What a fleet under way sees of faults: the controller is killed and started again, Postgres is killed, Postgres is
 * held for half a minute. At the end every stored row is compared with what its node sent last.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, type ControllerOptions, startController } from '../child.ts';
import { select, statusesOf, statusText } from '../figures.ts';
import { type BenchFleet, makeFleet, NODES } from '../fleet.ts';
import { ADMIN, watchHealth, wrongVerdicts } from '../health-watch.ts';
import type { RowOptions } from '../options.ts';
import { holdPostgres, killPostgres } from '../postgres-of.ts';
import { type Result, type Say, whole } from '../result.ts';
import { type Swarm, startSwarm } from '../swarm/client.ts';
import { clock } from '../swarm/messages.ts';
import { HEARTBEAT, POLL, type SampleArrays } from '../swarm/samples.ts';
import { peakOverMean, secondsToRecover, secondsUntilAllBack, worstSecondMs } from '../windows.ts';
import { stored, untilStored } from './fleet.ts';

const ENVIRONMENTS = 20;
const STREAMS_SHARE = 0.1;
const WARM_UP_MS = 15_000;
/** Without a fault, before the first. */
const CALM_MS = 20_000;
const AWAY_MS = 5_000;
const HOLD_MS = 30_000;
const WATCHED_MS = 40_000;
const LIMIT_MS = 100;
/** Three missed polls. */
const SILENT_MS = 15_000;

export async function recovery(say: Say, options: RowOptions): Promise<Result[]> {
  const nodes = options.nodes ?? NODES;
  say(`recovery: making ${whole(nodes)} nodes …`);
  const fleet = await makeFleet({ nodes, environments: ENVIRONMENTS });
  const started: Child[] = [];
  const start = async (given: ControllerOptions = {}) => {
    const controller = await startController(fleet.dataDir, { variables: ADMIN, ...given });
    started.push(controller);
    return controller;
  };
  let swarm: Swarm | undefined;
  try {
    const first = await start();
    swarm = await startSwarm({ port: first.port, nodes: fleet.nodes, streams: nodes * STREAMS_SHARE });
    swarm.steady();
    await sleep(WARM_UP_MS);
    await swarm.report();
    const calmFrom = clock();
    await sleep(CALM_MS);
    const calm = (await swarm.report()).samples;
    const calmMs = worstSecondMs(calm, calmFrom, calmFrom + CALM_MS);
    const watch = watchHealth(fleet, first.port);
    const parts: SampleArrays[] = [calm];
    const results: Result[] = [];
    const phase = async (what: string, measure: (swarm: Swarm) => Promise<[SampleArrays, Result[]]>) => {
      say(`  ${what}`);
      const [samples, told] = await measure(swarm!);
      parts.push(samples);
      results.push(...told);
    };
    await phase('the controller is killed', (to) =>
      controllerKilled(fleet, to, first, () => start({ port: first.port })),
    );
    await phase('Postgres is killed', (to) =>
      postgresAway(fleet, to, calmMs, 'killed', () => killPostgres(fleet)),
    );
    await phase(`Postgres is held for ${HOLD_MS / 1_000} s`, (to) =>
      postgresAway(fleet, to, calmMs, 'held for 30 s', () =>
        holdPostgres(fleet, async () => void (await sleep(HOLD_MS))),
      ),
    );
    await watch.stop();
    await swarm.halt();
    const last = await swarm.report();
    const wrong = wrongVerdicts(fleet, watch.verdicts, parts, SILENT_MS);
    return [
      ...results,
      {
        what: '… called UNREACHABLE within 15 s of an accepted heartbeat',
        goal: '0',
        measured: `${whole(wrong)} nodes, of ${watch.answers()} lists of ${whole(nodes / ENVIRONMENTS)}`,
        ok: wrong === 0,
      },
      stored(fleet, await untilStored(fleet, last)),
      {
        what: '… ends of the controller that nobody asked for',
        goal: '0',
        measured: String(started.at(-1)?.isGone() ? 1 : 0),
        ok: started.at(-1)?.isGone() === false,
      },
    ];
  } finally {
    await swarm?.end();
    for (const child of started) await child.stop();
    await fleet.remove();
  }
}

async function controllerKilled(
  fleet: BenchFleet,
  swarm: Swarm,
  controller: Child,
  start: () => Promise<Child>,
): Promise<[SampleArrays, Result[]]> {
  await swarm.report();
  await controller.stop('SIGKILL');
  await sleep(AWAY_MS);
  const startedAt = clock();
  await start();
  const answersAt = clock();
  await sleep(WATCHED_MS);
  const { samples, streamsOpen } = await swarm.report();
  const nodes = fleet.nodes.length;
  const polled = secondsUntilAllBack(samples, POLL, nodes, startedAt);
  const beaten = secondsUntilAllBack(samples, HEARTBEAT, nodes, startedAt);
  const wave = peakOverMean(samples, answersAt, answersAt + WATCHED_MS);
  const steady = secondsToRecover(samples, startedAt, startedAt + WATCHED_MS, LIMIT_MS);
  const wanted = Math.floor(nodes * STREAMS_SHARE);
  return [
    samples,
    [
      {
        what: `controller of ${whole(nodes)} nodes killed, started 5 s later: all have polled, sent a heartbeat`,
        goal: '< 90 s',
        measured: `${seconds(polled)}, ${seconds(beaten)} after the start; p99 < ${LIMIT_MS} ms after ${seconds(steady)}`,
        ok: Math.max(polled, beaten) < 90,
      },
      {
        what: '… requests in the busiest 100 ms against the mean',
        goal: '< 3',
        measured: wave.toFixed(1),
        ok: wave < 3,
      },
      {
        what: '… push streams open again',
        goal: 'all',
        measured: `${whole(streamsOpen)} of ${whole(wanted)}`,
        ok: streamsOpen === wanted,
      },
    ],
  ];
}

async function postgresAway(
  fleet: BenchFleet,
  swarm: Swarm,
  calmMs: number,
  what: string,
  fault: () => Promise<void>,
): Promise<[SampleArrays, Result[]]> {
  await swarm.report();
  const faultAt = clock();
  await fault();
  // Held, it is the end of the fault that counts; killed, its beginning.
  const from = what === 'killed' ? faultAt : clock();
  const until = from + WATCHED_MS;
  await sleep(until - clock());
  const { samples } = await swarm.report();
  const recovered = secondsToRecover(samples, from, until, LIMIT_MS);
  const asBefore = secondsToRecover(samples, from, until, calmMs);
  const bad = (kind: number) =>
    statusText(
      statusesOf(
        samples,
        select(samples, (at) => samples.kind[at] === kind && ![200, 304].includes(samples.status[at]!)),
      ),
    );
  const polls = bad(POLL);
  return [
    samples,
    [
      {
        what: `Postgres ${what} under ${whole(fleet.nodes.length)} nodes: p99 < ${LIMIT_MS} ms again`,
        goal: '< 10 s',
        measured: `after ${seconds(recovered)}`,
        ok: recovered < 10,
      },
      {
        what: '… no second worse than the worst of 20 s before any fault',
        goal: '',
        measured: `after ${seconds(asBefore)}; that one had a p99 of ${whole(calmMs)} ms`,
        ok: null,
      },
      { what: '… config polls not answered', goal: 'none', measured: polls, ok: polls === 'none' },
      { what: '… heartbeats not answered with 200', goal: '', measured: bad(HEARTBEAT), ok: null },
    ],
  ];
}

const seconds = (value: number): string => (Number.isFinite(value) ? `${value.toFixed(1)} s` : 'not in time');
