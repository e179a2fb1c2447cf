/** Which nodes belong to a group, and which labels they get from it: one rule for what is served and for what the UI foretells. Pure. */
import type { LabelMap } from '../api/common.ts';

export interface GroupRule {
  id: string;
  name: string;
  criteria: LabelMap;
  labelTemplate: LabelMap;
  requiredLabels: readonly string[];
}

/**
 * A node's own labels decide, never those that a group gives it: so membership does not depend on the order of groups.
 */
export function belongs(group: Pick<GroupRule, 'criteria'>, ownLabels: LabelMap): boolean {
  return Object.entries(group.criteria).every(([key, value]) => ownLabels[key] === value);
}

export type LabelSource = 'agent' | 'group' | 'ui';

export interface NodeLabels {
  /** What selectors look at: the agent's, under those of groups, under those set in the UI. */
  effective: LabelMap;
  sources: Record<string, LabelSource>;
  /** The groups that the node belongs to, by name. */
  groups: GroupRule[];
}

/** Those that a node belongs to, in their order. */
export function groupsOf<G extends Pick<GroupRule, 'criteria'>>(
  agent: LabelMap,
  ui: LabelMap,
  groups: readonly G[],
): G[] {
  const own = { ...agent, ...ui };
  return groups.filter((group) => belongs(group, own));
}

/** `groups` are in the order of their names; where two give one key, the first one counts. */
export function labelsOf(agent: LabelMap, ui: LabelMap, groups: readonly GroupRule[]): NodeLabels {
  const mine = groupsOf(agent, ui, groups);
  const given = Object.assign({}, ...mine.map((group) => group.labelTemplate).reverse()) as LabelMap;
  const effective = { ...agent, ...given, ...ui };
  const sources = Object.fromEntries(
    Object.keys(effective).map((key): [string, LabelSource] => [
      key,
      Object.hasOwn(ui, key) ? 'ui' : Object.hasOwn(given, key) ? 'group' : 'agent',
    ]),
  );
  return { effective, sources, groups: mine };
}

/** As `labelsOf`, and nothing but the labels: for the path of every poll. */
export function effectiveLabels(agent: LabelMap, ui: LabelMap, groups: readonly GroupRule[]): LabelMap {
  if (groups.length === 0) return { ...agent, ...ui };
  return labelsOf(agent, ui, groups).effective;
}

export const missingLabels = (group: Pick<GroupRule, 'requiredLabels'>, labels: LabelMap): string[] =>
  group.requiredLabels.filter((key) => !Object.hasOwn(labels, key));
