/** Cuts changes into batches, each for one transaction. */
import { type Applying, renames } from '../plan/change.ts';

/**
 * A batch holds neighbours of one kind, in order. Renames come first in a plan and may exceed the size: they can swap names
 * only within one transaction.
 */
export function batchesOf(due: readonly Applying[], size: number): Applying[][] {
  const batches: Applying[][] = [];
  for (const change of due) {
    const last = batches.at(-1);
    const fits = last?.[0]?.manifest.kind === change.manifest.kind && (renames(change) || last.length < size);
    if (fits) last.push(change);
    else batches.push([change]);
  }
  return batches;
}
