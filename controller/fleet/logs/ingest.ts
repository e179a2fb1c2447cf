/**
 * Stores log lines of nodes before it acknowledges them. Requests that arrive together share a statement; while one runs, the
 * next ones gather.
 */
import type { Knex } from 'knex';
import type { Clock } from '../../../reconcilers/loops/clock.ts';
import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import { LogEntry, type LogsRequest, type LogsResponse } from '../../../schemas/agent/protocol.ts';
import { validator } from '../../../schemas/validate.ts';
import { dayOf } from '../../database/day-partitions.ts';
import { DomainError, messageOf, unavailable } from '../../platform/operation/errors.ts';
import type { Bus } from '../../platform/runtime/bus.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import { storableText } from '../../platform/text/storable-text.ts';
import { DEFAULT_FLEET_SETTINGS, readFleetSettings } from '../settings/index.ts';
import { createByteBudget } from './byte-budget.ts';
import { levelsOf } from './log-level.ts';
import { createLogNotifications } from './log-notifications.ts';
import { insertLines, logDays, type NewLine, recordLogDelivery } from './store.ts';

/** The node that sends lines. */
interface LogNode {
  nodeId: string;
  environmentId: string;
  /** The node has delivered log lines by /api/agent/logs. The lines in its heartbeats are the same ones. */
  deliversLogs: boolean;
}
interface KnownNodes {
  has(nodeId: string): boolean;
  onDeleted(listener: (nodeId: string) => void): void;
}

export interface LogIngest {
  /**
   * Resolves when the lines are stored. Rejects with UNAVAILABLE when they cannot be stored, with TOO_MANY_REQUESTS when the
   * node has used up its bytes for the hour, and with PAYLOAD_TOO_LARGE for too many lines at once. The node then keeps its
   * lines.
   */
  deliver(node: LogNode, request: LogsRequest, signal: AbortSignal): Promise<LogsResponse>;
  /** Whether the node has delivered lines before. The lines in its heartbeats are then the same ones. */
  deliversLogs(node: LogNode): boolean;
  /**
   * Stores lines of a node that sends them only in heartbeats. Runs in the background with bounded memory; lines above the
   * bound are dropped.
   */
  storeFromHeartbeat(node: LogNode, entries: readonly LogEntry[]): void;
  stop(): Promise<void>;
  /** Number of entries in memory, for diagnostics. */
  sizes(): { waitingRequests: number; deliveringNodes: number; budgets: number };
}

export interface LogIngestOptions {
  db: Knex;
  bus: Bus;
  log: Logger;
  clock: Clock;
  /** Ids of the pipelines that a node of the environment may report. */
  knownPipelines(environmentId: string): Promise<ReadonlySet<string>>;
  /** Reports deleted nodes, whose entries are dropped. */
  directory: KnownNodes;
}

interface Delivery {
  nodeId: string;
  environmentId: string;
  lines: NewLine[];
  /** Roughly the bytes that the lines take on disk, and about as many in memory. */
  bytes: number;
  /** Null for lines of a heartbeat, which nobody waits for. */
  done: { resolve(): void; reject(error: Error): void; signal: AbortSignal } | null;
}

/** Requests within this time share a statement. */
const GATHER_MS = 10;
const MIB = 1024 * 1024;
/** Lines and bytes per statement; the last request may exceed them. */
const BATCH = { lines: 5_000, bytes: 4 * MIB };
/** Bytes waiting in memory. Above, nodes are asked to keep their lines, and lines of heartbeats are dropped. */
const WAITING_BYTES = 64 * MIB;
const HEARTBEAT_BYTES = 8 * MIB;
/** Bytes of a stored line in addition to its text: the other columns and two indexes. */
const ROW_BYTES = 300;
/** Pause after a failure before lines of heartbeats are stored again. */
const RETRY_MS = 1_000;

export function createLogIngest(options: LogIngestOptions): LogIngest {
  const { db, bus, log, clock } = options;
  const notifications = createLogNotifications(options);
  /** Nodes that have delivered lines but have no `node_reports` row yet, in which the fact is stored. */
  const unrecorded = new Set<string>();
  let mibPerNodeHour = DEFAULT_FLEET_SETTINGS.logsMibPerNodeHour;
  const budget = createByteBudget(
    () => mibPerNodeHour * MIB,
    () => clock.monotonic(),
  );
  const waiting: Delivery[] = [];
  let waitingLines = 0;
  let waitingBytes = 0;
  let cancelTimer: (() => void) | null = null;
  let writing: Promise<void> | null = null;
  let stopped = false;

  /** Keeps the old setting if it cannot be read. */
  function readSettings(): void {
    readFleetSettings(db).then(
      (settings) => {
        mibPerNodeHour = settings.logsMibPerNodeHour;
      },
      () => {},
    );
  }
  const unsubscribers = [bus.on('fleet', readSettings), bus.on('resync', readSettings)];
  readSettings();

  options.directory.onDeleted((nodeId) => unrecorded.delete(nodeId));

  /** The error for a node that has no bytes left; null if it has. */
  function overBudgetError({ nodeId }: LogNode): DomainError | null {
    const refusal = budget.refusal(nodeId);
    if (!refusal) return null;
    const { retryAfterSeconds, isFirst } = refusal;
    if (isFirst)
      log.warn({ nodeId, mibPerNodeHour }, 'a node sends more log lines than the settings allow in an hour');
    return new DomainError(
      'TOO_MANY_REQUESTS',
      `This node sends more log lines than ${mibPerNodeHour} MiB an hour, which is what the fleet settings allow; ` +
        `keep them and try again in ${retryAfterSeconds} s`,
      { retryAfterSeconds },
    );
  }

  /** Admitted lines count at once, so that concurrent requests do not use the same bytes. */
  function add(delivery: Delivery): void {
    budget.spend(delivery.nodeId, delivery.bytes);
    waiting.push(delivery);
    waitingLines += delivery.lines.length;
    waitingBytes += delivery.bytes;
    schedule(GATHER_MS);
  }

  function schedule(ms: number): void {
    if (writing || waiting.length === 0) return;
    const full = waitingLines >= BATCH.lines || waitingBytes >= BATCH.bytes;
    if (full && ms === GATHER_MS) {
      void write();
      return;
    }
    if (!cancelTimer) cancelTimer = clock.after(ms, () => void write());
  }

  function write(): Promise<void> {
    cancelTimer?.();
    cancelTimer = null;
    writing ??= store(takeBatch()).then((stored) => {
      writing = null;
      schedule(stored ? GATHER_MS : RETRY_MS);
    });
    return writing;
  }

  function takeBatch(): Delivery[] {
    let lines = 0;
    let bytes = 0;
    let count = 0;
    for (const delivery of waiting) {
      if (lines >= BATCH.lines || bytes >= BATCH.bytes) break;
      lines += delivery.lines.length;
      bytes += delivery.bytes;
      count += 1;
    }
    waitingLines -= lines;
    waitingBytes -= bytes;
    const taken = waiting.splice(0, count);
    // A node that has aborted its request sends the lines again.
    const aborted = taken.filter(({ done }) => done?.signal.aborted);
    for (const delivery of aborted) discard(delivery);
    return taken.filter((delivery) => !aborted.includes(delivery));
  }

  /** Returns whether the batch was stored. On failure, requests are rejected and lines of heartbeats wait for the next try. */
  async function store(batch: readonly Delivery[]): Promise<boolean> {
    if (batch.length === 0) return true;
    try {
      await insert(batch.flatMap(({ lines }) => lines));
    } catch (error) {
      log.warn({ requests: batch.length, reason: messageOf(error) }, 'log lines could not be stored');
      const refusal = unavailable('log lines cannot be stored at the moment; keep them and try again');
      for (const delivery of batch.toReversed()) {
        if (delivery.done || stopped || !putBack(delivery)) discard(delivery);
        delivery.done?.reject(refusal);
      }
      return false;
    }
    for (const { environmentId, done } of batch) {
      done?.resolve();
      notifications.notify(environmentId);
    }
    return true;
  }

  async function insert(lines: readonly NewLine[]): Promise<void> {
    try {
      await insertLines(db, lines);
    } catch (error) {
      if (!logDays.isMissing(error)) throw error;
      await logDays.ensure(
        db,
        lines.map((line) => dayOf(line.receivedAt.getTime())),
      );
      await insertLines(db, lines);
    }
  }

  /** Returns false if too many bytes are waiting. */
  function putBack(delivery: Delivery): boolean {
    if (waitingBytes + delivery.bytes > HEARTBEAT_BYTES) return false;
    waiting.unshift(delivery);
    waitingLines += delivery.lines.length;
    waitingBytes += delivery.bytes;
    return true;
  }

  /** Drops the lines and refunds their bytes. */
  function discard({ nodeId, bytes }: Delivery): void {
    budget.refund(nodeId, bytes);
  }

  function deliveryOf(node: LogNode, entries: readonly LogEntry[]): Omit<Delivery, 'done'> {
    const { nodeId, environmentId } = node;
    const receivedAt = new Date(clock.now());
    let bytes = 0;
    const lines = entries.flatMap(({ pipelineId, lines: rawLines }) => {
      const texts = rawLines.map((line) => storableText(line, AGENT_LIMITS.logLineChars));
      const levels = levelsOf(texts);
      return texts.map((line, index): NewLine => {
        bytes += Buffer.byteLength(line) + ROW_BYTES;
        return { receivedAt, nodeId, pipelineId, level: levels[index] ?? 'INFO', line };
      });
    });
    return { nodeId, environmentId, lines, bytes };
  }

  /** Other replicas and later starts must know this, or they would store the lines of heartbeats again. */
  async function markDelivering(node: LogNode): Promise<void> {
    if (node.deliversLogs) return;
    node.deliversLogs = true;
    const { nodeId, environmentId } = node;
    try {
      if (await recordLogDelivery(db, nodeId)) {
        unrecorded.delete(nodeId);
        await bus.publish(db, { type: 'node', nodeId, environmentId });
      } else if (options.directory.has(nodeId)) unrecorded.add(nodeId);
    } catch {
      node.deliversLogs = false;
    }
  }

  return {
    async deliver(node, request, signal) {
      const known = await options.knownPipelines(node.environmentId);
      const { accepted, rejected } = classify(request, known);
      assertLineLimit(accepted);
      if (stopped || waitingBytes > WAITING_BYTES) {
        throw unavailable('too many log lines wait to be stored; keep them and try again');
      }
      const refusal = accepted.length > 0 ? overBudgetError(node) : null;
      if (refusal) throw refusal;
      const delivery = deliveryOf(node, accepted);
      if (delivery.lines.length > 0) {
        await new Promise<void>((resolve, reject) => {
          add({ ...delivery, done: { resolve, reject, signal } });
          signal.addEventListener('abort', () => reject(unavailable('the node closed the connection')), {
            once: true,
          });
        });
        await markDelivering(node);
      }
      return { ok: true, rejected };
    },
    deliversLogs: (node) => node.deliversLogs || unrecorded.has(node.nodeId),
    storeFromHeartbeat(node, entries) {
      if (stopped || waitingBytes > HEARTBEAT_BYTES || entries.length === 0 || overBudgetError(node)) return;
      const delivery = deliveryOf(node, entries);
      if (delivery.lines.length > 0) add({ ...delivery, done: null });
    },
    sizes: () => ({
      ...{ waitingRequests: waiting.length, deliveringNodes: unrecorded.size, budgets: budget.size() },
    }),
    async stop() {
      stopped = true;
      for (const unsubscribe of unsubscribers) unsubscribe();
      while (writing || waiting.length > 0) await write();
      notifications.stop();
    },
  };
}

/** Limits the lines per request: building the statement blocks the event loop. */
function assertLineLimit(entries: readonly LogEntry[]): void {
  const limit = AGENT_LIMITS.logRequestLines;
  const count = entries.reduce((sum, { lines }) => sum + lines.length, 0);
  if (count <= limit) return;
  throw new DomainError(
    'PAYLOAD_TOO_LARGE',
    `The body has ${count} lines, and the limit is ${limit}; send them in several requests`,
  );
}

/**
 * Accepts entries of known pipelines. Counts the lines of all other entries; an entry without a list of lines counts as one.
 */
function classify(
  request: LogsRequest,
  known: ReadonlySet<string>,
): { accepted: LogEntry[]; rejected: number } {
  const check = validator(LogEntry);
  const accepted: LogEntry[] = [];
  let rejected = 0;
  for (const entry of request as readonly unknown[]) {
    if (!check.fits(entry)) {
      const lines = (entry as { lines?: unknown } | null)?.lines;
      rejected += Array.isArray(lines) ? Math.max(1, lines.length) : 1;
    } else if (!known.has(entry.pipelineId)) {
      rejected += entry.lines.length;
    } else {
      const lines = entry.lines.filter((line) => typeof line === 'string');
      rejected += entry.lines.length - lines.length;
      accepted.push({ pipelineId: entry.pipelineId, lines });
    }
  }
  return { accepted, rejected };
}
