import type { Context } from '../../platform/operation/context.ts';
import { readFleetSettings } from '../settings/index.ts';
import { type Cells, joinCells } from './cells.ts';
import type { JoinTime } from './classify-node.ts';
import { type Joined, join, type NodeStatus } from './join-status.ts';
import { type ObservedOf, readObserved, readObservedInShort, readObservedOfMany } from './queries.ts';
import type { Snapshots } from './snapshots.ts';

export type { Cells, NodeCells } from './cells.ts';
export { desiredPipelines } from './desired-pipelines.ts';
export { sumGates } from './gate.ts';
export { type Joined, type NodeStatus, type PipelineStatus, sumRates } from './join-status.ts';
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
    /** Since when the database has what this controller hears of nodes, in milliseconds since 1970. */
    listeningSince: () => number;
    /** Of whole environments, as they were read last. */
    statuses: Snapshots;
  }
}

/** What should run and what runs, of an environment or one thing in it. Shared: not to be changed by who reads it. */
export async function readStatus(ctx: Context, of: ObservedOf): Promise<Joined> {
  if ('pipelineId' in of || 'nodeId' in of) return join(await readObserved(ctx.db, of), await joinTime(ctx));
  const { environmentId } = of;
  return (await readStatusOfMany(ctx, [environmentId])).get(environmentId) ?? { nodes: [], pipelines: [] };
}

/** The same for several environments at once, in as many statements. */
export async function readStatusOfMany(
  ctx: Context,
  environmentIds: readonly string[],
): Promise<ReadonlyMap<string, Joined>> {
  const make = (missing: readonly string[]) => readJoined(ctx, { environmentIds: missing, nodeIds: null });
  // A transaction sees what nobody else does yet.
  return ctx.db.isTransaction ? make(environmentIds) : ctx.services.statuses.read(environmentIds, make);
}

/** Of some nodes of these environments; what it says of pipelines is then of these nodes alone. */
export const readStatusOfNodes = (
  ctx: Context,
  environmentIds: readonly string[],
  nodeIds: readonly string[],
): Promise<ReadonlyMap<string, Joined>> => readJoined(ctx, { environmentIds, nodeIds });

/** The archived nodes of an environment; nothing that it says of pipelines counts them elsewhere. */
export async function readArchivedNodes(ctx: Context, environmentId: string): Promise<NodeStatus[]> {
  const of = { environmentIds: [environmentId], nodeIds: null, archived: true };
  return (await readJoined(ctx, of)).get(environmentId)?.nodes ?? [];
}

async function readJoined(
  ctx: Context,
  of: { environmentIds: readonly string[]; nodeIds: readonly string[] | null; archived?: boolean },
): Promise<ReadonlyMap<string, Joined>> {
  const observed = await readObservedOfMany(ctx.db, { ...of, pipelineId: null });
  const time = await joinTime(ctx);
  return new Map([...observed].map(([environmentId, one]) => [environmentId, join(one, time)]));
}

/** Of a whole environment, nothing but which pipeline is in which state on which node. */
export async function readCells(ctx: Context, environmentId: string): Promise<Cells> {
  const make = async () => joinCells(await readObservedInShort(ctx.db, environmentId), await joinTime(ctx));
  return ctx.services.statuses.readCells(environmentId, make);
}

/** What is made of a join, once for all who read the same one. */
export function ofJoined<T extends object, J extends object = Joined>(
  make: (joined: J) => T,
): (joined: J) => T {
  const made = new WeakMap<J, T>();
  return (joined) => {
    const known = made.get(joined) ?? make(joined);
    made.set(joined, known);
    return known;
  };
}

const joinTime = async (ctx: Context): Promise<JoinTime> => ({
  now: ctx.clock.now(),
  listeningSince: ctx.services.listeningSince(),
  settings: await readFleetSettings(ctx.db),
});
