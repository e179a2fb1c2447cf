/**
 * Pipelines that somebody looks at. Where a controller hears a large fleet, it stores the counters of these at once instead of
 * once a minute.
 */
import type { Clock } from '../../../reconcilers/engine/clock.ts';
import type { Context } from '../../platform/operation/context.ts';
import type { Bus } from '../../platform/runtime/bus.ts';

export interface WatchedPipelines {
  /** Whether the node is one of those whose reports are stored at once. */
  follows(pipelineId: string, nodeId: string): boolean;
  /** Whether the other controllers should be told that somebody looks at it: at most twice a minute. */
  isDue(pipelineId: string): boolean;
}

declare module '../../platform/operation/context.ts' {
  interface Services {
    watchedPipelines: WatchedPipelines;
  }
}

const WATCHED_MS = 60_000;
const ANNOUNCE_EVERY_MS = 30_000;
/** Of each pipeline: a page over thousands of nodes must not cost what storing all of them would. */
const MAX_NODES = 50;
const MAX_PIPELINES = 500;

interface Watched {
  until: number;
  announcedAt: number;
  nodes: Set<string>;
}

export function createWatchedPipelines({ bus, clock }: { bus: Bus; clock: Clock }): WatchedPipelines {
  const watched = new Map<string, Watched>();

  function entryOf(pipelineId: string): Watched | null {
    const known = watched.get(pipelineId);
    if (known) return known;
    const now = clock.monotonic();
    if (watched.size >= MAX_PIPELINES)
      for (const [id, { until }] of watched) if (until < now) watched.delete(id);
    if (watched.size >= MAX_PIPELINES) return null;
    const made: Watched = { until: now, announcedAt: Number.NEGATIVE_INFINITY, nodes: new Set() };
    watched.set(pipelineId, made);
    return made;
  }

  bus.on('watched', ({ pipelineId }) => {
    const entry = entryOf(pipelineId);
    if (entry) entry.until = clock.monotonic() + WATCHED_MS;
  });

  return {
    follows(pipelineId, nodeId) {
      if (watched.size === 0) return false;
      const entry = watched.get(pipelineId);
      if (!entry) return false;
      if (entry.until < clock.monotonic()) {
        watched.delete(pipelineId);
        return false;
      }
      if (entry.nodes.has(nodeId)) return true;
      if (entry.nodes.size >= MAX_NODES) return false;
      entry.nodes.add(nodeId);
      return true;
    },
    isDue(pipelineId) {
      const entry = entryOf(pipelineId);
      const now = clock.monotonic();
      if (!entry || now - entry.announcedAt < ANNOUNCE_EVERY_MS) return false;
      entry.announcedAt = now;
      entry.until = now + WATCHED_MS;
      return true;
    },
  };
}

/** Of people: programs that ask again and again would keep every pipeline watched. */
export function watchPipeline({ actor, db, services }: Context, pipelineId: string): void {
  const { watchedPipelines, bus } = services;
  if (actor.type === 'user' && watchedPipelines.isDue(pipelineId))
    bus.publish(db, { type: 'watched', pipelineId }).catch(() => {});
}
