/** Paths that differ in spelling only. */

import { problem } from '../finding.ts';
import { foldPath } from '../git/tree.ts';
import type { SnapshotFile } from '../git/walk.ts';
import type { Problem } from '../types.ts';

export interface Collisions {
  /** Paths. */
  colliding: Set<string>;
  problems: Problem[];
}

/** Paths that a system without case or with one form of letters takes for one; each is refused. */
export function findCollisions(files: readonly SnapshotFile[]): Collisions {
  const byKey = new Map<string, string>();
  const colliding = new Set<string>();
  const problems: Problem[] = [];
  for (const { path } of files) {
    const key = foldPath(path);
    const other = byKey.get(key);
    if (other === undefined) {
      byKey.set(key, path);
      continue;
    }
    for (const [mine, theirs] of [
      [path, other],
      [other, path],
    ] as const) {
      if (colliding.has(mine)) continue;
      colliding.add(mine);
      problems.push(
        problem(mine, {
          stage: 'source',
          message: `this path and ${theirs} differ in case or in the form of their letters only, so both are refused`,
          hint: 'Rename one of the two: on many systems they are one file.',
        }),
      );
    }
  }
  return { colliding, problems };
}
