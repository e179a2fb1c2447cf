import type { Context } from '../platform/context.ts';
import { readFleetSettings } from '../settings/index.ts';
import { type Joined, join } from './join.ts';
import { type ObservedOf, readObserved } from './queries.ts';

export { sumGates } from './gate.ts';
export type { Joined, NodeStatus, PipelineStatus } from './join.ts';
export { datedConditions, datedOrigin, readHealth } from './queries.ts';
export { matchesSelector, versionForNode } from './selection.ts';

declare module '../platform/context.ts' {
  interface Services {
    /** Since when the database has what this controller hears of nodes, in milliseconds since 1970. */
    listeningSince: () => number;
  }
}

/** What should run and what runs, of an environment or one thing in it. */
export async function readStatus(ctx: Context, of: ObservedOf): Promise<Joined> {
  const observed = await readObserved(ctx.db, of);
  const settings = await readFleetSettings(ctx.db);
  return join(observed, { now: ctx.clock.now(), listeningSince: ctx.services.listeningSince(), settings });
}
