import type { Context } from '../platform/context.ts';
import { readFleetSettings } from '../settings/index.ts';
import { type Joined, type JoinTime, join } from './join.ts';
import { type ObservedOf, readObserved, readObservedOfMany } from './queries.ts';

export { sumGates } from './gate.ts';
export { type Joined, type NodeStatus, type PipelineStatus, sumRates } from './join.ts';
export { datedConditions, datedOrigin, readHealth } from './queries.ts';
export { versionForNode } from './selection.ts';

declare module '../platform/context.ts' {
  interface Services {
    /** Since when the database has what this controller hears of nodes, in milliseconds since 1970. */
    listeningSince: () => number;
  }
}

/** What should run and what runs, of an environment or one thing in it. */
export async function readStatus(ctx: Context, of: ObservedOf): Promise<Joined> {
  const observed = await readObserved(ctx.db, of);
  return join(observed, await joinTime(ctx));
}

/**
 * The same for several environments at once, in as many statements. `nodeIds` leaves the other nodes out; what it says of
 * pipelines is then of these nodes alone.
 */
export async function readStatusOfMany(
  ctx: Context,
  environmentIds: readonly string[],
  nodeIds: readonly string[] | null = null,
): Promise<ReadonlyMap<string, Joined>> {
  const observed = await readObservedOfMany(ctx.db, { environmentIds, pipelineId: null, nodeIds });
  const time = await joinTime(ctx);
  return new Map([...observed].map(([environmentId, one]) => [environmentId, join(one, time)]));
}

const joinTime = async (ctx: Context): Promise<JoinTime> => ({
  now: ctx.clock.now(),
  listeningSince: ctx.services.listeningSince(),
  settings: await readFleetSettings(ctx.db),
});
