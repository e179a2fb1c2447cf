/**
 * Log lines as the nodes bring them: stored before they are acknowledged. Requests of one moment share a statement; while
 * one is under way the next gather.
 */
import type { Knex } from 'knex';
import type { Clock } from '../../reconcilers/engine/clock.ts';
import { AGENT_LIMITS } from '../../schemas/agent/limits.ts';
import { LogEntry, type LogsRequest, type LogsResponse } from '../../schemas/agent/protocol.ts';
import { validator } from '../../schemas/validate.ts';
import type { KnownNode } from '../fleet/index.ts';
import type { Bus } from '../platform/bus.ts';
import { messageOf, unavailable } from '../platform/errors.ts';
import type { Logger } from '../platform/logger.ts';
import { levelsOf } from './level.ts';
import { createNews } from './news.ts';
import { dayOf, ensureDays, insertLines, lacksPartition, type NewLine, rememberDelivering } from './store.ts';

export interface LogIngest {
  /** Resolves when the lines are stored; UNAVAILABLE when they cannot be, and the node keeps them. */
  deliver(node: KnownNode, request: LogsRequest, signal: AbortSignal): Promise<LogsResponse>;
  /** The node has delivered lines before: those in its heartbeats are the same ones. */
  delivers(node: KnownNode): boolean;
  /** Lines of a node that only has heartbeats to bring them. Nobody waits for them; at most some thousands are kept. */
  fromHeartbeat(node: KnownNode, entries: readonly LogEntry[]): void;
  stop(): Promise<void>;
}

export interface LogIngestOptions {
  db: Knex;
  bus: Bus;
  log: Logger;
  clock: Clock;
  /** Every pipeline that a node of the environment may report. */
  knownPipelines(environmentId: string): Promise<ReadonlySet<string>>;
}

interface Delivery {
  environmentId: string;
  lines: NewLine[];
  chars: number;
  /** Null for what nobody waits for. */
  done: { resolve(): void; reject(error: Error): void; signal: AbortSignal } | null;
}

/** Requests that come this close together share a statement. */
const GATHER_MS = 10;
/** One statement: this many lines and characters, and what the last request brings above. */
const BATCH = { lines: 5_000, chars: 4 * 1024 * 1024 };
/** Waiting in memory. Above, nodes are told to keep theirs, and lines of heartbeats are let go. */
const WAITING_CHARS = 64 * 1024 * 1024;
const UNCLAIMED_CHARS = 8 * 1024 * 1024;
/** After a failure, before lines that nobody waits for are tried again. */
const RETRY_MS = 1_000;

export function createLogIngest(options: LogIngestOptions): LogIngest {
  const { db, bus, log, clock } = options;
  const news = createNews(options);
  /** Nodes that have delivered and not yet sent a heartbeat, which is what the fact is noted on. */
  const unnoted = new Set<string>();
  const waiting: Delivery[] = [];
  let waitingLines = 0;
  let waitingChars = 0;
  let cancelTimer: (() => void) | null = null;
  let writing: Promise<void> | null = null;
  let stopped = false;

  function add(delivery: Delivery): void {
    waiting.push(delivery);
    waitingLines += delivery.lines.length;
    waitingChars += delivery.chars;
    schedule(GATHER_MS);
  }

  function schedule(ms: number): void {
    if (writing || waiting.length === 0) return;
    const full = waitingLines >= BATCH.lines || waitingChars >= BATCH.chars;
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
    let chars = 0;
    let count = 0;
    for (const delivery of waiting) {
      if (lines >= BATCH.lines || chars >= BATCH.chars) break;
      lines += delivery.lines.length;
      chars += delivery.chars;
      count += 1;
    }
    waitingLines -= lines;
    waitingChars -= chars;
    // Who no longer waits for the answer brings the lines again.
    return waiting.splice(0, count).filter(({ done }) => !done?.signal.aborted);
  }

  /** Whether it was stored. What failed is refused to whoever waits for it, and otherwise kept. */
  async function store(batch: readonly Delivery[]): Promise<boolean> {
    if (batch.length === 0) return true;
    try {
      await insert(batch.flatMap(({ lines }) => lines));
    } catch (error) {
      log.warn({ requests: batch.length, reason: messageOf(error) }, 'log lines not stored');
      const refusal = unavailable('log lines cannot be stored at the moment; keep them and try again');
      const unclaimed = batch.filter(({ done }) => done === null);
      for (const { done } of batch) done?.reject(refusal);
      if (!stopped) for (const delivery of unclaimed.reverse()) putBack(delivery);
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

  function putBack(delivery: Delivery): void {
    if (waitingChars + delivery.chars > UNCLAIMED_CHARS) return;
    waiting.unshift(delivery);
    waitingLines += delivery.lines.length;
    waitingChars += delivery.chars;
  }

  function linesOf(node: KnownNode, entries: readonly LogEntry[]): { lines: NewLine[]; chars: number } {
    const receivedAt = new Date(clock.now());
    let chars = 0;
    const lines = entries.flatMap(({ pipelineId, lines: given }) => {
      const texts = given.map(storable);
      const levels = levelsOf(texts);
      return texts.map((line, index): NewLine => {
        chars += line.length;
        return { receivedAt, nodeId: node.nodeId, pipelineId, level: levels[index] ?? 'INFO', line };
      });
    });
    return { lines, chars };
  }

  /** Other replicas and later starts must know too, or heartbeats there would store the lines again. */
  async function remember(node: KnownNode): Promise<void> {
    if (node.deliversLogs) return;
    node.deliversLogs = true;
    const { nodeId, environmentId } = node;
    try {
      if (await rememberDelivering(db, nodeId)) {
        unnoted.delete(nodeId);
        await bus.publish(db, { type: 'node', nodeId, environmentId });
      } else unnoted.add(nodeId);
    } catch {
      node.deliversLogs = false;
    }
  }

  return {
    async deliver(node, request, signal) {
      const known = await options.knownPipelines(node.environmentId);
      const { accepted, rejected } = judge(request, known);
      if (stopped || waitingChars > WAITING_CHARS) {
        throw unavailable('too many log lines wait to be stored; keep them and try again');
      }
      const { lines, chars } = linesOf(node, accepted);
      if (lines.length > 0) {
        await new Promise<void>((resolve, reject) => {
          add({ environmentId: node.environmentId, lines, chars, done: { resolve, reject, signal } });
          signal.addEventListener('abort', () => reject(unavailable('the node went away')), { once: true });
        });
        await remember(node);
      }
      return { ok: true, rejected };
    },
    delivers: (node) => node.deliversLogs || unnoted.has(node.nodeId),
    fromHeartbeat(node, entries) {
      if (stopped || waitingChars > UNCLAIMED_CHARS) return;
      const { lines, chars } = linesOf(node, entries);
      if (lines.length > 0) add({ environmentId: node.environmentId, lines, chars, done: null });
    },
    async stop() {
      stopped = true;
      while (writing || waiting.length > 0) await write();
      news.stop();
    },
  };
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

/** Postgres keeps neither NUL nor half a surrogate pair. */
function storable(line: string): string {
  const cut = line.length > AGENT_LIMITS.logLineChars ? line.slice(0, AGENT_LIMITS.logLineChars) : line;
  return (cut.includes('\0') ? cut.replaceAll('\0', '') : cut).toWellFormed();
}
