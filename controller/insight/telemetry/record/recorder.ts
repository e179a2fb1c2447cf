/**
 * Follows what nodes report and stores a point a minute. In memory lies the newest reading of each pipeline on each node; when a
 * minute is over, or an engine is replaced, that reading waits to be stored. What waits is written evenly over the minute.
 * Counters are cumulative: the next reading makes up for a lost one.
 */
import type { Knex } from 'knex';
import type { Clock } from '../../../../reconcilers/loops/clock.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import type { Logger } from '../../../platform/runtime/logger.ts';
import type { MinuteStore } from '../minutes/minute-store.ts';
import { postgresMinutes } from '../minutes/postgres-store.ts';
import { isInFuture, minuteOf } from './growth.ts';
import { createHostMeter, type HostMeter, type HostMinute } from './host-meter.ts';
import { isSameEngine, type MeasuredPipeline, type Reading, readingOf } from './reading.ts';
import { type NodeReadings, type SeriesReadings, type StoredBase, storeReadings } from './readings-store.ts';

export interface Recorder {
  /** `pipelines` are those of one accepted heartbeat, with the time at which each engine was read. */
  observe(
    node: { nodeId: string; environmentId: string },
    receivedAt: number,
    pipelines: ReadonlyMap<string, { row: MeasuredPipeline; at: number }>,
    host: Readonly<Record<string, number>>,
  ): void;
  forget(nodeId: string): void;
  /** Stores all that waits, and with `open` the minutes that are not over yet. */
  flush(options?: { open?: boolean }): Promise<void>;
  /** Number of series in memory, of readings that wait to be stored, and about how many bytes they take. */
  sizes(): { nodes: number; series: number; waiting: number; bytes: number };
  stop(): Promise<void>;
}

interface Series {
  last: { row: MeasuredPipeline; at: number };
  /** The newest reading that waits or is stored, by its time. */
  queuedAt: number;
  /** What this controller knows to be stored. */
  base?: StoredBase;
}

interface NodeState {
  environmentId: string;
  heardAt: number;
  series: Map<string, Series>;
  host: HostMeter;
  readings: { pipelineId: string; reading: Reading }[];
  hostMinutes: HostMinute[];
}

const TICK_MS = 1_000;
/** What waits is stored within this many ticks, so that a fleet's minute costs no peak. */
const SPREAD_TICKS = 45;
const MIN_NODES_PER_TICK = 200;
/** Of a pipeline with a handful of components, as the heap grows. */
const BYTES_PER_READING = 1_500;
/** Building a statement blocks the event loop, some milliseconds for this many. */
const NODES_PER_WRITE = 200;
const RETRY_MS = 5_000;
/** A node that is silent this long has ended its minute. */
const SILENT_MS = 90_000;
const FORGET_MS = 3_600_000;
const SWEEP_EVERY_TICKS = 15;
/** Readings of one node that wait while the database is away; of more, every second one is dropped, and the next tells its sum. */
const MAX_WAITING_PER_NODE = 500;
/** Counters that were read longer ago tell nothing of a minute; a newer reading brings their sum. */
const MAX_AGE_MS = 3_600_000;

export interface RecorderOptions {
  db: Knex;
  /** Postgres unless another one is given. */
  minutes?: MinuteStore | undefined;
  clock: Clock;
  log: Logger;
}

export function createRecorder(options: RecorderOptions): Recorder {
  const { db, minutes = postgresMinutes, clock, log } = options;
  const nodes = new Map<string, NodeState>();
  const queue = new Set<string>();
  let series = 0;
  let ticks = 0;
  let cancelTick: (() => void) | null = null;
  let writing: Promise<boolean> | null = null;
  let failing = false;
  let retryAt = Number.NEGATIVE_INFINITY;
  let stopped = false;

  function tick(): void {
    cancelTick = null;
    schedule();
    ticks += 1;
    if (ticks % SWEEP_EVERY_TICKS === 0) sweep();
    if (writing || queue.size === 0 || clock.monotonic() < retryAt) return;
    void write(Math.max(MIN_NODES_PER_TICK, Math.ceil(queue.size / SPREAD_TICKS)));
  }

  function schedule(): void {
    if (!stopped && !cancelTick && nodes.size > 0) cancelTick = clock.after(TICK_MS, tick);
  }

  function sweep(): void {
    const now = clock.now();
    for (const [nodeId, state] of nodes) {
      const silentMs = now - state.heardAt;
      if (silentMs > SILENT_MS) closeMinute(nodeId, state);
      if (silentMs > FORGET_MS && !queue.has(nodeId)) forget(nodeId);
    }
  }

  function closeMinute(nodeId: string, state: NodeState): void {
    for (const [pipelineId, one] of state.series) enqueue(nodeId, state, pipelineId, one);
    const minute = state.host.end();
    if (minute) state.hostMinutes.push(minute);
    if (minute || state.readings.length > 0) queue.add(nodeId);
  }

  function enqueue(nodeId: string, state: NodeState, pipelineId: string, one: Series): void {
    if (one.last.at <= one.queuedAt) return;
    keep(state, pipelineId, one);
    queue.add(nodeId);
  }

  function keep(state: NodeState, pipelineId: string, one: Series): void {
    one.queuedAt = one.last.at;
    state.readings.push({ pipelineId, reading: readingOf(one.last.row, one.last.at) });
  }

  function forget(nodeId: string): void {
    series -= nodes.get(nodeId)?.series.size ?? 0;
    nodes.delete(nodeId);
    queue.delete(nodeId);
  }

  /** Returns false if the database could not be reached; what was taken then waits again. */
  async function write(quota: number): Promise<boolean> {
    while (writing) await writing;
    writing = writeSome(quota).finally(() => {
      writing = null;
    });
    return writing;
  }

  async function writeSome(quota: number): Promise<boolean> {
    const ids = [...queue].slice(0, quota);
    for (let first = 0; first < ids.length; first += NODES_PER_WRITE) {
      const batch = take(ids.slice(first, first + NODES_PER_WRITE));
      try {
        await store(batch);
        if (failing) log.info({ waiting: queue.size }, 'metrics are stored again');
        failing = false;
      } catch (error) {
        if (!failing) log.warn({ reason: messageOf(error) }, 'metrics could not be stored; they wait');
        failing = true;
        retryAt = clock.monotonic() + RETRY_MS;
        putBack(batch);
        return false;
      }
    }
    return true;
  }

  /** Finds data that Postgres refuses by halving the batch, so that one node costs no other its metrics. */
  async function store(batch: readonly NodeReadings[]): Promise<void> {
    try {
      const { bases, stale } = await storeReadings(db, minutes, batch, known, clock.now());
      for (const { nodeId, pipelineId, base } of bases) setBase(nodeId, pipelineId, base);
      for (const one of stale) storeAgain(one);
    } catch (error) {
      if (!isRefused(error)) throw error;
      if (batch.length > 1) {
        const half = Math.ceil(batch.length / 2);
        await store(batch.slice(0, half));
        await store(batch.slice(half));
        return;
      }
      log.warn(
        { nodeId: batch[0]?.nodeId, reason: messageOf(error) },
        'metrics of a node could not be stored',
      );
    }
  }

  const seriesOf = (nodeId: string, pipelineId: string) => nodes.get(nodeId)?.series.get(pipelineId);
  const known = { get: (nodeId: string, pipelineId: string) => seriesOf(nodeId, pipelineId)?.base };

  function setBase(nodeId: string, pipelineId: string, base: StoredBase | undefined): void {
    const one = seriesOf(nodeId, pipelineId);
    if (!one) return;
    if (base) one.base = base;
    else delete one.base;
  }

  /** Another controller has stored a newer base, which is read before the next try. */
  function storeAgain({ nodeId, environmentId, pipelineId, readings }: SeriesReadings): void {
    setBase(nodeId, pipelineId, undefined);
    const again = readings.map((reading) => ({ pipelineId, reading }));
    putBack([{ nodeId, environmentId, readings: again, hostMinutes: [] }]);
  }

  function take(ids: readonly string[]): NodeReadings[] {
    return ids.flatMap((nodeId) => {
      queue.delete(nodeId);
      const state = nodes.get(nodeId);
      if (!state) return [];
      const { environmentId, readings, hostMinutes } = state;
      state.readings = [];
      state.hostMinutes = [];
      return [{ nodeId, environmentId, readings, hostMinutes }];
    });
  }

  function putBack(batch: readonly NodeReadings[]): void {
    for (const { nodeId, readings, hostMinutes } of batch) {
      const state = nodes.get(nodeId);
      if (!state) continue;
      state.readings = thinned([...readings, ...state.readings]);
      state.hostMinutes = [...hostMinutes, ...state.hostMinutes].slice(-MAX_WAITING_PER_NODE);
      queue.add(nodeId);
    }
  }

  return {
    observe({ nodeId, environmentId }, receivedAt, pipelines, host) {
      if (stopped) return;
      const state: NodeState = nodes.get(nodeId) ?? {
        ...{ environmentId, heardAt: receivedAt, series: new Map(), host: createHostMeter() },
        ...{ readings: [], hostMinutes: [] },
      };
      nodes.set(nodeId, state);
      state.environmentId = environmentId;
      state.heardAt = receivedAt;
      for (const [pipelineId, one] of state.series) {
        if (pipelines.has(pipelineId)) continue;
        enqueue(nodeId, state, pipelineId, one);
        state.series.delete(pipelineId);
        series -= 1;
      }
      for (const [pipelineId, { row, at: readAt }] of pipelines) {
        const one = state.series.get(pipelineId);
        // An engine that ends again and again may never be read: its exits are counted all the same.
        const at = one && row.restarts > one.last.row.restarts ? receivedAt : readAt;
        if (receivedAt - at > MAX_AGE_MS) continue;
        if (!one) {
          const first: Series = { last: { row, at }, queuedAt: Number.NEGATIVE_INFINITY };
          state.series.set(pipelineId, first);
          series += 1;
          // What follows is counted from here, or from what was stored before. It is stored with the minute's end: a fleet
          // that starts would else be written twice.
          keep(state, pipelineId, first);
          continue;
        }
        const isSetBack = isInFuture(one.last.at, receivedAt);
        if (at <= one.last.at && !isSetBack) continue;
        if (isSetBack || minuteOf(at) !== minuteOf(one.last.at) || !isSameEngine(one.last.row, row))
          enqueue(nodeId, state, pipelineId, one);
        if (isSetBack) one.queuedAt = Number.NEGATIVE_INFINITY;
        one.last = { row, at };
      }
      const minute = state.host.read(receivedAt, host);
      if (minute) {
        state.hostMinutes.push(minute);
        queue.add(nodeId);
      }
      schedule();
    },
    forget,
    async flush({ open = false } = {}) {
      if (open) for (const [nodeId, state] of nodes) closeMinute(nodeId, state);
      while (writing) await writing;
      while (queue.size > 0) if (!(await write(queue.size))) return;
    },
    sizes() {
      let waiting = 0;
      for (const nodeId of queue) waiting += nodes.get(nodeId)?.readings.length ?? 0;
      return { nodes: nodes.size, series, waiting, bytes: (series + waiting) * BYTES_PER_READING };
    },
    async stop() {
      stopped = true;
      cancelTick?.();
      await this.flush({ open: true });
    },
  };
}

/** SQLSTATE classes 22 and 23: the data is at fault, and another try ends the same. */
const isRefused = (error: unknown): boolean => /^2[23]/.test((error as { code?: string }).code ?? '');

/** Keeps the newest, and every second one of the others: the next reading makes up for a dropped one. */
function thinned<T>(readings: T[]): T[] {
  if (readings.length <= MAX_WAITING_PER_NODE) return readings;
  const newest = readings.length - MAX_WAITING_PER_NODE / 2;
  return readings.filter((_, index) => index >= newest || index % 2 === 0);
}
