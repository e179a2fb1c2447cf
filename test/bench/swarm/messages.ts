/** What the bench and its swarm say to each other. Times are milliseconds since 1970, with fractions: both share a clock. */
import type { BenchNode } from '../fleet.ts';
import type { SampleArrays } from './samples.ts';

export interface SwarmPlan {
  port: number;
  nodes: BenchNode[];
  connections: number;
  /** The first so many nodes hold a push stream each. */
  streams: number;
  periodMs: number;
}

export type SwarmOrder =
  | { order: 'plan'; plan: SwarmPlan }
  /** Every node polls and sends heartbeats at its period, from a phase of its own. */
  | { order: 'steady' }
  /** Every node polls once for the full answer, at times spread evenly over so many milliseconds. */
  | { order: 'herd'; overMs: number }
  /** Nothing new is begun; answered when all that was begun has ended. */
  | { order: 'halt' }
  /** Answered with what was measured since the last time. */
  | { order: 'report' };

export interface SwarmReport {
  samples: SampleArrays;
  /** By node: the restarts in the last heartbeat that was answered with 200; -1 where none was. */
  accepted: Int32Array;
  /** The swarm's own CPU since the last report, milliseconds. */
  cpuMs: number;
  streamsOpen: number;
}

export type SwarmAnswer = { done: 'plan' | 'halt' | 'herd' } | ({ done: 'report' } & SwarmReport);

/** Agrees with that of other processes on this machine. */
export const clock = (): number => performance.timeOrigin + performance.now();
