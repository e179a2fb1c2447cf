/** What the making, changing or deleting of a group will do to nodes and pipelines, as far as their list tells. */
import type { NodeSummary } from '../../../../../schemas/api/fleet/fleet.ts';
import type { PipelineSummary } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { belongs, type GroupRule, labelsOf } from '../../../../../schemas/node-groups/membership.ts';
import { wantedBy } from '../nodes/label-preview.ts';

type Labels = Readonly<Record<string, string>>;

export interface OnNodes {
  pipeline: string;
  nodes: number;
}

export interface GroupForetold {
  /** Names of nodes. */
  joins: string[];
  leaves: string[];
  /** By the name of the pipeline. */
  starts: OnNodes[];
  stops: OnNodes[];
  /**
   * Nodes with a label of their own under a key that the group gives: it wins where it was set in the UI and loses where
   * the agent reported it, which the list does not tell. What hangs on it is in neither list.
   */
  unsure: number;
}

interface World {
  nodes: readonly NodeSummary[];
  /** In the order in which they count. */
  groups: readonly GroupRule[];
  pipelines: readonly PipelineSummary[];
}

/** `before` is null where the group is made, `after` where it is deleted. */
export function foretellGroup(
  before: GroupRule | null,
  after: GroupRule | null,
  { nodes, groups, pipelines }: World,
): GroupForetold {
  const others = groups.filter(({ id }) => id !== before?.id);
  const later = after ? [...others, after].sort(byName) : others;
  const joins: string[] = [];
  const leaves: string[] = [];
  const starts = new Map<string, number>();
  const stops = new Map<string, number>();
  let unsure = 0;
  for (const node of nodes) {
    const own = node.ownLabels ?? node.labels;
    const was = before !== null && belongs(before, own);
    const willBe = after !== null && belongs(after, own);
    if (!was && !willBe) continue;
    if (!was) joins.push(node.name);
    if (!willBe) leaves.push(node.name);
    // Neither runs anything either way.
    if (node.maintenance || node.revoked) continue;
    const ran = wantedBy(pipelines, node.labels);
    const [atLeast, atMost] = wantedLater(node, own, groups, later, pipelines);
    for (const name of atLeast) if (!ran.includes(name)) count(starts, name);
    for (const name of ran) if (!atMost.includes(name)) count(stops, name);
    if (atLeast.length !== atMost.length) unsure += 1;
  }
  return {
    joins: joins.sort(inOrder),
    leaves: leaves.sort(inOrder),
    starts: onNodes(starts),
    stops: onNodes(stops),
    unsure,
  };
}

/** What it runs afterwards in any case, and what it runs at most. */
function wantedLater(
  node: NodeSummary,
  own: Labels,
  groups: readonly GroupRule[],
  later: readonly GroupRule[],
  pipelines: readonly PipelineSummary[],
): [atLeast: string[], atMost: string[]] {
  const givenBefore = given(own, groups);
  const givenLater = given(own, later);
  const open: string[] = [];
  const certain: Record<string, string> = { ...own };
  for (const [key, value] of Object.entries(givenLater)) {
    const mine = own[key];
    if (mine === undefined) certain[key] = value;
    else if (mine !== value) {
      const outranks = outranksGroups(key, mine, node, givenBefore);
      if (outranks === null) open.push(key);
      else if (!outranks) certain[key] = value;
    }
  }
  const one = wantedBy(pipelines, certain);
  if (open.length === 0) return [one, one];
  const other = wantedBy(pipelines, {
    ...certain,
    ...Object.fromEntries(open.map((key) => [key, givenLater[key] ?? ''])),
  });
  return [one.filter((name) => other.includes(name)), [...new Set([...one, ...other])]];
}

const given = (own: Labels, groups: readonly GroupRule[]): Labels => {
  const { effective, sources } = labelsOf(own, {}, groups);
  return Object.fromEntries(Object.entries(effective).filter(([key]) => sources[key] === 'group'));
};

/** Whether a label of the node's own was set in the UI, as a group that gives the key now shows; null where none does. */
function outranksGroups(key: string, mine: string, node: NodeSummary, givenBefore: Labels): boolean | null {
  const now = givenBefore[key];
  return now === undefined || now === mine ? null : node.labels[key] === mine;
}

const count = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1);
};

const inOrder = (a: string, b: string): number => a.localeCompare(b, undefined, { numeric: true });

const onNodes = (counts: ReadonlyMap<string, number>): OnNodes[] =>
  [...counts]
    .map(([pipeline, nodes]) => ({ pipeline, nodes }))
    .sort((a, b) => inOrder(a.pipeline, b.pipeline));

/** As the controller orders them, by which the first of two that give one key counts. */
function byName(a: GroupRule, b: GroupRule): number {
  const [one, other] = [a.name.toLowerCase(), b.name.toLowerCase()];
  return one < other ? -1 : one > other ? 1 : 0;
}
