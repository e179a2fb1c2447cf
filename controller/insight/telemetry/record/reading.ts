/** What an engine has counted since it started, as one heartbeat tells it. Pure. */

/** What is counted, in the order of a `Counters` array. */
export const AMOUNTS = ['eventsIn', 'eventsOut', 'bytesIn', 'bytesOut', 'errors', 'discarded'] as const;
export type Amount = (typeof AMOUNTS)[number];
/** One number per entry of `AMOUNTS`. */
export type Counters = readonly number[];

export const NOTHING: Counters = AMOUNTS.map(() => 0);
export const sumOf = (a: Counters, b: Counters): number[] => a.map((value, index) => value + (b[index] ?? 0));
export const scaled = (counters: Counters, factor: number): number[] =>
  counters.map((value) => value * factor);

/** What of a heartbeat's entry is measured. Counters grow from the start of an engine; latencies are in seconds. */
export interface MeasuredPipeline {
  version: number;
  pid: number | null;
  uptimeSeconds: number | null;
  /** Exits of its engine processes since the agent started. */
  restarts: number;
  eventsIn: number;
  eventsOut: number;
  bytesIn: number;
  bytesOut: number;
  errorsTotal: number;
  eventsDiscarded: number;
  utilization: number | null;
  latencyMs: number | null;
  components: readonly MeasuredComponent[];
  /** In and out of each of `components`, in their order. */
  componentBytes: readonly (readonly [number, number])[];
}

export interface MeasuredComponent {
  id: string;
  kind: string;
  in: number;
  out: number;
  errors: number;
  discarded?: number | undefined;
  latency?: number | undefined;
  utilization?: number | undefined;
}

/** The part of a reading from which the next one is counted. */
export interface Base {
  /** When the engine was read, in milliseconds since 1970. */
  at: number;
  version: number;
  pid: number | null;
  uptimeSeconds: number | null;
  restarts: number;
  counters: Counters;
  components: readonly (readonly [id: string, counters: Counters])[];
}

export interface Reading extends Base {
  gauges: Gauges;
  componentGauges: readonly (Gauges & { kind: string })[];
}

/** Null is what was not reported. */
export interface Gauges {
  latencyMs: number | null;
  /** 0 to 1. */
  utilization: number | null;
}

export function readingOf(pipeline: MeasuredPipeline, at: number): Reading {
  const { version, pid, uptimeSeconds, restarts, components } = pipeline;
  return {
    ...{ at, version, pid, uptimeSeconds, restarts },
    counters: [
      pipeline.eventsIn,
      pipeline.eventsOut,
      pipeline.bytesIn,
      pipeline.bytesOut,
      pipeline.errorsTotal,
      pipeline.eventsDiscarded,
    ],
    components: components.map((component, index) => {
      const [bytesIn, bytesOut] = pipeline.componentBytes[index] ?? [0, 0];
      const { in: received, out: sent, errors, discarded = 0 } = component;
      return [component.id, [received, sent, bytesIn, bytesOut, errors, discarded]] as const;
    }),
    gauges: gaugesOf(pipeline.latencyMs, pipeline.utilization),
    componentGauges: components.map(({ kind, latency, utilization }) => ({
      kind,
      ...gaugesOf(latency === undefined ? null : latency * 1_000, utilization ?? null),
    })),
  };
}

const MAX_LATENCY_MS = 86_400_000;

/** Agents are not trusted to stay within what can be added up. */
const gaugesOf = (latencyMs: number | null, utilization: number | null): Gauges => ({
  latencyMs: latencyMs === null ? null : Math.min(Math.max(latencyMs, 0), MAX_LATENCY_MS),
  utilization: utilization === null ? null : Math.min(Math.max(utilization, 0), 1),
});

/** Whether two readings are of one engine process, `later` not before `earlier`. */
export function isSameEngine(
  earlier: Pick<Base, 'version' | 'pid' | 'uptimeSeconds'>,
  later: Pick<Base, 'version' | 'pid' | 'uptimeSeconds'>,
): boolean {
  if (earlier.version !== later.version) return false;
  // An engine that is down has no pid; its counters are those of its last reading.
  if (earlier.pid !== null && later.pid !== null && earlier.pid !== later.pid) return false;
  if (earlier.uptimeSeconds === null || later.uptimeSeconds === null) return true;
  return later.uptimeSeconds >= earlier.uptimeSeconds - UPTIME_TOLERANCE_SECONDS;
}

/** The engine tells its uptime in steps. */
const UPTIME_TOLERANCE_SECONDS = 2;
