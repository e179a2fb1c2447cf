/** Builds the stored row of one entry of a heartbeat: missing counters, rates and the age of counters. Pure. */
import type { ComponentMetric, PipelineReport } from '../../../schemas/agent/protocol.ts';
import type { Draining, LastDrain } from '../../../schemas/api/pipelines/on-nodes.ts';
import type { StoredComponent } from '../../pipelines/index.ts';
import { storableText } from '../../platform/text/storable-text.ts';
import type { PipelineReportRow } from './store.ts';

/** Reports closer than this are useless for rates. */
const MIN_RATE_INTERVAL_MS = 200;
const COUNTERS = ['eventsIn', 'eventsOut', 'bytesIn', 'bytesOut', 'errorsTotal', 'eventsDiscarded'] as const;
/**
 * An agent reads its engines once per interval. Extra heartbeats in between, for a changed status or a request, repeat the old
 * counters. A report this fraction of an interval later counts as a new reading.
 */
const NEW_READING_AFTER = 0.7;

/** Counters older than this many intervals are presented with their age. */
export const OLD_AFTER = 1.5;

/** When the counters of a report were read from the engine. A report without counters repeats those of the previous one. */
export function readingTime(entry: PipelineReport, before: number | undefined, receivedAt: number): number {
  if (!hasCounters(entry)) return before ?? receivedAt;
  return receivedAt - Math.min(entry.metricsAgeSeconds ?? 0, MAX_AGE_SECONDS) * 1_000;
}

const MAX_AGE_SECONDS = 365 * 86_400;

const hasCounters = (entry: PipelineReport): boolean =>
  entry.componentMetrics !== undefined || COUNTERS.some((name) => entry[name] !== undefined);

/** Whether another engine process runs than in the previous report. An engine that is down has no pid and changes nothing. */
const isOtherEngine = (entry: PipelineReport, earlier: PipelineReportRow): boolean =>
  entry.version !== earlier.version || (typeof entry.pid === 'number' && entry.pid !== earlier.pid);

/**
 * Builds the row of an entry. Counters that it leaves out keep their value while the same engine runs. Rates are computed over
 * `elapsedMs`, the time between the two readings of the engine; if the entry brings no new reading, `rates` is the same object
 * as in the previous row.
 */
export function toRow(
  entry: PipelineReport,
  before: PipelineReportRow | undefined,
  elapsedMs: number,
  intervalMs = 0,
): PipelineReportRow {
  const isNewReading = hasCounters(entry);
  // A new engine that was not read yet starts at zero.
  const earlier = before && !isNewReading && isOtherEngine(entry, before) ? undefined : before;
  const components = entry.componentMetrics;
  const row = {
    pipelineId: entry.pipelineId,
    version: entry.version,
    status: entry.status,
    pid: entry.pid ?? null,
    uptimeSeconds: entry.uptimeSeconds ?? null,
    eventsIn: entry.eventsIn ?? earlier?.eventsIn ?? 0,
    eventsOut: entry.eventsOut ?? earlier?.eventsOut ?? 0,
    bytesIn: entry.bytesIn ?? earlier?.bytesIn ?? 0,
    bytesOut: entry.bytesOut ?? earlier?.bytesOut ?? 0,
    errorsTotal: entry.errorsTotal ?? earlier?.errorsTotal ?? 0,
    eventsDiscarded: entry.eventsDiscarded ?? earlier?.eventsDiscarded ?? 0,
    eventsFiltered:
      components?.reduce((sum, metric) => sum + (metric.filteredEvents ?? 0), 0) ??
      earlier?.eventsFiltered ??
      0,
    metricsAsOf: null,
    utilization: finite(entry.utilization),
    latencyMs: components ? meanLatencyMs(components) : (earlier?.latencyMs ?? null),
    configChecksum: storableText(entry.configChecksum, 128),
    restarts: entry.restarts ?? 0,
    metricsPort: entry.metricsPort ?? null,
    apiPort: entry.apiPort ?? null,
    lastError: storableText(entry.lastError, 4096),
    degraded: storableText(entry.degraded, 4096) || null,
    warnings: (entry.warnings ?? []).map((warning) => storableText(warning, 1_024)),
    draining: drainingOf(entry.draining),
    lastDrain: lastDrainOf(entry.lastDrain),
    refused: entry.refused
      ? {
          version: entry.refused.version,
          checksum: storableText(entry.refused.checksum, 128) ?? '',
          error: storableText(entry.refused.error, 4096) ?? '',
        }
      : null,
  };
  const seconds = elapsedMs / 1000;
  const usable =
    earlier !== undefined &&
    elapsedMs > MIN_RATE_INTERVAL_MS &&
    (COUNTERS.some((name) => row[name] !== earlier[name]) ||
      (isNewReading && elapsedMs >= intervalMs * NEW_READING_AFTER));
  const rate = (now: number, previous: number) =>
    usable ? Math.max(0, now >= previous ? now - previous : now) / seconds : 0;
  const rates =
    earlier && !usable
      ? earlier.rates
      : {
          eventsIn: rate(row.eventsIn, earlier?.eventsIn ?? 0),
          eventsOut: rate(row.eventsOut, earlier?.eventsOut ?? 0),
          bytesIn: rate(row.bytesIn, earlier?.bytesIn ?? 0),
          bytesOut: rate(row.bytesOut, earlier?.bytesOut ?? 0),
          errors: rate(row.errorsTotal, earlier?.errorsTotal ?? 0),
        };
  const stored = components?.map((metric): StoredComponent => {
    const previous = earlier?.components.find((component) => component.id === metric.componentId);
    return {
      id: storableText(metric.componentId, 256) ?? '',
      kind: String(metric.componentKind),
      in: metric.receivedEvents,
      out: metric.sentEvents,
      errors: metric.errorsTotal ?? 0,
      inRate: previous && !usable ? previous.inRate : previous ? rate(metric.receivedEvents, previous.in) : 0,
      outRate: previous && !usable ? previous.outRate : previous ? rate(metric.sentEvents, previous.out) : 0,
      discarded: metric.discardedEvents || undefined,
      filtered: metric.filteredEvents || undefined,
      latency: metric.latencyMeanSeconds,
      utilization: metric.utilization,
      buffer: metric.bufferEvents,
      bufferFill: metric.bufferFill,
    };
  });
  return {
    ...{ ...row, rates },
    components: stored ?? (isNewReading ? [] : (earlier?.components ?? [])),
    componentBytes: components
      ? components.map((metric) => [metric.receivedBytes ?? 0, metric.sentBytes ?? 0] as const)
      : isNewReading
        ? []
        : (earlier?.componentBytes ?? []),
  };
}

function meanLatencyMs(components: readonly ComponentMetric[]): number | null {
  const seconds = components.flatMap(({ latencyMeanSeconds }) => latencyMeanSeconds ?? []);
  return seconds.length === 0 ? null : (1_000 * seconds.reduce((sum, one) => sum + one, 0)) / seconds.length;
}

const drainingOf = (draining: PipelineReport['draining']): Draining | null =>
  draining
    ? {
        version: draining.version,
        secondsLeft: draining.secondsLeft,
        undeliveredEvents: draining.undeliveredEvents ?? null,
      }
    : null;

/** Null without a valid time. */
function lastDrainOf(report: PipelineReport['lastDrain']): LastDrain | null {
  if (!report) return null;
  const endedAt = new Date(report.endedAt);
  if (Number.isNaN(endedAt.getTime())) return null;
  const { version, lostEvents, keptEvents, sinks } = report;
  return {
    ...{ version, endedAt, lostEvents, keptEvents },
    sinks: sinks.map((sink) => ({
      componentId: storableText(sink.componentId, 256) ?? '',
      lostEvents: sink.lostEvents,
      keptEvents: sink.keptEvents,
    })),
  };
}

export const finite = (value: number | undefined): number | null =>
  value !== undefined && Number.isFinite(value) ? value : null;
