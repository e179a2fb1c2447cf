/**
 * Log lines as the nodes bring them: stored before they are acknowledged. Requests of one moment share a statement; while
 * one is under way the next gather.
 */
import type { Knex } from 'knex';
import type { Clock } from '../../../reconcilers/engine/clock.ts';
import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import { LogEntry, type LogsRequest, type LogsResponse } from '../../../schemas/agent/protocol.ts';
import { validator } from '../../../schemas/validate.ts';
import { DomainError, messageOf, unavailable } from '../../platform/operation/errors.ts';
import type { Bus } from '../../platform/runtime/bus.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import { storableText } from '../../platform/text/storable-text.ts';
import { DEFAULT_FLEET_SETTINGS, readFleetSettings } from '../settings/index.ts';
import { createByteBudget } from './byte-budget.ts';
import { levelsOf } from './log-level.ts';
import { createLogNotifications } from './log-notifications.ts';
import { dayOf, ensureDays, insertLines, lacksPartition, type NewLine, rememberDelivering } from './store.ts';

/** What is known of the node that sends lines. */
interface LogNode {
  nodeId: string;
  environmentId: string;
  /** Its log lines have come by /api/agent/logs: those in its heartbeats are the same ones. */
  deliversLogs: boolean;
}
interface KnownNodes {
  has(nodeId: string): boolean;
  onGone(listener: (nodeId: string) => void): void;
}

export interface LogIngest {
  /**
   * Resolves when the lines are stored; UNAVAILABLE when they cannot be, TOO_MANY_REQUESTS when the node has had as many
   * bytes stored as the settings allow in an hour, and PAYLOAD_TOO_LARGE for too many lines at once. The node keeps them
   * then.
   */
  deliver(node: LogNode, request: LogsRequest, signal: AbortSignal): Promise<LogsResponse>;
  /** The node has delivered lines before: those in its heartbeats are the same ones. */
  delivers(node: LogNode): boolean;
  /** Lines of a node that only has heartbeats to bring them. Nobody waits for them; at most some thousands are kept. */
  fromHeartbeat(node: LogNode, entries: readonly LogEntry[]): void;
  stop(): Promise<void>;
  /** Entries in memory, for diagnostics. */
  sizes(): { waitingRequests: number; deliveringNodes: number; budgets: number };
}

export interface LogIngestOptions {
  db: Knex;
  bus: Bus;
  log: Logger;
  clock: Clock;
  /** Every pipeline that a node of the environment may report. */
  knownPipelines(environmentId: string): Promise<ReadonlySet<string>>;
  /** Nothing is held of nodes that are gone. */
  directory: KnownNodes;
}

interface Delivery {
  nodeId: string;
  environmentId: string;
  lines: NewLine[];
  /** What they will take on disk, roughly, and about what they take in memory. */
  bytes: number;
  /** Null for what nobody waits for. */
  done: { resolve(): void; reject(error: Error): void; signal: AbortSignal } | null;
}

/** Requests that come this close together share a statement. */
const GATHER_MS = 10;
const MIB = 1024 * 1024;
/** One statement: this many lines and bytes, and what the last request brings above. */
const BATCH = { lines: 5_000, bytes: 4 * MIB };
/** Waiting in memory. Above, nodes are told to keep theirs, and lines of heartbeats are let go. */
const WAITING_BYTES = 64 * MIB;
const UNCLAIMED_BYTES = 8 * MIB;
/** A stored line takes as much beside its text: the other columns, and two indexes. */
const ROW_BYTES = 300;
/** After a failure, before lines that nobody waits for are tried again. */
const RETRY_MS = 1_000;

export function createLogIngest(options: LogIngestOptions): LogIngest {
  const { db, bus, log, clock } = options;
  const news = createLogNotifications(options);
  /** Nodes that have delivered and not yet sent a heartbeat, which is what the fact is noted on. */
  const unnoted = new Set<string>();
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

  /** A setting that cannot be read stays what it was. */
  function readSettings(): void {
    readFleetSettings(db).then(
      (settings) => {
        mibPerNodeHour = settings.logsMibPerNodeHour;
      },
      () => {},
    );
  }
  const off = [bus.on('fleet', readSettings), bus.on('resync', readSettings)];
  readSettings();

  options.directory.onGone((nodeId) => unnoted.delete(nodeId));

  /** What the node is refused with; null where it has bytes left. */
  function refusalOf({ nodeId }: LogNode): DomainError | null {
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

  /** What was admitted counts from then on: what comes beside it would find room that is spoken for. */
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
    // Who no longer waits for the answer brings the lines again.
    const left = taken.filter(({ done }) => done?.signal.aborted);
    for (const delivery of left) letGo(delivery);
    return taken.filter((delivery) => !left.includes(delivery));
  }

  /** Whether it was stored. What failed is refused to whoever waits for it, and otherwise kept. */
  async function store(batch: readonly Delivery[]): Promise<boolean> {
    if (batch.length === 0) return true;
    try {
      await insert(batch.flatMap(({ lines }) => lines));
    } catch (error) {
      log.warn({ requests: batch.length, reason: messageOf(error) }, 'log lines not stored');
      const refusal = unavailable('log lines cannot be stored at the moment; keep them and try again');
      for (const delivery of batch.toReversed()) {
        if (delivery.done || stopped || !putBack(delivery)) letGo(delivery);
        delivery.done?.reject(refusal);
      }
      return false;
    }
    for (const { environmentId, done } of batch) {
      done?.resolve();
      news.tell(environmentId);
    }
    return true;
  }

  async function insert(lines: readonly NewLine[]): Promise<void> {
    try {
      await insertLines(db, lines);
    } catch (error) {
      if (!lacksPartition(error)) throw error;
      await ensureDays(
        db,
        lines.map((line) => dayOf(line.receivedAt.getTime())),
      );
      await insertLines(db, lines);
    }
  }

  /** False where there is no room for it. */
  function putBack(delivery: Delivery): boolean {
    if (waitingBytes + delivery.bytes > UNCLAIMED_BYTES) return false;
    waiting.unshift(delivery);
    waitingLines += delivery.lines.length;
    waitingBytes += delivery.bytes;
    return true;
  }

  /** It is not stored, and does not count. */
  function letGo({ nodeId, bytes }: Delivery): void {
    budget.giveBack(nodeId, bytes);
  }

  function deliveryOf(node: LogNode, entries: readonly LogEntry[]): Omit<Delivery, 'done'> {
    const { nodeId, environmentId } = node;
    const receivedAt = new Date(clock.now());
    let bytes = 0;
    const lines = entries.flatMap(({ pipelineId, lines: given }) => {
      const texts = given.map((line) => storableText(line, AGENT_LIMITS.logLineChars));
      const levels = levelsOf(texts);
      return texts.map((line, index): NewLine => {
        bytes += Buffer.byteLength(line) + ROW_BYTES;
        return { receivedAt, nodeId, pipelineId, level: levels[index] ?? 'INFO', line };
      });
    });
    return { nodeId, environmentId, lines, bytes };
  }

  /** Other replicas and later starts must know too, or heartbeats there would store the lines again. */
  async function remember(node: LogNode): Promise<void> {
    if (node.deliversLogs) return;
    node.deliversLogs = true;
    const { nodeId, environmentId } = node;
    try {
      if (await rememberDelivering(db, nodeId)) {
        unnoted.delete(nodeId);
        await bus.publish(db, { type: 'node', nodeId, environmentId });
      } else if (options.directory.has(nodeId)) unnoted.add(nodeId);
    } catch {
      node.deliversLogs = false;
    }
  }

  return {
    async deliver(node, request, signal) {
      const known = await options.knownPipelines(node.environmentId);
      const { accepted, rejected } = judge(request, known);
      assertFewEnough(accepted);
      if (stopped || waitingBytes > WAITING_BYTES) {
        throw unavailable('too many log lines wait to be stored; keep them and try again');
      }
      const refusal = accepted.length > 0 ? refusalOf(node) : null;
      if (refusal) throw refusal;
      const delivery = deliveryOf(node, accepted);
      if (delivery.lines.length > 0) {
        await new Promise<void>((resolve, reject) => {
          add({ ...delivery, done: { resolve, reject, signal } });
          signal.addEventListener('abort', () => reject(unavailable('the node went away')), { once: true });
        });
        await remember(node);
      }
      return { ok: true, rejected };
    },
    delivers: (node) => node.deliversLogs || unnoted.has(node.nodeId),
    fromHeartbeat(node, entries) {
      if (stopped || waitingBytes > UNCLAIMED_BYTES || entries.length === 0 || refusalOf(node)) return;
      const delivery = deliveryOf(node, entries);
      if (delivery.lines.length > 0) add({ ...delivery, done: null });
    },
    sizes: () => ({
      ...{ waitingRequests: waiting.length, deliveringNodes: unnoted.size, budgets: budget.size() },
    }),
    async stop() {
      stopped = true;
      for (const end of off) end();
      while (writing || waiting.length > 0) await write();
      news.stop();
    },
  };
}

/** They are stored in one statement, and while it is put together nothing else runs. */
function assertFewEnough(entries: readonly LogEntry[]): void {
  const most = AGENT_LIMITS.logRequestLines;
  const count = entries.reduce((sum, { lines }) => sum + lines.length, 0);
  if (count <= most) return;
  throw new DomainError(
    'PAYLOAD_TOO_LARGE',
    `The body has ${count} lines, and ${most} are the most; send them in several requests`,
  );
}

/** Entries of known pipelines; of the others the lines are counted, and one that cannot be counted is one. */
function judge(request: LogsRequest, known: ReadonlySet<string>): { accepted: LogEntry[]; rejected: number } {
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
