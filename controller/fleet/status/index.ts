import type { Context } from '../../platform/operation/context.ts';
import { readFleetSettings } from '../settings/index.ts';
import { type Cells, joinCells } from './cells.ts';
import type { JoinTime } from './classify-node.ts';
import { type Joined, join, type NodeStatus } from './join-status.ts';
import type { ObservedScope } from './observed-rows.ts';
import { readCompactObserved, readObserved, readObservedOfMany } from './queries.ts';
import type { Snapshots } from './snapshots.ts';

export type { Cells, NodeCells } from './cells.ts';
export { desiredPipelines } from './desired-pipelines.ts';
export { sumGates } from './gate/gate-sums.ts';
export { type Joined, type NodeStatus, type PipelineStatus, sumRates } from './join-status.ts';
export { WHOLE_EVERY_MS } from './node-health.ts';
export { datedConditions, datedOrigin, readHealth } from './queries.ts';
export { reasonLine } from './refusal.ts';
export { createSnapshots } from './snapshots.ts';
export {
  afterRevert,
  type Canary,
  type Deployable,
  isCanary,
  type Reverted,
  stageOfNode,
  type Target,
  versionForNode,
} from './version-for-node.ts';

declare module '../../platform/operation/context.ts' {
  interface Services {
    /** The time since which the database holds the heartbeats that this controller receives, in milliseconds since 1970. */
    listeningSince: () => number;
    /** The latest joins of whole environments. */
    statuses: Snapshots;
  }
}

/**
 * Reads desired and observed state of an environment or of one object in it. The result is shared; callers must not change it.
 */
export async function readStatus(ctx: Context, scope: ObservedScope): Promise<Joined> {
  if ('pipelineId' in scope || 'nodeId' in scope) {
    const time = await joinTime(ctx);
    return join(await readObserved(ctx.db, scope), time);
  }
  const { environmentId } = scope;
  return (await readStatusOfMany(ctx, [environmentId])).get(environmentId) ?? { nodes: [], pipelines: [] };
}

/** Reads several environments with the same number of statements. */
export async function readStatusOfMany(
  ctx: Context,
  environmentIds: readonly string[],
): Promise<ReadonlyMap<string, Joined>> {
  const compute = (missing: readonly string[]) => readJoined(ctx, { environmentIds: missing, nodeIds: null });
  // A transaction sees its own uncommitted rows, so it does not share the snapshots.
  return ctx.db.isTransaction ? compute(environmentIds) : ctx.services.statuses.read(environmentIds, compute);
}

/** Reads some nodes of these environments. The pipelines of the result count these nodes only. */
export const readStatusOfNodes = (
  ctx: Context,
  environmentIds: readonly string[],
  nodeIds: readonly string[],
): Promise<ReadonlyMap<string, Joined>> => readJoined(ctx, { environmentIds, nodeIds });

/** Reads the archived nodes of an environment, which no other status counts. */
export async function readArchivedNodes(ctx: Context, environmentId: string): Promise<NodeStatus[]> {
  const filter = { environmentIds: [environmentId], nodeIds: null, archived: true };
  return (await readJoined(ctx, filter)).get(environmentId)?.nodes ?? [];
}

async function readJoined(
  ctx: Context,
  filter: { environmentIds: readonly string[]; nodeIds: readonly string[] | null; archived?: boolean },
): Promise<ReadonlyMap<string, Joined>> {
  const time = await joinTime(ctx);
  const observed = await readObservedOfMany(ctx.db, { ...filter, pipelineId: null });
  return new Map(
    [...observed].map(([environmentId, observedState]) => [environmentId, join(observedState, time)]),
  );
}

/** Reads for a whole environment only the state of each pipeline on each node. */
export async function readCells(ctx: Context, environmentId: string): Promise<Cells> {
  const compute = async () => {
    const time = await joinTime(ctx);
    return joinCells(await readCompactObserved(ctx.db, environmentId), time);
  };
  return ctx.services.statuses.readCells(environmentId, compute);
}

/** Caches values that are derived from a join, for all callers that read the same join. */
export function memoizePerJoin<T extends object, J extends object = Joined>(
  compute: (joined: J) => T,
): (joined: J) => T {
  const cache = new WeakMap<J, T>();
  return (joined) => {
    const known = cache.get(joined) ?? compute(joined);
    cache.set(joined, known);
    return known;
  };
}

/**
 * Of the moment before the state is read: a database that answers late has nothing in it of what was heard meanwhile, and no
 * node is called silent for that.
 */
const joinTime = async (ctx: Context): Promise<JoinTime> => ({
  now: ctx.clock.now(),
  listeningSince: ctx.services.listeningSince(),
  settings: await readFleetSettings(ctx.db),
});
