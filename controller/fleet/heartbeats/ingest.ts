/**
 * Heartbeats: checked one by one, merged in memory, written in batches. Counters are cumulative, so a batch that is lost
 * with the process loses nothing that the next heartbeat does not bring.
 */
import type { Knex } from 'knex';
import {
  AGENT_HEALTH_NAMES,
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
  /** `leftOut` says what was left out of the request already, and is told in the answer. */
  take(node: KnownNode, request: HeartbeatRequest, leftOut?: readonly string[]): Promise<HeartbeatResponse>;
  /** Writes what is waiting. */
  flush(): Promise<void>;
  /** Whether reports wait for the database for longer than usual. */
  behind(): boolean;
  /** Entries in memory, for diagnostics. */
  sizes(): { waiting: number; lastReports: number };
  stop(): Promise<void>;
}

export interface IngestOptions {
  db: Knex;
  bus: Bus;
  log: Logger;
  directory: NodeDirectory;
  configs: ConfigServer;
  logs: Pick<LogIngest, 'delivers' | 'fromHeartbeat'>;
  updates: Pick<UpdateTracker, 'heard'>;
  components: ComponentLists;
  now: () => number;
  /** Told when reports are stored that had waited for the database for longer than usual. */
  caughtUp: () => void;
}

/** A few nodes are written almost at once; above so many heartbeats a second, once a second in large batches. */
const QUICK_FLUSH_MS = 50;
const BUSY_FLUSH_MS = 1_000;
const BUSY_PER_SECOND = 100;
/** A batch under way for longer has waited for the database. */
const LATE_MS = 2_500;
/** Nodes of one transaction: while its statements are put together nothing else runs, some 10 ms for this many. */
const PART = 500;

/** Entries and left out metrics that one answer names. */
const MOST_NAMED = 100;

/** Another replica may have stored rows of a node that this one does not know of: looked for this often. */
const LEFTOVERS_EVERY_MS = 60_000;

/** The report that the next rates are counted from. */
interface Counted {
  row: PipelineReportRow;
  at: number;
}

interface Before {
  /** When leftover rows were last looked for. */
  clearedAt: number;
  rows: Map<string, Counted>;
  labels: string;
  cpu: CpuSample | null;
}

export function createHeartbeatIngest(options: IngestOptions): HeartbeatIngest {
  const { db, bus, log, directory, configs, logs, updates, components } = options;
  const waiting = new Map<string, NodeReport>();
  const before = new Map<string, Before>();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | null = null;
  const rate = createRate();
  const reverts = createReverts({ db, bus, log, configs, now: options.now });
  let lastFlushAt = Number.NEGATIVE_INFINITY;
  let failed = false;
  let stopped = false;
  directory.onGone((nodeId) => before.delete(nodeId));

  function schedule(): void {
    if (timer || flushing || stopped || waiting.size === 0) return;
    timer = setTimeout(() => void flush(), pause());
  }

  /**
   * Under load, or after a failure, a second from the start of one batch to that of the next. What counts is how many come,
   * and not how large the batch before was: small ones would keep themselves small.
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
    for (let first = 0; first < batch.length; first += PART) {
      if (await write(batch.slice(first, first + PART), stored)) continue;
      keep(batch.slice(first + PART));
      // Not again before a second has passed.
      lastFlushAt = performance.now();
      break;
    }
    const tookMs = Math.round(performance.now() - lastFlushAt);
    if (!failed && tookMs > LATE_MS) {
      log.warn({ nodes: batch.length, tookMs }, 'heartbeats were stored late, the database is slow');
      options.caughtUp();
    }
    await publish(stored);
  }

  /** In one statement. Here, the labels hold since they came; the other controllers read those nodes again. */
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

  /** False when the database could not be reached; the reports are kept then. */
  async function write(part: NodeReport[], stored: NodeReport[]): Promise<boolean> {
    try {
      reverts.consider(await writeReports(db, part));
    } catch (error) {
      return writeFailed(part, stored, error);
    }
    if (failed) options.caughtUp();
    failed = false;
    for (const report of part)
      if (report.labelChanges > 0) directory.agentLabelsSettled(report.nodeId, report.labels);
    stored.push(...part);
    return true;
  }

  /** Data that Postgres refuses is found by halving; anything else is a lost connection, and the part is kept. */
  async function writeFailed(part: NodeReport[], stored: NodeReport[], error: unknown): Promise<boolean> {
    const code = (error as { code?: string }).code ?? '';
    if (/^2[23]/.test(code)) {
      if (part.length === 1) {
        const [refused] = part;
        if (refused) directory.agentLabelsSettled(refused.nodeId, refused.labels);
        log.warn({ nodeId: refused?.nodeId, reason: messageOf(error) }, 'a heartbeat could not be stored');
        return true;
      }
      const half = Math.ceil(part.length / 2);
      if (await write(part.slice(0, half), stored)) return write(part.slice(half), stored);
      keep(part.slice(half));
      return false;
    }
    log.warn(
      { nodes: part.length, reason: messageOf(error) },
      'heartbeats not stored, kept for the next try',
    );
    keep(part);
    failed = true;
    return false;
  }

  /** A newer one that waits by now holds, with what the older one alone had to say. */
  function keep(reports: readonly NodeReport[]): void {
    for (const report of reports) {
      const newer = waiting.get(report.nodeId);
      waiting.set(report.nodeId, newer ? merged(report, newer) : report);
    }
  }

  return {
    async take(node, request, leftOut = []) {
      const known = await configs.knownPipelines(node.environmentId);
      const receivedAt = options.now();
      const inventory = request.engine && (await components.take(node.environmentId, request.engine));
      const earlier = before.get(node.nodeId);
      const rejected: { pipelineId: string; reason: string }[] = [];
      const warnings = leftOut.map((reason) => ({ pipelineId: '', reason }));
      if (inventory?.warning !== undefined) warnings.push({ pipelineId: '', reason: inventory.warning });
      const rows = new Map<string, PipelineReportRow>();
      const counted = new Map<string, Counted>();
      const intervalMs = request.pollIntervalMs ?? DEFAULT_FLEET_SETTINGS.pollIntervalMs;
      const accepted: PipelineReport[] = [];
      const reject = (entry: unknown, reason: string) => {
        if (rejected.length < MOST_NAMED)
          rejected.push({ pipelineId: idOf(entry), reason: reasonText(reason) });
      };
      for (const given of request.pipelines) {
        const entry = normalizeEntry(given);
        if ('reason' in entry) {
          reject(given, entry.reason);
          continue;
        }
        const { report } = entry;
        if (!known.has(report.pipelineId)) {
          reject(given, 'pipelineId: no such pipeline in this environment');
          continue;
        }
        if (rows.has(report.pipelineId)) {
          reject(given, 'pipelineId: reported twice');
          continue;
        }
        accepted.push(report);
        for (const warning of entry.warnings)
          if (warnings.length < MOST_NAMED)
            warnings.push({ pipelineId: report.pipelineId, reason: reasonText(warning) });
        const then = earlier?.rows.get(report.pipelineId);
        const readAt = readingTime(report, then?.at, receivedAt);
        const row = toRow(report, then?.row, readAt - (then?.at ?? 0), intervalMs);
        if (receivedAt - readAt > intervalMs * OLD_AFTER) row.metricsAsOf = new Date(readAt);
        rows.set(report.pipelineId, row);
        counted.set(report.pipelineId, then && row.rates === then.row.rates ? then : { row, at: readAt });
      }
      const labels = cleanMap(request.labels ?? {});
      const labelText = sortedText(labels);
      const labelsChanged = labelText !== (earlier?.labels ?? sortedText(node.agentLabels));
      if (labelsChanged) directory.setAgentLabels(node, labels);
      const deliversLogs = logs.delivers(node);
      if (!deliversLogs && !request.deliversLogs) logs.fromHeartbeat(node, linesOf(accepted));
      const waitingNow = waiting.get(node.nodeId);
      const hostMetrics = pickNumbers(request.hostMetrics, HOST_METRIC_NAMES);
      const cpu = nextCpuSample(hostMetrics, receivedAt, earlier?.cpu ?? null);
      const mayHaveLess =
        !earlier || receivedAt - earlier.clearedAt >= LEFTOVERS_EVERY_MS || hasOther(earlier.rows, rows);
      const clearedAt = mayHaveLess ? receivedAt : earlier.clearedAt;
      // It may have been deleted while this was read.
      if (directory.has(node.nodeId))
        before.set(node.nodeId, { clearedAt, rows: counted, labels: labelText, cpu });
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
        mayHaveLess: mayHaveLess || (waitingNow?.mayHaveLess ?? false),
      });
      rate.count();
      schedule();
      if (node.update) {
        const { uptimeSeconds } = request.agentHealth ?? {};
        updates.heard(node, { agentVersion, updateError, uptimeSeconds: finite(uptimeSeconds) });
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
    sizes: () => ({ waiting: waiting.size, lastReports: before.size }),
    behind: () => failed || (flushing !== null && performance.now() - lastFlushAt > LATE_MS),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      while (waiting.size > 0 || flushing) {
        const size = waiting.size;
        await flush();
        // The database is away: what is left comes again with the next heartbeat.
        if (waiting.size >= size && size > 0) break;
      }
      await reverts.stop();
    },
  };
}

const merged = (older: NodeReport, newer: NodeReport): NodeReport => ({
  ...newer,
  engineVersion: newer.engineVersion ?? older.engineVersion,
  engineComponents: newer.engineComponents ?? older.engineComponents,
  labelChanges: older.labelChanges + newer.labelChanges,
  mayHaveLess: older.mayHaveLess || newer.mayHaveLess,
});

function idOf(entry: unknown): string {
  const id = (entry as { pipelineId?: unknown } | null)?.pipelineId;
  return typeof id === 'string' ? storableText(id, 64) : '';
}

const reasonText = (reason: string): string => storableText(reason, 512) ?? '';

function hasOther(earlier: ReadonlyMap<string, unknown>, now: ReadonlyMap<string, unknown>): boolean {
  for (const pipelineId of earlier.keys()) if (!now.has(pipelineId)) return true;
  return false;
}

/** Two reports of almost one moment tell nothing of the speed. */
const SHORTEST_MS = 200;
const COUNTERS = ['eventsIn', 'eventsOut', 'bytesIn', 'bytesOut', 'errorsTotal', 'eventsDiscarded'] as const;
/**
 * An agent reads its engines once an interval. What it sends in between, since a status changed or somebody asked, has the
 * counters of before.
 */
const READ_AGAIN = 0.7;

/** Counters that were read more than so many intervals ago are shown with their age. */
const OLD_AFTER = 1.5;

/** When the counters of a report were read from the engine. One without counters tells those of the report before. */
function readingTime(entry: PipelineReport, before: number | undefined, receivedAt: number): number {
  if (!hasCounters(entry)) return before ?? receivedAt;
  return receivedAt - Math.min(entry.metricsAgeSeconds ?? 0, MOST_AGE_SECONDS) * 1_000;
}

const MOST_AGE_SECONDS = 365 * 86_400;

const hasCounters = (entry: PipelineReport): boolean =>
  entry.componentMetrics !== undefined || COUNTERS.some((name) => entry[name] !== undefined);

/** Another process than that of the report before. An engine that is down has no pid and changes nothing. */
const isOtherEngine = (entry: PipelineReport, earlier: PipelineReportRow): boolean =>
  entry.version !== earlier.version || (typeof entry.pid === 'number' && entry.pid !== earlier.pid);

/**
 * What is stored of an entry: counters that it leaves out stay, while the same engine runs. Rates are counted over
 * `elapsedMs`, the time between the two readings of the engine; where this entry tells nothing new they are the very
 * object of the report before.
 */
export function toRow(
  entry: PipelineReport,
  before: PipelineReportRow | undefined,
  elapsedMs: number,
  intervalMs = 0,
): PipelineReportRow {
  const told = hasCounters(entry);
  // A new engine that was not read yet has counted nothing.
  const earlier = before && !told && isOtherEngine(entry, before) ? undefined : before;
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
    elapsedMs > SHORTEST_MS &&
    (COUNTERS.some((name) => row[name] !== earlier[name]) || (told && elapsedMs >= intervalMs * READ_AGAIN));
  const rate = (now: number, then: number) =>
    usable ? Math.max(0, now >= then ? now - then : now) / seconds : 0;
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
    const then = earlier?.components.find((component) => component.id === metric.componentId);
    return {
      id: storableText(metric.componentId, 256) ?? '',
      kind: String(metric.componentKind),
      in: metric.receivedEvents,
      out: metric.sentEvents,
      errors: metric.errorsTotal ?? 0,
      inRate: then && !usable ? then.inRate : then ? rate(metric.receivedEvents, then.in) : 0,
      outRate: then && !usable ? then.outRate : then ? rate(metric.sentEvents, then.out) : 0,
      discarded: metric.discardedEvents || undefined,
      filtered: metric.filteredEvents || undefined,
      latency: metric.latencyMeanSeconds,
      utilization: metric.utilization,
    };
  });
  return { ...row, rates, components: stored ?? (told ? [] : (earlier?.components ?? [])) };
}

const drainingOf = (draining: PipelineReport['draining']): Draining | null =>
  draining
    ? {
        version: draining.version,
        secondsLeft: draining.secondsLeft,
        undeliveredEvents: draining.undeliveredEvents ?? null,
      }
    : null;

/** Without a time it tells nothing. */
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

/** superjson refuses to answer with an object that has one of these keys. */
const UNSPEAKABLE = new Set(['__proto__', 'constructor', 'prototype']);

function cleanMap(map: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(map)
      .map(([key, value]) => [storableText(key, 128) ?? '', storableText(value, 256) ?? ''] as const)
      .filter(([key]) => !UNSPEAKABLE.has(key)),
  );
}

/** Postgres gives the keys of an object back in an order of its own. */
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
