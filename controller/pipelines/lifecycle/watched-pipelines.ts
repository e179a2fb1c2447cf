/**
 * Pipelines that somebody looks at, or whose rollout is judged. Where a controller hears a large fleet, it stores the counters of
 * these at once instead of once a minute.
 */
import type { Clock } from '../../../reconcilers/loops/clock.ts';
import type { Context } from '../../platform/operation/context.ts';
import type { Bus } from '../../platform/runtime/bus.ts';

export interface WatchedPipelines {
  /** Whether the node is one of those whose reports are stored at once. */
  follows(pipelineId: string, nodeId: string): boolean;
  /** Whether the other controllers are to learn that it is watched, on so many nodes: at most twice a minute. */
  isDue(pipelineId: string, nodes?: number): boolean;
}

declare module '../../platform/operation/context.ts' {
  interface Services {
    watchedPipelines: WatchedPipelines;
  }
}

const WATCHED_MS = 60_000;
const ANNOUNCE_EVERY_MS = 30_000;
/** Of a pipeline that is looked at: a page over thousands of nodes must not cost what storing all of them would. */
const NODES_OF_PAGE = 50;
/** A verdict is made of the counters of some hundred nodes. */
const NODES_OF_ROLLOUT = 2_000;
const MAX_PIPELINES = 500;

interface Watched {
  until: number;
  announcedAt: number;
  mostNodes: number;
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
    const announcedAt = Number.NEGATIVE_INFINITY;
    const made: Watched = { until: now, announcedAt, mostNodes: 0, nodes: new Set() };
    watched.set(pipelineId, made);
    return made;
  }

  function watch(entry: Watched, nodes: number): void {
    entry.until = clock.monotonic() + WATCHED_MS;
    entry.mostNodes = Math.max(entry.mostNodes, nodes);
  }

  bus.on('watched', ({ pipelineId, nodes }) => {
    const entry = entryOf(pipelineId);
    if (entry) watch(entry, nodes);
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
      if (entry.nodes.size >= entry.mostNodes) return false;
      entry.nodes.add(nodeId);
      return true;
    },
    isDue(pipelineId, nodes = NODES_OF_PAGE) {
      const entry = entryOf(pipelineId);
      const now = clock.monotonic();
      if (!entry || (now - entry.announcedAt < ANNOUNCE_EVERY_MS && nodes <= entry.mostNodes)) return false;
      entry.announcedAt = now;
      watch(entry, nodes);
      return true;
    },
  };
}

/** Of people: programs that ask again and again would keep every pipeline watched. */
export function watchPipeline(ctx: Context, pipelineId: string): void {
  if (ctx.actor.type === 'user') announce(ctx, pipelineId, NODES_OF_PAGE);
}

export const watchRollout = (ctx: Context, pipelineId: string): void =>
  announce(ctx, pipelineId, NODES_OF_ROLLOUT);

function announce({ db, services }: Context, pipelineId: string, nodes: number): void {
  const { watchedPipelines, bus } = services;
  if (watchedPipelines.isDue(pipelineId, nodes))
    bus.publish(db, { type: 'watched', pipelineId, nodes }).catch(() => {});
}
