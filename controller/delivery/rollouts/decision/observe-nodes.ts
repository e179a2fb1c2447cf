/**
 * What nodes report while a rollout is active, kept as sums: counters of an engine begin at zero with each of its starts,
 * and the rows of nodes hold only the present. Pure; its result is stored, so that a restarted controller continues.
 */
import type { RolloutFigures } from '../../../../schemas/api/delivery/rollouts.ts';

export type Stage = 'canary' | 'control';

/** Cumulative, of the engine that runs. */
export interface Counters {
  eventsIn: number;
  eventsOut: number;
  errors: number;
  /** Lost without an error that is counted. */
  discarded: number;
  /** Left out on purpose: neither an error nor a loss. */
  filtered: number;
}

/** A node of the pipeline, as it is now. */
export interface NodeFacts {
  nodeId: string;
  /** By its labels. */
  stage: Stage;
  /** False: silent, revoked or in maintenance, so that nobody waits for it and its report tells nothing of now. */
  reachable: boolean;
  /** Why the version of its stage does not run there, and was not started or taken back; null mostly. */
  refused?: string | null;
  /** Null where it reports nothing of the pipeline. */
  report: {
    version: number;
    status: string;
    /** What does not run of it, such as one of its listeners. */
    degraded?: string | null;
    /** How often the engine has ended unasked, since the agent was given the pipeline. */
    restarts: number;
    statusSince: Date;
    /** Of the engine; null where the node does not report it. */
    pid: number | null;
    counters: Counters;
    /** The engine could not be read lately: the counters are of an earlier time. */
    isStale: boolean;
  } | null;
}

export interface ObservedNode {
  stage: Stage;
  /** Of the last report. */
  restarts: number;
  /** Ends of the engine on the version of its stage, as `restarts` has counted them. */
  ends: number;
  /** How often it was seen to come into the state CRASHED on that version. */
  spells: number;
  crashed: boolean;
  /** CRASHED on that version for so long that it does not come up at all. */
  stuck: boolean;
  /** Of the last report; absent in what an older controller stored. */
  pid?: number | null;
  /** In the order of COUNTERS; null before the first report of that version, and after one of another. */
  last: number[] | null;
  sums: number[];
}

export interface Observed {
  /** By node id. */
  nodes: Record<string, ObservedNode>;
}

export interface Versions {
  canary: number;
  /** Null where nothing was deployed before. */
  control: number | null;
}

const COUNTERS = ['eventsIn', 'eventsOut', 'errors', 'discarded', 'filtered'] as const;
/** Of each stage; more tell nothing else, and all of it is written every few seconds. */
export const NODES_WATCHED = 500;
/** An engine that cannot even be started is tried again without an end that could be counted. */
const STUCK_MS = 60_000;
/** So many crashes are a verdict. */
export const CRASHES = 3;

export const versionOf = (versions: Versions, stage: Stage): number | null => versions[stage];

/** Whether the node has, running or not, the version that is meant for it. */
export const isOnVersion = ({ stage, report }: NodeFacts, versions: Versions): boolean =>
  report !== null && report.status !== 'STOPPED' && report.version === versionOf(versions, stage);

/** The nodes as they are now, added to what was seen before. Those that have left are forgotten. */
export function observe(
  before: Partial<Observed>,
  seen: readonly NodeFacts[],
  versions: Versions,
  now: number,
): Observed {
  const nodes: Record<string, ObservedNode> = {};
  const begun = before.nodes !== undefined;
  for (const stage of ['canary', 'control'] as const) {
    const ofStage = seen.filter((node) => node.stage === stage);
    ofStage.sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1));
    for (const node of ofStage.slice(0, NODES_WATCHED)) {
      const known = before.nodes?.[node.nodeId];
      nodes[node.nodeId] = next(known ?? null, node, { versions, now, begun });
    }
  }
  return { nodes };
}

const blank = (stage: Stage, restarts: number): ObservedNode => ({
  stage,
  restarts,
  ends: 0,
  spells: 0,
  crashed: false,
  stuck: false,
  last: null,
  sums: COUNTERS.map(() => 0),
});

function next(
  known: ObservedNode | null,
  node: NodeFacts,
  { versions, now, begun }: { versions: Versions; now: number; begun: boolean },
): ObservedNode {
  const { report, stage } = node;
  // What it ended before is not this version's fault: a new node counts from now on.
  const first = known?.restarts ?? (begun && report === null ? 0 : (report?.restarts ?? 0));
  const before = known?.stage === stage ? known : blank(stage, first);
  if (!node.reachable) return before;
  if (report === null || !isOnVersion(node, versions))
    return { ...before, restarts: report?.restarts ?? 0, crashed: false, stuck: false, last: null };
  const ended = grown(report.restarts, before.restarts);
  const crashed = report.status === 'CRASHED';
  const values = COUNTERS.map((name) => report.counters[name]);
  const last = before.last && baseOf(before, report.pid, values);
  return {
    stage,
    restarts: report.restarts,
    ends: before.ends + ended,
    spells: before.spells + (crashed && (!before.crashed || ended > 0) ? 1 : 0),
    crashed,
    stuck: crashed && now - report.statusSince.getTime() >= STUCK_MS,
    pid: report.pid,
    last: values,
    sums: COUNTERS.map((_, at) => {
      const sum = before.sums[at] ?? 0;
      // A counter that an older controller did not store begins with this report.
      return last ? sum + grown(values[at] ?? 0, last[at] ?? values[at] ?? 0) : sum;
    }),
  };
}

/**
 * What the counters have grown from. In another process all of them began at zero, if one has fallen: one that has caught
 * up meanwhile shows nothing of that by itself. Agents of others may go on counting over a restart, then none falls.
 */
function baseOf({ pid, last }: ObservedNode, newPid: number | null, values: readonly number[]): number[] {
  const before = last ?? [];
  const isOther = pid !== undefined && newPid !== null && pid !== newPid;
  return isOther && values.some((value, at) => value < (before[at] ?? 0)) ? values.map(() => 0) : before;
}

/** A counter that has decreased began at zero in between. */
const grown = (now: number, then: number): number => Math.max(0, now >= then ? now - then : now);

/** The window begins: events count from here on. Crashes stay, they were crashes of this version. */
export const fromHere = ({ nodes }: Observed): Observed => ({
  nodes: Object.fromEntries(
    Object.entries(nodes).map(([id, node]) => [id, { ...node, sums: COUNTERS.map(() => 0) }]),
  ),
});

/** The counter, the state or both may report an end: it is one crash. */
const crashesOf = ({ ends, spells, stuck }: ObservedNode): number =>
  Math.max(ends, spells, stuck ? CRASHES : 0);

export function figuresOf({ nodes }: Observed, stage: Stage): RolloutFigures {
  const of = Object.values(nodes).filter((node) => node.stage === stage);
  const sum = (at: number) => of.reduce((total, { sums }) => total + (sums[at] ?? 0), 0);
  const [eventsIn, eventsOut, errors, discarded, filtered] = [sum(0), sum(1), sum(2), sum(3), sum(4)];
  return {
    nodes: of.length,
    ...{ eventsIn, eventsOut, errors, discarded, filtered },
    crashes: of.reduce((total, node) => total + crashesOf(node), 0),
    errorRate: eventsIn > 0 ? Math.min(1, (errors + discarded) / eventsIn) : null,
  };
}
