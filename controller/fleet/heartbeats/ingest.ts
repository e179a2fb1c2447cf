/**
 * Receives heartbeats: validates them one by one, computes what they do not tell (rates, how busy the host is) and passes them
 * to the queue that stores them.
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
import type { WatchedPipelines } from '../../pipelines/index.ts';
import type { Bus } from '../../platform/runtime/bus.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import { storableText } from '../../platform/text/storable-text.ts';
import { createReverts } from '../config/reverts/reverts.ts';
import type { ConfigServer } from '../config/served-config.ts';
import type { ComponentLists } from '../engines/index.ts';
import type { LogIngest } from '../logs/index.ts';
import type { KnownNode, NodeDirectory } from '../nodes/directory/node-directory.ts';
import { DEFAULT_FLEET_SETTINGS } from '../settings/index.ts';
import { WHOLE_EVERY_MS } from '../status/index.ts';
import type { UpdateTracker } from '../updates/tracker.ts';
import { type CpuSample, nextCpuSample } from './cpu.ts';
import { normalizeEntry } from './normalize-entry.ts';
import { createReportQueue, type ReportQueueOptions } from './report-queue.ts';
import { finite, OLD_AFTER, readingTime, toRow } from './report-row.ts';
import { isSettled, stateDigest } from './state-digest.ts';
import type { PipelineReportRow } from './store.ts';

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
  watched: Pick<WatchedPipelines, 'follows'>;
  now: () => number;
  /** From 0 to 1, to spread what is due in each minute; random by default. */
  spread?: (() => number) | undefined;
  busyPerSecond?: ReportQueueOptions['busyPerSecond'];
  /** Called when reports are stored after an unusually long wait for the database. */
  onCaughtUp: () => void;
}

/** Rejected entries and warnings that one answer lists. */
const MAX_LISTED = 100;

/** The report from which the next rates are computed. */
interface RateBase {
  row: PipelineReportRow;
  at: number;
}

interface LastReport {
  /** When a whole report was last due. */
  wholeAt: number;
  rows: Map<string, RateBase>;
  labels: string;
  cpu: CpuSample | null;
}

export function createHeartbeatIngest(options: IngestOptions): HeartbeatIngest {
  const {
    db,
    bus,
    log,
    directory,
    configs,
    logs,
    updates,
    components,
    measures,
    watched,
    spread = Math.random,
  } = options;
  const lastReports = new Map<string, LastReport>();
  const reverts = createReverts({ db, bus, log, configs, now: options.now });
  const queue = createReportQueue({
    ...{ db, bus, log, directory },
    ...{ now: options.now, busyPerSecond: options.busyPerSecond },
    onCaughtUp: options.onCaughtUp,
    onFailing: (failing) => reverts.enqueue(failing),
  });
  directory.onDeleted((nodeId) => {
    lastReports.delete(nodeId);
    measures.forget(nodeId);
  });

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
      const hostMetrics = pickNumbers(request.hostMetrics, HOST_METRIC_NAMES);
      const cpu = nextCpuSample(hostMetrics, receivedAt, earlier?.cpu ?? null);
      // The clock may have been set back.
      const isWhole = earlier !== undefined && Math.abs(receivedAt - earlier.wholeAt) >= WHOLE_EVERY_MS;
      // After a start the whole reports of a fleet are spread over the first minute.
      const wholeAt = earlier
        ? isWhole
          ? receivedAt
          : earlier.wholeAt
        : receivedAt - spread() * WHOLE_EVERY_MS;
      // The node may have been deleted in the meantime.
      if (directory.has(node.nodeId)) {
        lastReports.set(node.nodeId, { wholeAt, rows: counted, labels: labelText, cpu });
        measures.observe(node, receivedAt, read, hostMetrics);
      }
      const agentVersion = storableText(request.agentVersion, 64);
      const agentHealth = healthOf(request.agentHealth);
      const updateError = storableText(request.updateError, 4096);
      const pipelines = [...rows.values()];
      const report = {
        nodeId: node.nodeId,
        environmentId: node.environmentId,
        receivedAt: new Date(receivedAt),
        agentVersion,
        // An empty one says nothing: it must not replace the stored version and the component types that belong to it.
        engineVersion: storableText(request.engineVersion || request.vectorVersion, 256) || null,
        engineComponents: inventory?.digest ?? null,
        deploymentMode: request.deploymentMode ?? null,
        labels,
        labelChanges: labelsChanged ? 1 : 0,
        hostMetrics: { ...hostMetrics, ...(cpu && cpu.percent !== null ? { cpuPercent: cpu.percent } : {}) },
        agentHealth,
        runningAs: storableText(request.runningAs, 128),
        updateError,
        pollIntervalMs: request.pollIntervalMs ?? null,
        deliversLogs,
        pipelines,
      };
      queue.push({
        ...report,
        state: stateDigest(report),
        mustWrite:
          isWhole ||
          labelsChanged ||
          !pipelines.every((row) => isSettled(row) && !watched.follows(row.pipelineId, node.nodeId)),
      });
      if (node.update) {
        const { uptimeSeconds } = request.agentHealth ?? {};
        updates.onHeartbeat(node, { agentVersion, updateError, uptimeSeconds: finite(uptimeSeconds) });
      }
      const configRevision = await configs.revisionFor(node);
      return {
        ok: true,
        configRevision,
        mayOmitEmpty: true,
        ...(inventory?.send ? { sendEngineComponents: true } : {}),
        ...(rejected.length > 0 ? { rejected } : {}),
        ...(warnings.length > 0 ? { warnings } : {}),
      };
    },
    flush: queue.flush,
    sizes: () => ({ waiting: queue.size(), lastReports: lastReports.size }),
    isBehind: queue.isBehind,
    async stop() {
      await queue.stop();
      await reverts.stop();
    },
  };
}

function idOf(entry: unknown): string {
  const id = (entry as { pipelineId?: unknown } | null)?.pipelineId;
  return typeof id === 'string' ? storableText(id, 64) : '';
}

const reasonText = (reason: string): string => storableText(reason, 512) ?? '';

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
