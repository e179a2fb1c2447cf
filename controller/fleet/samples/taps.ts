/**
 * Live taps at this controller: who watches here, and where the events go that nodes bring. Who watches at another
 * controller gets them through the database; with one controller nothing is written. Nothing piles up: events that nobody
 * takes are dropped and counted.
 */
import type { Knex } from 'knex';
import type { Clock } from '../../../reconcilers/engine/clock.ts';
import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import type { PushMessage, TapEventsRequest } from '../../../schemas/agent/protocol.ts';
import type { TapEnded, TapEvents } from '../../../schemas/api/samples.ts';
import { messageOf } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import type { Bus } from '../../platform/runtime/bus.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import { effectiveRedactKeys } from '../environments/index.ts';
import { boundEvent, boundText } from './bounded-event.ts';
import { createRedactor, type Redactor } from './redact.ts';
import type { SampledNode } from './sampled-node.ts';
import { endTap, startMessage } from './tap-messages.ts';
import {
  type Batch,
  findTap,
  insertBatch,
  keepWatching,
  listOpenTaps,
  type TapRecord,
  TIME_IS_OVER,
  takeBatches,
  unwatchTap,
  watchTap,
} from './tap-store.ts';

/** Where events go: a stream to a browser. */
export interface TapViewer {
  send(event: string, data: string): void;
  comment(text: string): void;
  /** Bytes that wait to be sent. */
  backlog(): number;
  close(): void;
}

export interface Taps {
  /** False where no such tap is active for the node. */
  take(node: SampledNode, request: TapEventsRequest): Promise<boolean>;
  /** The taps that a node should have: one whose agent has started again knows of none. */
  startsFor(nodeId: string): Promise<PushMessage[]>;
  /** It is watched here from now on. False where it has ended. */
  claim(tap: TapRecord): Promise<boolean>;
  /** Sends events of a claimed tap to a viewer, in place of the one before. The answer takes it off. */
  attach(tap: TapRecord, viewer: TapViewer): () => void;
  /** Ends a tap for a reason of this controller's. */
  end(tapId: string, reason: string): Promise<void>;
  /** They may come back, here or at another controller. */
  closeViewers(): void;
  stop(): Promise<void>;
}

/** What was read of a tap is believed for so long, unless a signal says otherwise. */
const BELIEVED_MS = 2_000;
const REMEMBERED = 1_000;
const SHARED_MS = 500;
const REASON_MS = 1_000;
/** Above this many bytes on their way, a viewer is too slow and misses events. */
const VIEWER_BACKLOG = 256 * 1024;
const BATCH_CHARS = 512 * 1024;
const REASON_CHARS = 500;
/** How often who watches is noted, and the stream kept open. */
export const WATCH_MS = 15_000;

interface Known {
  tap: TapRecord;
  readAt: number;
  redactor: Redactor;
  /** Events of the second that has begun then. */
  second: number;
  inSecond: number;
  /** Not told to anybody yet. */
  dropped: number;
}

interface Watched {
  endsAt: Date;
  viewer: TapViewer;
  dropped: number;
  /** One thing after the other, so that the end comes last. */
  queue: Promise<void>;
  cancel(): void;
}

export function createTaps(options: { db: Knex; bus: Bus; clock: Clock; log: Logger }): Taps {
  const { db, bus, clock, log } = options;
  const self = newId();
  const known = new Map<string, Known>();
  const watched = new Map<string, Watched>();
  const leaving = new Set<Promise<unknown>>();
  const now = () => new Date(clock.now());

  /** Shared by all nodes that connect within a moment: a whole fleet does when a controller starts. */
  let openTaps: { readAt: number; taps: ReturnType<typeof listOpenTaps> } | undefined;

  const off = [
    bus.on('tap', ({ tapId, ended }) => {
      forget(tapId);
      if (ended !== undefined) known.delete(tapId);
      const here = watched.get(tapId);
      if (!here) return;
      follow(tapId, here, async () => {
        for (const batch of await takeBatches(db, tapId)) deliver(here, batch);
        if (ended !== undefined) finish(tapId, here, ended);
        else await check(tapId, here);
      });
    }),
    bus.on('push', ({ message }) => {
      if (message.type === 'tap_start') openTaps = undefined;
    }),
    bus.on('ui', ({ topics }) => {
      // The keys that are hidden may be others now.
      if (topics.includes('environments')) for (const tapId of known.keys()) forget(tapId);
    }),
    bus.on('resync', () => {
      for (const tapId of known.keys()) forget(tapId);
      for (const [tapId, here] of watched) follow(tapId, here, () => check(tapId, here));
    }),
  ];

  function forget(tapId: string): void {
    const one = known.get(tapId);
    if (one) one.readAt = Number.NEGATIVE_INFINITY;
  }

  function follow(tapId: string, here: Watched, work: () => Promise<void>): void {
    here.queue = here.queue
      .then(() => (watched.get(tapId) === here ? work() : undefined))
      .catch((error) => log.warn({ tapId, reason: messageOf(error) }, 'a live tap was not followed'));
  }

  async function lookUp(tapId: string): Promise<Known | null> {
    const before = known.get(tapId);
    if (before && clock.monotonic() - before.readAt < BELIEVED_MS) return before;
    const readAt = clock.monotonic();
    const tap = await findTap(db, tapId);
    if (!tap || tap.endsAt <= now()) {
      known.delete(tapId);
      return null;
    }
    if (known.size >= REMEMBERED) known.clear();
    const redactor = createRedactor(effectiveRedactKeys(tap.redactKeys));
    const counts = before ?? { second: 0, inSecond: 0, dropped: 0 };
    const one: Known = { ...counts, tap, readAt, redactor };
    known.set(tapId, one);
    return one;
  }

  /** Of the events those that the second still has room for. */
  function within(one: Known, events: readonly unknown[]): readonly unknown[] {
    const second = Math.floor(clock.monotonic() / 1_000);
    if (second !== one.second) {
      one.second = second;
      one.inSecond = 0;
    }
    const room = Math.max(0, AGENT_LIMITS.tapEventsPerSecond - one.inSecond);
    const kept = events.slice(0, room);
    one.inSecond += kept.length;
    return kept;
  }

  function batchOf(one: Known, events: readonly unknown[], dropped: number): Batch {
    const kept: unknown[] = [];
    let chars = 0;
    for (const event of within(one, events)) {
      const shown = one.redactor.value(boundEvent(event, AGENT_LIMITS.samples.eventChars));
      chars += JSON.stringify(shown).length;
      if (chars > BATCH_CHARS) break;
      kept.push(shown);
    }
    const missed = one.dropped + dropped + events.length - kept.length;
    one.dropped = 0;
    return { events: kept, dropped: missed };
  }

  function deliver(here: Watched, { events, dropped }: Batch): void {
    if (here.viewer.backlog() > VIEWER_BACKLOG) {
      here.dropped += events.length + dropped;
      return;
    }
    const shown: TapEvents = { events, dropped: dropped + here.dropped };
    here.dropped = 0;
    if (shown.events.length > 0 || shown.dropped > 0) here.viewer.send('events', JSON.stringify(shown));
  }

  function finish(tapId: string, here: Watched, reason: string): void {
    const ended: TapEnded = { reason };
    here.viewer.send('ended', JSON.stringify(ended));
    drop(tapId, here);
    here.viewer.close();
  }

  function drop(tapId: string, here: Watched): void {
    here.cancel();
    if (watched.get(tapId) === here) watched.delete(tapId);
  }

  async function claim({ tapId }: TapRecord): Promise<boolean> {
    const isOpen = await watchTap(db, tapId, self, now());
    // Other controllers learn where its events are to go.
    if (isOpen) await bus.publish(db, { type: 'tap', tapId });
    return isOpen;
  }

  /** Notes that somebody watches. One that has ended, or that is watched elsewhere by now, is let go here. */
  async function check(tapId: string, here: Watched): Promise<void> {
    if (await keepWatching(db, tapId, self, now())) return;
    const tap = await findTap(db, tapId);
    // Another check of the same moment has noted it.
    if (tap?.watchedBy === self) return;
    // Who has left meanwhile is not noted again.
    if (watched.get(tapId) !== here) return;
    // The stream before this one ended after this one had come, and was taken for the last.
    if (tap?.watchedBy === null && (await claim(tap))) {
      if (!watched.has(tapId)) await unwatchTap(db, tapId, self, now());
      return;
    }
    if (!tap) {
      const reason = here.endsAt <= now() ? TIME_IS_OVER : 'The tap has ended';
      // The signal that is on its way may know better.
      clock.after(REASON_MS, () => watched.get(tapId) === here && finish(tapId, here, reason));
      return;
    }
    drop(tapId, here);
    here.viewer.close();
  }

  function closeViewers(): void {
    for (const { viewer } of [...watched.values()]) viewer.close();
  }

  function listShared(): ReturnType<typeof listOpenTaps> {
    const readAt = clock.monotonic();
    if (!openTaps || readAt - openTaps.readAt >= SHARED_MS)
      openTaps = { readAt, taps: listOpenTaps(db, now()) };
    return openTaps.taps;
  }

  async function end(tapId: string, reason: string, where: { atNode?: boolean } = {}): Promise<void> {
    await db.transaction((tx) => endTap(tx, bus, tapId, reason, where));
  }

  return {
    async take(node, request) {
      const one = await lookUp(request.requestId);
      if (
        !one ||
        one.tap.nodeId !== node.nodeId ||
        one.tap.pipelineId !== request.pipelineId ||
        one.tap.componentKey !== request.componentId ||
        one.tap.endsAt <= now()
      )
        return false;
      const { tapId, watchedBy } = one.tap;
      if ('status' in request) {
        known.delete(tapId);
        const reason = one.redactor.text(boundText(request.reason, REASON_CHARS));
        await end(tapId, `It ended on the node: ${reason}`, { atNode: false });
        return true;
      }
      const here = watched.get(tapId);
      const { events, dropped = 0 } = request;
      if (here) {
        deliver(here, batchOf(one, events, dropped));
      } else if (watchedBy !== null && watchedBy !== self) {
        const batch = batchOf(one, events, dropped);
        const isTaken = await db.transaction(async (tx) => {
          if (!(await insertBatch(tx, tapId, batch))) return false;
          await bus.publish(tx, { type: 'tap', tapId });
          return true;
        });
        if (!isTaken) one.dropped += batch.events.length + batch.dropped;
      }
      return true;
    },

    async startsFor(nodeId) {
      const taps = await listShared();
      return taps.filter((tap) => tap.nodeId === nodeId).map(startMessage);
    },

    claim,

    attach({ tapId, endsAt }, viewer) {
      const before = watched.get(tapId);
      const over = clock.after(Math.max(0, endsAt.getTime() - clock.now()), () => {
        end(tapId, TIME_IS_OVER).catch(() => {});
      });
      let keep = () => {};
      const here: Watched = {
        endsAt,
        viewer,
        dropped: 0,
        queue: Promise.resolve(),
        cancel() {
          over();
          keep();
        },
      };
      const again = () => {
        keep = clock.after(WATCH_MS, () => {
          viewer.comment('keep-alive');
          follow(tapId, here, () => check(tapId, here));
          again();
        });
      };
      again();
      watched.set(tapId, here);
      if (before) {
        before.cancel();
        before.viewer.close();
      }
      return () => {
        const isWatched = watched.get(tapId) === here;
        drop(tapId, here);
        if (!isWatched) return;
        const left = unwatchTap(db, tapId, self, now())
          .then((didLeave) => (didLeave ? bus.publish(db, { type: 'tap', tapId }) : undefined))
          .catch((error) => log.debug({ tapId, reason: messageOf(error) }, 'a live tap was not left'))
          .finally(() => leaving.delete(left));
        leaving.add(left);
      };
    },

    end,

    closeViewers,

    async stop() {
      for (const remove of off) remove();
      closeViewers();
      await Promise.all(leaving);
    },
  };
}
