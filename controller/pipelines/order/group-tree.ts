/** The groups of an environment as a tree. Pure. */
import { MAX_GROUP_LEVELS } from '../../../schemas/api/pipelines/pipeline-order.ts';
import { badRequest } from '../../platform/operation/errors.ts';

export interface GroupNode {
  id: string;
  name: string;
  parentId: string | null;
}

const NAME_LENGTH = 100;

export type GroupTree = ReadonlyMap<string, GroupNode>;

export const treeOf = (groups: readonly GroupNode[]): GroupTree =>
  new Map(groups.map((group) => [group.id, group]));

/** Levels from the root to the group: 1 at the root. */
export function depthOf(tree: GroupTree, id: string): number {
  let depth = 0;
  // Bounded by the number of groups, in case the table contains a cycle.
  for (let at = tree.get(id); at && depth <= tree.size; at = parentOf(tree, at)) depth += 1;
  return depth;
}

const parentOf = (tree: GroupTree, group: GroupNode): GroupNode | undefined =>
  group.parentId === null ? undefined : tree.get(group.parentId);

/** Levels from the group to its deepest descendant: 1 without children. */
function heightOf(tree: GroupTree, id: string): number {
  const top = depthOf(tree, id);
  let height = 1;
  for (const group of tree.values())
    if (isInside(tree, group.id, id)) height = Math.max(height, depthOf(tree, group.id) - top + 1);
  return height;
}

function isInside(tree: GroupTree, id: string, ancestorId: string): boolean {
  let steps = 0;
  for (let at = tree.get(id); at && steps <= tree.size; at = parentOf(tree, at), steps += 1)
    if (at.id === ancestorId) return true;
  return false;
}

/** Throws if a new group cannot be created below the parent. */
export function assertGroupDepth(tree: GroupTree, parentId: string | null): void {
  assertLevels(parentId === null ? 1 : depthOf(tree, parentId) + 1);
}

/** Throws if a group with its content cannot be moved below the parent. */
export function assertMovable(tree: GroupTree, id: string, parentId: string | null): void {
  if (parentId === null) return;
  if (isInside(tree, parentId, id)) {
    const [moved, parent] = [tree.get(id)?.name ?? '', tree.get(parentId)?.name ?? ''];
    throw badRequest(
      id === parentId
        ? `The group "${moved}" cannot be in itself`
        : `The group "${moved}" cannot be in "${parent}", which is in it; move that one out first`,
    );
  }
  assertLevels(depthOf(tree, parentId) + heightOf(tree, id));
}

function assertLevels(levels: number): void {
  if (levels > MAX_GROUP_LEVELS)
    throw badRequest(
      `That would be ${levels} levels of groups, and the limit is ${MAX_GROUP_LEVELS}; choose a parent nearer to the root`,
    );
}

/** The first of `name`, `name 2`, `name 3` … that is not in `taken` (lower case). */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name.toLowerCase())) return name;
  for (let number = 2; ; number += 1) {
    const ending = ` ${number}`;
    const candidate =
      name
        .slice(0, NAME_LENGTH - ending.length)
        .trimEnd()
        .toWellFormed() + ending;
    if (!taken.has(candidate.toLowerCase())) return candidate;
  }
}
