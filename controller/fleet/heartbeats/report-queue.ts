/**
 * Holds the newest report of each node until it is written, and writes them in batches. In a small fleet every report is stored
 * almost at once. In a large one, a report whose state is the stored one only moves the time when its node was last heard; its
 * measures are stored once a minute. The next heartbeat makes up for a batch that is lost with the process.
 */
import type { Knex } from 'knex';
import type { UiTopic } from '../../../schemas/api/ui-events.ts';
import { retryOnDeadlock } from '../../database/retry.ts';
import { messageOf } from '../../platform/operation/errors.ts';
import type { Bus, PublishedSignal } from '../../platform/runtime/bus.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import type { NodeDirectory } from '../nodes/directory/node-directory.ts';
import { createRate } from './events-per-second.ts';
import { touchPresence } from './presence-store.ts';
import { type FailingVersion, type NodeReport, writeReports } from './store.ts';

export interface ReportQueue {
  /** Replaces the node's waiting report, of which only what the new one does not tell is kept. */
  push(report: NodeReport): void;
  /** Writes the waiting reports. */
  flush(): Promise<void>;
  /** Whether reports wait unusually long for the database. */
  isBehind(): boolean;
  /** Number of reports that wait. */
  size(): number;
  /** Writes what waits, once, and stops. */
  stop(): Promise<void>;
}

export interface ReportQueueOptions {
  db: Knex;
  bus: Bus;
  log: Logger;
  directory: Pick<NodeDirectory, 'releaseAgentLabels'>;
  now: () => number;
  /** Called when reports are stored after an unusually long wait for the database. */
  onCaughtUp: () => void;
  /** Above this many heartbeats a second the fleet is a large one; 100 by default. */
  busyPerSecond?: number | undefined;
  /** Called with the versions that do not run, of each batch. */
  onFailing: (failing: readonly FailingVersion[]) => void;
}

/** Below `BUSY_PER_SECOND` heartbeats a second, reports are written almost at once; above, once a second in large batches. */
const QUICK_FLUSH_MS = 50;
const BUSY_FLUSH_MS = 1_000;
const BUSY_PER_SECOND = 100;
/** A batch that takes longer has waited for the database. */
const LATE_MS = 2_500;
/** Nodes per transaction: building its statements blocks the event loop, about 10 ms for this many. */
const NODES_PER_WRITE = 500;
/** Of a node that is only heard, three values are sent. */
const NODES_PER_TOUCH = 4_000;

export function createReportQueue(options: ReportQueueOptions): ReportQueue {
  const { db, bus, log, directory, busyPerSecond = BUSY_PER_SECOND } = options;
  const waiting = new Map<string, NodeReport>();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | null = null;
  const rate = createRate();
  let lastFlushAt = Number.NEGATIVE_INFINITY;
  let failed = false;
  let stopped = false;

  function schedule(): void {
    if (timer || flushing || stopped || waiting.size === 0) return;
    timer = setTimeout(() => void flush(), pause());
  }

  /** The load is the rate of heartbeats and not the size of the last batch, since small batches would stay small. */
  const isBusy = () => rate.perSecond() > busyPerSecond;

  /** Under load, or after a failure, batches start a second apart. */
  function pause(): number {
    if (!failed && !isBusy()) return QUICK_FLUSH_MS;
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
    const due = isBusy() ? await withoutUnchanged(batch, stored) : batch;
    for (let first = 0; first < due.length; first += NODES_PER_WRITE) {
      if (await write(due.slice(first, first + NODES_PER_WRITE), stored)) continue;
      putBack(due.slice(first + NODES_PER_WRITE));
      // Delays the next try by a second.
      lastFlushAt = performance.now();
      break;
    }
    await publish(stored);
    // Newer reports have waited for the signals as well, which `isBehind` covers.
    const tookMs = performance.now() - lastFlushAt;
    if (!failed && tookMs > LATE_MS) {
      const rounded = { nodes: batch.length, tookMs: Math.round(tookMs) };
      log.warn(rounded, 'heartbeats were stored late; the database is slow');
      options.onCaughtUp();
    }
  }

  /** Stores when the nodes with an unchanged state were heard, and returns the reports that must be written. */
  async function withoutUnchanged(batch: readonly NodeReport[], stored: NodeReport[]): Promise<NodeReport[]> {
    const due = batch.filter((report) => report.mustWrite);
    const others = batch.filter((report) => !report.mustWrite);
    for (let first = 0; first < others.length; first += NODES_PER_TOUCH) {
      const part = others.slice(first, first + NODES_PER_TOUCH);
      try {
        const changed = await retryOnDeadlock(() => touchPresence(db, part, new Date(options.now())));
        for (const report of part) (changed.has(report.nodeId) ? due : stored).push(report);
      } catch {
        // Writing them tells what is wrong.
        due.push(...others.slice(first));
        break;
      }
    }
    return due;
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
      options.onFailing(await retryOnDeadlock(() => writeReports(db, part, new Date(options.now()))));
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
    push(report) {
      const older = waiting.get(report.nodeId);
      waiting.set(report.nodeId, older ? mergeReports(older, report) : report);
      rate.count();
      schedule();
    },
    flush,
    size: () => waiting.size,
    isBehind: () => failed || (flushing !== null && performance.now() - lastFlushAt > LATE_MS),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      while (waiting.size > 0 || flushing) {
        const { size } = waiting;
        await flush();
        // The database is unreachable; the next heartbeats bring the rest again.
        if (waiting.size >= size && size > 0) break;
      }
    },
  };
}

const mergeReports = (older: NodeReport, newer: NodeReport): NodeReport => ({
  ...newer,
  engineVersion: newer.engineVersion ?? older.engineVersion,
  engineComponents: newer.engineComponents ?? older.engineComponents,
  labelChanges: older.labelChanges + newer.labelChanges,
  // What only the older one tells is stored with the newer one.
  mustWrite: older.mustWrite || newer.mustWrite || older.state !== newer.state,
});
