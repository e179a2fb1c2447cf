/**
 * Live taps at this controller: its viewers, and the delivery of events from nodes. Events for a viewer at another controller
 * pass through the database; with a single controller nothing is written. There is no queue: events without a viewer are
 * dropped and counted.
 */
import type { Knex } from 'knex';
import type { Clock } from '../../../reconcilers/loops/clock.ts';
import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import type { PushMessage, TapEventsRequest } from '../../../schemas/agent/protocol.ts';
import type { TapEnded, TapEvents } from '../../../schemas/api/fleet/samples.ts';
import { messageOf } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import type { Bus } from '../../platform/runtime/bus.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import { effectiveRedactKeys } from '../environments/index.ts';
import { limitEvent, limitText } from './limit-event.ts';
import { createRedactor, type Redactor } from './redact.ts';
import type { SampledNode } from './sampled-node.ts';
import { endTap, startMessage } from './tap-messages.ts';
import {
  type Batch,
  confirmWatching,
  findTap,
  insertBatch,
  listOpenTaps,
  type TapRecord,
  TIME_LIMIT_REACHED,
  takeBatches,
  unwatchTap,
  watchTap,
} from './tap-store.ts';

/** The stream to a browser. */
export interface TapViewer {
  send(event: string, data: string): void;
  comment(text: string): void;
  /** Bytes waiting to be sent. */
  backlog(): number;
  close(): void;
}

export interface Taps {
  /** Returns false if the node has no such active tap. */
  ingest(node: SampledNode, request: TapEventsRequest): Promise<boolean>;
  /** The start messages of a node's taps: an agent that has restarted knows none. */
  startMessagesFor(nodeId: string): Promise<PushMessage[]>;
  /** Makes this controller the one with the viewer. Returns false if the tap has ended. */
  claim(tap: TapRecord): Promise<boolean>;
  /** Sends events of a claimed tap to a viewer, which replaces an earlier one. Returns a function that detaches it. */
  attach(tap: TapRecord, viewer: TapViewer): () => void;
  /** Ends a tap for a reason of this controller. */
  end(tapId: string, reason: string): Promise<void>;
  /** Closes all viewers. They may reconnect, here or at another controller. */
  closeViewers(): void;
  stop(): Promise<void>;
}

/** A cached tap is valid this long, unless a signal invalidates it. */
const MAX_AGE_MS = 2_000;
const MAX_CACHED_TAPS = 1_000;
const SHARED_MS = 500;
const REASON_MS = 1_000;
/** A viewer with more unsent bytes is too slow and misses events. */
const VIEWER_BACKLOG_BYTES = 256 * 1024;
const BATCH_CHARS = 512 * 1024;
const REASON_CHARS = 500;
/** Interval at which the viewer is confirmed in the database and a keep-alive is sent. */
export const WATCH_MS = 15_000;

interface CachedTap {
  tap: TapRecord;
  readAt: number;
  redactor: Redactor;
  /** The current second, and the events counted in it. */
  second: number;
  inSecond: number;
  /** Dropped events that were not reported yet. */
  dropped: number;
}

interface Viewing {
  endsAt: Date;
  viewer: TapViewer;
  dropped: number;
  /** Serializes the work for this viewer, so that the end comes last. */
  queue: Promise<void>;
  cancel(): void;
}

export function createTaps(options: { db: Knex; bus: Bus; clock: Clock; log: Logger }): Taps {
  const { db, bus, clock, log } = options;
  const controllerId = newId();
  const cache = new Map<string, CachedTap>();
  const viewings = new Map<string, Viewing>();
  const unwatching = new Set<Promise<unknown>>();
  const now = () => new Date(clock.now());

  /** Shared by nodes that connect at the same moment: a whole fleet does when a controller starts. */
  let openTaps: { readAt: number; taps: ReturnType<typeof listOpenTaps> } | undefined;

  const unsubscribers = [
    bus.on('tap', ({ tapId, ended }) => {
      invalidate(tapId);
      if (ended !== undefined) cache.delete(tapId);
      const viewing = viewings.get(tapId);
      if (!viewing) return;
      enqueue(tapId, viewing, async () => {
        for (const batch of await takeBatches(db, tapId)) deliver(viewing, batch);
        if (ended !== undefined) finish(tapId, viewing, ended);
        else await confirm(tapId, viewing);
      });
    }),
    bus.on('push', ({ message }) => {
      if (message.type === 'tap_start') openTaps = undefined;
    }),
    bus.on('ui', ({ topics }) => {
      // The redacted keys may have changed.
      if (topics.includes('environments')) for (const tapId of cache.keys()) invalidate(tapId);
    }),
    bus.on('resync', () => {
      for (const tapId of cache.keys()) invalidate(tapId);
      for (const [tapId, viewing] of viewings) enqueue(tapId, viewing, () => confirm(tapId, viewing));
    }),
  ];

  function invalidate(tapId: string): void {
    const cached = cache.get(tapId);
    if (cached) cached.readAt = Number.NEGATIVE_INFINITY;
  }

  function enqueue(tapId: string, viewing: Viewing, work: () => Promise<void>): void {
    viewing.queue = viewing.queue
      .then(() => (viewings.get(tapId) === viewing ? work() : undefined))
      .catch((error) => log.warn({ tapId, reason: messageOf(error) }, 'an update of a live tap failed'));
  }

  async function readTap(tapId: string): Promise<CachedTap | null> {
    const before = cache.get(tapId);
    if (before && clock.monotonic() - before.readAt < MAX_AGE_MS) return before;
    const readAt = clock.monotonic();
    const tap = await findTap(db, tapId);
    if (!tap || tap.endsAt <= now()) {
      cache.delete(tapId);
      return null;
    }
    if (cache.size >= MAX_CACHED_TAPS) cache.clear();
    const redactor = createRedactor(effectiveRedactKeys(tap.redactKeys));
    const counts = before ?? { second: 0, inSecond: 0, dropped: 0 };
    const cached: CachedTap = { ...counts, tap, readAt, redactor };
    cache.set(tapId, cached);
    return cached;
  }

  /** The events that are still within the limit of this second. */
  function limitRate(cached: CachedTap, events: readonly unknown[]): readonly unknown[] {
    const second = Math.floor(clock.monotonic() / 1_000);
    if (second !== cached.second) {
      cached.second = second;
      cached.inSecond = 0;
    }
    const remaining = Math.max(0, AGENT_LIMITS.tapEventsPerSecond - cached.inSecond);
    const accepted = events.slice(0, remaining);
    cached.inSecond += accepted.length;
    return accepted;
  }

  function batchOf(cached: CachedTap, events: readonly unknown[], dropped: number): Batch {
    const batch: unknown[] = [];
    let chars = 0;
    for (const event of limitRate(cached, events)) {
      const redacted = cached.redactor.value(limitEvent(event, AGENT_LIMITS.samples.eventChars));
      chars += JSON.stringify(redacted).length;
      if (chars > BATCH_CHARS) break;
      batch.push(redacted);
    }
    const missed = cached.dropped + dropped + events.length - batch.length;
    cached.dropped = 0;
    return { events: batch, dropped: missed };
  }

  function deliver(viewing: Viewing, { events, dropped }: Batch): void {
    if (viewing.viewer.backlog() > VIEWER_BACKLOG_BYTES) {
      viewing.dropped += events.length + dropped;
      return;
    }
    const message: TapEvents = { events, dropped: dropped + viewing.dropped };
    viewing.dropped = 0;
    if (message.events.length > 0 || message.dropped > 0)
      viewing.viewer.send('events', JSON.stringify(message));
  }

  function finish(tapId: string, viewing: Viewing, reason: string): void {
    const ended: TapEnded = { reason };
    viewing.viewer.send('ended', JSON.stringify(ended));
    detach(tapId, viewing);
    viewing.viewer.close();
  }

  function detach(tapId: string, viewing: Viewing): void {
    viewing.cancel();
    if (viewings.get(tapId) === viewing) viewings.delete(tapId);
  }

  async function claim({ tapId }: TapRecord): Promise<boolean> {
    const isOpen = await watchTap(db, tapId, controllerId, now());
    // Other controllers learn where to send its events.
    if (isOpen) await bus.publish(db, { type: 'tap', tapId });
    return isOpen;
  }

  /** Confirms the viewer in the database. Detaches it if the tap has ended or is now watched elsewhere. */
  async function confirm(tapId: string, viewing: Viewing): Promise<void> {
    if (await confirmWatching(db, tapId, controllerId, now())) return;
    const tap = await findTap(db, tapId);
    // A concurrent call has recorded it.
    if (tap?.watchedBy === controllerId) return;
    // The viewer has left meanwhile.
    if (viewings.get(tapId) !== viewing) return;
    // The previous stream ended after this one started and recorded that nobody watches.
    if (tap?.watchedBy === null && (await claim(tap))) {
      if (!viewings.has(tapId)) await unwatchTap(db, tapId, controllerId, now());
      return;
    }
    if (!tap) {
      const reason = viewing.endsAt <= now() ? TIME_LIMIT_REACHED : 'The tap has ended';
      // A pending signal may bring the exact reason.
      clock.after(REASON_MS, () => viewings.get(tapId) === viewing && finish(tapId, viewing, reason));
      return;
    }
    detach(tapId, viewing);
    viewing.viewer.close();
  }

  function closeViewers(): void {
    for (const { viewer } of [...viewings.values()]) viewer.close();
  }

  function listShared(): ReturnType<typeof listOpenTaps> {
    const readAt = clock.monotonic();
    if (!openTaps || readAt - openTaps.readAt >= SHARED_MS)
      openTaps = { readAt, taps: listOpenTaps(db, now()) };
    return openTaps.taps;
  }

  async function end(tapId: string, reason: string, options: { atNode?: boolean } = {}): Promise<void> {
    await db.transaction((tx) => endTap(tx, bus, tapId, reason, options));
  }

  return {
    async ingest(node, request) {
      const cached = await readTap(request.requestId);
      if (
        !cached ||
        cached.tap.nodeId !== node.nodeId ||
        cached.tap.pipelineId !== request.pipelineId ||
        cached.tap.componentKey !== request.componentId ||
        cached.tap.endsAt <= now()
      )
        return false;
      const { tapId, watchedBy } = cached.tap;
      if ('status' in request) {
        cache.delete(tapId);
        const reason = cached.redactor.text(limitText(request.reason, REASON_CHARS));
        await end(tapId, `It ended on the node: ${reason}`, { atNode: false });
        return true;
      }
      const viewing = viewings.get(tapId);
      const { events, dropped = 0 } = request;
      if (viewing) {
        deliver(viewing, batchOf(cached, events, dropped));
      } else if (watchedBy !== null && watchedBy !== controllerId) {
        const batch = batchOf(cached, events, dropped);
        const isStored = await db.transaction(async (tx) => {
          if (!(await insertBatch(tx, tapId, batch))) return false;
          await bus.publish(tx, { type: 'tap', tapId });
          return true;
        });
        if (!isStored) cached.dropped += batch.events.length + batch.dropped;
      }
      return true;
    },

    async startMessagesFor(nodeId) {
      const taps = await listShared();
      return taps.filter((tap) => tap.nodeId === nodeId).map(startMessage);
    },

    claim,

    attach({ tapId, endsAt }, viewer) {
      const before = viewings.get(tapId);
      const cancelEnd = clock.after(Math.max(0, endsAt.getTime() - clock.now()), () => {
        end(tapId, TIME_LIMIT_REACHED).catch(() => {});
      });
      let cancelConfirm = () => {};
      const viewing: Viewing = {
        endsAt,
        viewer,
        dropped: 0,
        queue: Promise.resolve(),
        cancel() {
          cancelEnd();
          cancelConfirm();
        },
      };
      const scheduleConfirm = () => {
        cancelConfirm = clock.after(WATCH_MS, () => {
          viewer.comment('keep-alive');
          enqueue(tapId, viewing, () => confirm(tapId, viewing));
          scheduleConfirm();
        });
      };
      scheduleConfirm();
      viewings.set(tapId, viewing);
      if (before) {
        before.cancel();
        before.viewer.close();
      }
      return () => {
        const isWatched = viewings.get(tapId) === viewing;
        detach(tapId, viewing);
        if (!isWatched) return;
        const done = unwatchTap(db, tapId, controllerId, now())
          .then((wasWatched) => (wasWatched ? bus.publish(db, { type: 'tap', tapId }) : undefined))
          .catch((error) =>
            log.debug(
              { tapId, reason: messageOf(error) },
              'the end of watching a live tap could not be recorded',
            ),
          )
          .finally(() => unwatching.delete(done));
        unwatching.add(done);
      };
    },

    end,

    closeViewers,

    async stop() {
      for (const unsubscribe of unsubscribers) unsubscribe();
      closeViewers();
      await Promise.all(unwatching);
    },
  };
}
