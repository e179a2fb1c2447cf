import type { ComponentMetric, HeartbeatRequest, PipelineReport } from '../../schemas/agent/protocol.ts';
import type { Pipeline } from '../supervise/lifecycle/pipeline.ts';
import type { Reading } from './scraper.ts';

/** Characters of all log lines of one heartbeat, well below the controller's body limit; the rest travels next time. */
const LOG_CHARS = 2 * 1024 * 1024;

export interface Heartbeat {
  body: HeartbeatRequest;
  /** To be called once the controller has it: moves the log readers on. */
  delivered: () => void;
}

/** Remembers, for each pipeline, up to which log line the controller has had them. */
export class HeartbeatBuilder {
  readonly #delivered = new WeakMap<Pipeline, number>();

  build(
    pipelines: readonly Pipeline[],
    metricsOf: (pipeline: Pipeline) => Reading | undefined,
    node: Omit<HeartbeatRequest, 'pipelines'>,
    { omitEmpty = false } = {},
  ): Heartbeat {
    const budget = Math.floor(LOG_CHARS / Math.max(1, pipelines.length));
    const moves: (() => void)[] = [];
    const reports = pipelines.map((pipeline) => {
      const { lines, next } = pipeline.logs.since(this.#delivered.get(pipeline) ?? 0, budget);
      moves.push(() => this.#delivered.set(pipeline, next));
      const whole = report(pipeline, metricsOf(pipeline), lines);
      return omitEmpty ? withoutEmpty(whole) : whole;
    });
    const delivered = () => {
      for (const move of moves) move();
    };
    return { body: { pipelines: reports, deliversLogs: true, ...node }, delivered };
  }
}

function report(pipeline: Pipeline, reading: Reading | undefined, lines: string[]): PipelineReport {
  const metrics = reading?.metrics;
  const { pipelineId, version, checksum } = pipeline.current;
  return {
    pipelineId,
    version,
    status: pipeline.status,
    pid: pipeline.pid ?? null,
    uptimeSeconds: pipeline.uptimeSeconds,
    eventsIn: metrics?.eventsIn,
    eventsOut: metrics?.eventsOut,
    bytesIn: metrics?.bytesIn,
    bytesOut: metrics?.bytesOut,
    errorsTotal: metrics?.errorsTotal,
    eventsDiscarded: metrics?.eventsDiscarded,
    utilization: metrics?.utilization,
    configChecksum: checksum.slice(0, 128),
    restarts: pipeline.restarts,
    metricsPort: pipeline.metricsPort,
    apiPort: pipeline.apiPort,
    lastError: pipeline.lastError,
    refused: pipeline.refused ?? null,
    degraded: pipeline.degraded,
    warnings: pipeline.warnings,
    draining: pipeline.draining,
    lastDrain: pipeline.lastDrain,
    metricsAgeSeconds: reading?.ageSeconds,
    componentMetrics: metrics?.components,
    recentLogs: lines,
  };
}

const ZERO_WHERE_ABSENT = [
  'receivedBytes',
  'sentBytes',
  'errorsTotal',
  'discardedEvents',
  'filteredEvents',
] as const satisfies (keyof ComponentMetric)[];

/** Without what means the same when it is absent: a fifth of a heartbeat. No metrics of components are still a reading. */
export function withoutEmpty(whole: PipelineReport): PipelineReport {
  const { warnings, recentLogs, componentMetrics, ...others } = whole;
  const kept = Object.entries(others).filter(([, value]) => value !== null && value !== undefined);
  return {
    ...(Object.fromEntries(kept) as typeof others),
    ...(warnings?.length ? { warnings } : {}),
    ...(recentLogs?.length ? { recentLogs } : {}),
    ...(componentMetrics ? { componentMetrics: componentMetrics.map(withoutZeros) } : {}),
  };
}

function withoutZeros(metric: ComponentMetric): ComponentMetric {
  const kept = { ...metric };
  for (const name of ZERO_WHERE_ABSENT) if (kept[name] === 0) delete kept[name];
  return kept;
}
