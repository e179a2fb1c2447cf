/** Groups of pipelines as the tree that people see. Pure. */
import type { PipelineGroup } from '../../../../../schemas/api/pipelines/pipeline-order.ts';

/** In the address, in the place of a group's id: pipelines that are in none. */
export const NO_GROUP = 'none';

export interface Branch {
  group: PipelineGroup;
  children: Branch[];
  /** Pipelines in it and in all below it. */
  total: number;
}

/** The roots, each level by name. A group whose parent is not there stands at the root. */
export function treeOf(groups: readonly PipelineGroup[]): Branch[] {
  const there = new Set(groups.map(({ id }) => id));
  const byParent = Map.groupBy(groups, ({ parentId }) =>
    parentId !== null && there.has(parentId) ? parentId : null,
  );
  const branchOf = (group: PipelineGroup): Branch => {
    const children = below(group.id);
    const total = children.reduce((sum, child) => sum + child.total, group.pipelineCount);
    return { group, children, total };
  };
  const below = (parentId: string | null): Branch[] =>
    (byParent.get(parentId) ?? []).toSorted((a, b) => a.name.localeCompare(b.name)).map(branchOf);
  return below(null);
}

/** Ids of a group and of all below it. */
export function subtreeIds(groups: readonly PipelineGroup[], id: string): ReadonlySet<string> {
  const ids = new Set([id]);
  // A set hands out what is added while it is walked.
  for (const parent of ids) for (const group of groups) if (group.parentId === parent) ids.add(group.id);
  return ids;
}

/** `Payments / EU`, for every group in the order of the tree. */
export function groupPaths(groups: readonly PipelineGroup[]): { id: string; path: string; depth: number }[] {
  const list: { id: string; path: string; depth: number }[] = [];
  const walk = (branches: readonly Branch[], before: string, depth: number): void => {
    for (const { group, children } of branches) {
      const path = before ? `${before} / ${group.name}` : group.name;
      list.push({ id: group.id, path, depth });
      walk(children, path, depth + 1);
    }
  };
  walk(treeOf(groups), '', 1);
  return list;
}

/** How many levels a group and what is below it take. */
export function levelsOf(groups: readonly PipelineGroup[], id: string): number {
  const children = groups.filter(({ parentId }) => parentId === id);
  return 1 + Math.max(0, ...children.map((child) => levelsOf(groups, child.id)));
}
