/** Which changes go into one transaction. */
import { type Applying, renames } from '../plan/change.ts';

/** Neighbours of one kind; the order stays. Renames stand first in a plan, and trade names within one transaction. */
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
