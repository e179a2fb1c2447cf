/**
 * Receives heartbeats: validates them one by one, merges them in memory and writes them in batches. Counters are cumulative, so
 * the next heartbeat makes up for a batch that is lost with the process.
 */
import type { Knex } from 'knex';
import {
  AGENT_HEALTH_NAMES,
  type ComponentMetric,
  type HeartbeatRequest,
  type HeartbeatResponse,
  HOST_METRIC_NAMES,
  type LogEntry,
  type PipelineReport,
} from '../../../schemas/agent/protocol.ts';
import type { UiTopic } from '../../../schemas/api/git-sync.ts';
import type { Draining, LastDrain } from '../../../schemas/api/pipelines.ts';
import type { StoredComponent } from '../../pipelines/index.ts';
import { messageOf } from '../../platform/operation/errors.ts';
import type { Bus, PublishedSignal } from '../../platform/runtime/bus.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import { storableText } from '../../platform/text/storable-text.ts';
import { createReverts } from '../config/reverts/reverts.ts';
import type { ConfigServer } from '../config/served-config.ts';
import type { ComponentLists } from '../engines/index.ts';
import type { LogIngest } from '../logs/index.ts';
import type { KnownNode, NodeDirectory } from '../nodes/directory/node-directory.ts';
import { DEFAULT_FLEET_SETTINGS } from '../settings/index.ts';
import type { UpdateTracker } from '../updates/tracker.ts';
import { type CpuSample, nextCpuSample } from './cpu.ts';
import { normalizeEntry } from './normalize-entry.ts';
import { createRate } from './rate.ts';
import { type NodeReport, type PipelineReportRow, writeReports } from './store.ts';

export interface HeartbeatIngest {
  /** `omitted` lists the parts that the caller removed from the request; the answer returns it as warnings. */
  ingest(node: KnownNode, request: HeartbeatRequest, omitted?: readonly string[]): Promise<HeartbeatResponse>;
  /** Writes the waiting reports. */
  flush(): Promise<void>;
  /** Whether reports wait unusually long for the database. */
  isBehind(): boolean;
  /** Number of entries in memory, for diagnostics. */
  sizes(): { waiting: number; lastReports: number };
  stop(): Promise<void>;
}

/** What is measured by the minute, from counters that grow. */
export interface Measures {
  observe(
    node: { nodeId: string; environmentId: string },
    receivedAt: number,
    pipelines: ReadonlyMap<string, { row: PipelineReportRow; at: number }>,
    host: Readonly<Record<string, number>>,
  ): void;
  forget(nodeId: string): void;
}

export interface IngestOptions {
  db: Knex;
  bus: Bus;
  log: Logger;
  directory: NodeDirectory;
  configs: ConfigServer;
  logs: Pick<LogIngest, 'deliversLogs' | 'storeFromHeartbeat'>;
  updates: Pick<UpdateTracker, 'onHeartbeat'>;
  components: ComponentLists;
  measures: Measures;
  now: () => number;
  /** Called when reports are stored after an unusually long wait for the database. */
  onCaughtUp: () => void;
}

/** Below `BUSY_PER_SECOND` heartbeats a second, reports are written almost at once; above, once a second in large batches. */
const QUICK_FLUSH_MS = 50;
const BUSY_FLUSH_MS = 1_000;
const BUSY_PER_SECOND = 100;
/** A batch that takes longer has waited for the database. */
const LATE_MS = 2_500;
/** Nodes per transaction: building its statements blocks the event loop, about 10 ms for this many. */
const NODES_PER_WRITE = 500;

/** Rejected entries and warnings that one answer lists. */
const MAX_LISTED = 100;

/** Another replica may have stored rows of a node that this one does not know of, so they are deleted this often. */
const LEFTOVERS_EVERY_MS = 60_000;

/** The report from which the next rates are computed. */
interface RateBase {
  row: PipelineReportRow;
  at: number;
}

interface LastReport {
  /** When leftover rows were last deleted. */
  clearedAt: number;
  rows: Map<string, RateBase>;
  labels: string;
  cpu: CpuSample | null;
}

export function createHeartbeatIngest(options: IngestOptions): HeartbeatIngest {
  const { db, bus, log, directory, configs, logs, updates, components, measures } = options;
  const waiting = new Map<string, NodeReport>();
  const lastReports = new Map<string, LastReport>();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | null = null;
  const rate = createRate();
  const reverts = createReverts({ db, bus, log, configs, now: options.now });
  let lastFlushAt = Number.NEGATIVE_INFINITY;
  let failed = false;
  let stopped = false;
  directory.onDeleted((nodeId) => {
    lastReports.delete(nodeId);
    measures.forget(nodeId);
  });

  function schedule(): void {
    if (timer || flushing || stopped || waiting.size === 0) return;
    timer = setTimeout(() => void flush(), pause());
  }

  /**
   * Under load, or after a failure, batches start a second apart. The load is the rate of heartbeats and not the size of the
   * last batch, since small batches would stay small.
   */
  function pause(): number {
    if (!failed && rate.perSecond() <= BUSY_PER_SECOND) return QUICK_FLUSH_MS;
    return Math.max(QUICK_FLUSH_MS, BUSY_FLUSH_MS - (performance.now() - lastFlushAt));
  }

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    while (flushing) await flushing;
    if (waiting.size === 0) return;
    flushing = writeWaiting().finally(() => {
      flushing = null;
      schedule();
    });
    await flushing;
  }

  async function writeWaiting(): Promise<void> {
    const batch = [...waiting.values()];
    const stored: NodeReport[] = [];
    waiting.clear();
    lastFlushAt = performance.now();
    for (let first = 0; first < batch.length; first += NODES_PER_WRITE) {
      if (await write(batch.slice(first, first + NODES_PER_WRITE), stored)) continue;
      putBack(batch.slice(first + NODES_PER_WRITE));
      // Delays the next try by a second.
      lastFlushAt = performance.now();
      break;
    }
    const tookMs = Math.round(performance.now() - lastFlushAt);
    if (!failed && tookMs > LATE_MS) {
      log.warn({ nodes: batch.length, tookMs }, 'heartbeats were stored late; the database is slow');
      options.onCaughtUp();
    }
    await publish(stored);
  }

  /** Publishes all signals in one statement. This controller already uses the new labels; the others reread those nodes. */
  async function publish(stored: readonly NodeReport[]): Promise<void> {
    const relabelled = stored.filter((report) => report.labelChanges > 0);
    const environmentIds = new Set(stored.map(({ environmentId }) => environmentId));
    const signals: PublishedSignal[] = [
      ...relabelled.map(({ nodeId, environmentId }) => ({ type: 'node' as const, nodeId, environmentId })),
      ...[...environmentIds].map((environmentId) => {
        const topics: UiTopic[] = ['fleet', 'pipelines'];
        return { type: 'ui' as const, environmentId, topics };
      }),
    ];
    await bus.publish(db, signals, { appliedHere: ['node'] }).catch(() => {});
  }

  /** Returns false if the database could not be reached; the reports then wait for the next try. */
  async function write(part: NodeReport[], stored: NodeReport[]): Promise<boolean> {
    try {
      reverts.enqueue(await writeReports(db, part));
    } catch (error) {
      return writeFailed(part, stored, error);
    }
    if (failed) options.onCaughtUp();
    failed = false;
    for (const report of part)
      if (report.labelChanges > 0) directory.releaseAgentLabels(report.nodeId, report.labels);
    stored.push(...part);
    return true;
  }

  /**
   * Finds data that Postgres refuses by halving the part. Any other error is a lost connection, and the reports wait for the
   * next try.
   */
  async function writeFailed(part: NodeReport[], stored: NodeReport[], error: unknown): Promise<boolean> {
    const code = (error as { code?: string }).code ?? '';
    if (/^2[23]/.test(code)) {
      if (part.length === 1) {
        const [refused] = part;
        if (refused) directory.releaseAgentLabels(refused.nodeId, refused.labels);
        log.warn({ nodeId: refused?.nodeId, reason: messageOf(error) }, 'a heartbeat could not be stored');
        return true;
      }
      const half = Math.ceil(part.length / 2);
      if (await write(part.slice(0, half), stored)) return write(part.slice(half), stored);
      putBack(part.slice(half));
      return false;
    }
    log.warn(
      { nodes: part.length, reason: messageOf(error) },
      'heartbeats could not be stored; the next batch retries',
    );
    putBack(part);
    failed = true;
    return false;
  }

  /** Puts reports back. A newer report that already waits wins, merged with what only the older one contains. */
  function putBack(reports: readonly NodeReport[]): void {
    for (const report of reports) {
      const newer = waiting.get(report.nodeId);
      waiting.set(report.nodeId, newer ? mergeReports(report, newer) : report);
    }
  }

  return {
    async ingest(node, request, omitted = []) {
      const known = await configs.knownPipelines(node.environmentId);
      const receivedAt = options.now();
      const inventory = request.engine && (await components.accept(node.environmentId, request.engine));
      const earlier = lastReports.get(node.nodeId);
      const rejected: { pipelineId: string; reason: string }[] = [];
      const warnings = omitted.map((reason) => ({ pipelineId: '', reason }));
      if (inventory?.warning !== undefined) warnings.push({ pipelineId: '', reason: inventory.warning });
      const rows = new Map<string, PipelineReportRow>();
      const counted = new Map<string, RateBase>();
      const read = new Map<string, RateBase>();
      const intervalMs = request.pollIntervalMs ?? DEFAULT_FLEET_SETTINGS.pollIntervalMs;
      const accepted: PipelineReport[] = [];
      const reject = (entry: unknown, reason: string) => {
        if (rejected.length < MAX_LISTED)
          rejected.push({ pipelineId: idOf(entry), reason: reasonText(reason) });
      };
      for (const raw of request.pipelines) {
        const entry = normalizeEntry(raw);
        if ('reason' in entry) {
          reject(raw, entry.reason);
          continue;
        }
        const { report } = entry;
        if (!known.has(report.pipelineId)) {
          reject(raw, 'pipelineId: no such pipeline in this environment');
          continue;
        }
        if (rows.has(report.pipelineId)) {
          reject(raw, 'pipelineId: reported twice');
          continue;
        }
        accepted.push(report);
        for (const warning of entry.warnings)
          if (warnings.length < MAX_LISTED)
            warnings.push({ pipelineId: report.pipelineId, reason: reasonText(warning) });
        const previous = earlier?.rows.get(report.pipelineId);
        const readAt = readingTime(report, previous?.at, receivedAt);
        const row = toRow(report, previous?.row, readAt - (previous?.at ?? 0), intervalMs);
        if (receivedAt - readAt > intervalMs * OLD_AFTER) row.metricsAsOf = new Date(readAt);
        rows.set(report.pipelineId, row);
        read.set(report.pipelineId, { row, at: readAt });
        counted.set(
          report.pipelineId,
          previous && row.rates === previous.row.rates ? previous : { row, at: readAt },
        );
      }
      const labels = cleanMap(request.labels ?? {});
      const labelText = sortedText(labels);
      const labelsChanged = labelText !== (earlier?.labels ?? sortedText(node.agentLabels));
      if (labelsChanged) directory.setAgentLabels(node, labels);
      const deliversLogs = logs.deliversLogs(node);
      if (!deliversLogs && !request.deliversLogs) logs.storeFromHeartbeat(node, linesOf(accepted));
      const waitingNow = waiting.get(node.nodeId);
      const hostMetrics = pickNumbers(request.hostMetrics, HOST_METRIC_NAMES);
      const cpu = nextCpuSample(hostMetrics, receivedAt, earlier?.cpu ?? null);
      const deleteMissing =
        !earlier || receivedAt - earlier.clearedAt >= LEFTOVERS_EVERY_MS || lacksSome(earlier.rows, rows);
      const clearedAt = deleteMissing ? receivedAt : earlier.clearedAt;
      // The node may have been deleted in the meantime.
      if (directory.has(node.nodeId)) {
        lastReports.set(node.nodeId, { clearedAt, rows: counted, labels: labelText, cpu });
        measures.observe(node, receivedAt, read, hostMetrics);
      }
      const agentVersion = storableText(request.agentVersion, 64);
      const agentHealth = healthOf(request.agentHealth);
      const updateError = storableText(request.updateError, 4096);
      waiting.set(node.nodeId, {
        nodeId: node.nodeId,
        environmentId: node.environmentId,
        receivedAt: new Date(receivedAt),
        agentVersion,
        engineVersion:
          storableText(request.engineVersion ?? request.vectorVersion, 256) ??
          waitingNow?.engineVersion ??
          null,
        engineComponents: inventory?.digest ?? waitingNow?.engineComponents ?? null,
        deploymentMode: request.deploymentMode ?? null,
        labels,
        labelChanges: (labelsChanged ? 1 : 0) + (waitingNow?.labelChanges ?? 0),
        hostMetrics: { ...hostMetrics, ...(cpu && cpu.percent !== null ? { cpuPercent: cpu.percent } : {}) },
        agentHealth,
        runningAs: storableText(request.runningAs, 128),
        updateError,
        pollIntervalMs: request.pollIntervalMs ?? null,
        deliversLogs,
        pipelines: [...rows.values()],
        deleteMissing: deleteMissing || (waitingNow?.deleteMissing ?? false),
      });
      rate.count();
      schedule();
      if (node.update) {
        const { uptimeSeconds } = request.agentHealth ?? {};
        updates.onHeartbeat(node, { agentVersion, updateError, uptimeSeconds: finite(uptimeSeconds) });
      }
      const configRevision = await configs.revisionFor(node);
      return {
        ok: true,
        configRevision,
        ...(inventory?.send ? { sendEngineComponents: true } : {}),
        ...(rejected.length > 0 ? { rejected } : {}),
        ...(warnings.length > 0 ? { warnings } : {}),
      };
    },
    flush,
    sizes: () => ({ waiting: waiting.size, lastReports: lastReports.size }),
    isBehind: () => failed || (flushing !== null && performance.now() - lastFlushAt > LATE_MS),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      while (waiting.size > 0 || flushing) {
        const size = waiting.size;
        await flush();
        // The database is unreachable; the next heartbeats bring the rest again.
        if (waiting.size >= size && size > 0) break;
      }
      await reverts.stop();
    },
  };
}

const mergeReports = (older: NodeReport, newer: NodeReport): NodeReport => ({
  ...newer,
  engineVersion: newer.engineVersion ?? older.engineVersion,
  engineComponents: newer.engineComponents ?? older.engineComponents,
  labelChanges: older.labelChanges + newer.labelChanges,
  deleteMissing: older.deleteMissing || newer.deleteMissing,
});

function idOf(entry: unknown): string {
  const id = (entry as { pipelineId?: unknown } | null)?.pipelineId;
  return typeof id === 'string' ? storableText(id, 64) : '';
}

const reasonText = (reason: string): string => storableText(reason, 512) ?? '';

function lacksSome(earlier: ReadonlyMap<string, unknown>, now: ReadonlyMap<string, unknown>): boolean {
  for (const pipelineId of earlier.keys()) if (!now.has(pipelineId)) return true;
  return false;
}

/** Reports closer than this are useless for rates. */
const MIN_RATE_INTERVAL_MS = 200;
const COUNTERS = ['eventsIn', 'eventsOut', 'bytesIn', 'bytesOut', 'errorsTotal', 'eventsDiscarded'] as const;
/**
 * An agent reads its engines once per interval. Extra heartbeats in between, for a changed status or a request, repeat the old
 * counters. A report this fraction of an interval later counts as a new reading.
 */
const NEW_READING_AFTER = 0.7;

/** Counters older than this many intervals are presented with their age. */
const OLD_AFTER = 1.5;

/** When the counters of a report were read from the engine. A report without counters repeats those of the previous one. */
function readingTime(entry: PipelineReport, before: number | undefined, receivedAt: number): number {
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

function linesOf(accepted: readonly PipelineReport[]): LogEntry[] {
  return accepted.flatMap(({ pipelineId, recentLogs }) =>
    recentLogs && recentLogs.length > 0 ? [{ pipelineId, lines: recentLogs }] : [],
  );
}

/** superjson refuses to serialize an object with one of these keys. */
const UNSAFE_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

function cleanMap(map: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(map)
      .map(([key, value]) => [storableText(key, 128) ?? '', storableText(value, 256) ?? ''] as const)
      .filter(([key]) => !UNSAFE_KEYS.has(key)),
  );
}

/** jsonb returns object keys in its own order. */
const sortedText = (map: Record<string, string>) =>
  JSON.stringify(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));

const finite = (value: number | undefined): number | null =>
  value !== undefined && Number.isFinite(value) ? value : null;

function pickNumbers(
  values: Readonly<Record<string, unknown>> | undefined,
  names: readonly string[],
): Record<string, number> {
  const picked: Record<string, number> = {};
  for (const name of names) {
    const value = values?.[name];
    if (typeof value === 'number' && Number.isFinite(value)) picked[name] = value;
  }
  return picked;
}

function healthOf(health: HeartbeatRequest['agentHealth']): Record<string, number | boolean> {
  const picked: Record<string, number | boolean> = pickNumbers(health, AGENT_HEALTH_NAMES);
  if (typeof health?.pushConnected === 'boolean') picked.pushConnected = health.pushConnected;
  return picked;
}
