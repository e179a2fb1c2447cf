/**
 * Drives one HTTP server over kept-alive connections: as fast as it answers, at a fixed rate, or a fixed number of
 * requests.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, open } from './connection.ts';

export interface Load {
  port: number;
  connections: number;
  seconds: number;
  /** The bytes of the next request. */
  next(): Buffer;
  /** Called with each answer's status, in the order of the answers. */
  answered?(status: number): void;
  /**
   * Requests a second, sent when their time has come whether or not earlier ones were answered; latency counts from
   * that time, so a stalled server cannot hide its stall. Without it, every connection sends as fast as it is answered.
   */
  rate?: number;
  /** This many and no more; all are due at the start. The seconds are a limit then. */
  count?: number;
}

export interface Outcome {
  requests: number;
  seconds: number;
  /** By status. */
  statuses: Map<number, number>;
  /** Milliseconds from when the request was due to its whole answer. */
  latencies: number[];
}

interface Lane {
  connection: Connection;
  dueAt: number;
}

export async function drive(load: Load): Promise<Outcome> {
  const outcome: Outcome = { requests: 0, seconds: 0, statuses: new Map(), latencies: [] };
  const scheduled = load.rate !== undefined || load.count !== undefined;
  const due: number[] = [];
  const idle: Lane[] = [];
  const lanes = await Promise.all(
    Array.from({ length: load.connections }, async () => {
      const lane: Partial<Lane> = {};
      const answered = (status: number) => {
        outcome.requests += 1;
        outcome.statuses.set(status, (outcome.statuses.get(status) ?? 0) + 1);
        outcome.latencies.push(performance.now() - (lane.dueAt ?? 0));
        load.answered?.(status);
        pump(lane as Lane);
      };
      lane.connection = await open(load.port, { answered, closed: hungUp });
      return lane as Lane;
    }),
  );
  const startedAt = performance.now();
  const endsAt = startedAt + load.seconds * 1_000;
  let planned = load.count ?? 0;
  for (let request = 0; request < planned; request += 1) due.push(startedAt);

  function pump(lane: Lane): void {
    const now = performance.now();
    const dueAt = scheduled ? due.shift() : now < endsAt ? now : undefined;
    if (dueAt === undefined) {
      idle.push(lane);
      return;
    }
    lane.dueAt = dueAt;
    lane.connection.send(load.next());
  }

  for (const lane of lanes) pump(lane);
  while (performance.now() < endsAt && (load.count === undefined || outcome.requests < load.count)) {
    await sleep(load.rate === undefined ? 20 : 1);
    if (load.rate === undefined) continue;
    const wanted = Math.floor(((Math.min(performance.now(), endsAt) - startedAt) / 1_000) * load.rate);
    for (; planned < wanted; planned += 1) due.push(startedAt + (planned / load.rate) * 1_000);
    // In turn: a server closes a connection that is never used.
    while (due.length > 0 && idle.length > 0) pump(idle.shift()!);
  }
  if (load.count !== undefined) due.length = 0;
  while (idle.length < lanes.length) await sleep(1);
  outcome.seconds = (performance.now() - startedAt) / 1_000;
  await Promise.all(lanes.map(({ connection }) => connection.close()));
  return outcome;
}

function hungUp(): never {
  throw new Error('the server closed a connection in the middle of the load');
}
