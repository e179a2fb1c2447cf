/**
 * After a pass that left nothing to do, only manifests that git has changed since can need a change. A plan over those alone
 * equals the plan over all, and need not look at ten thousand manifests that stay as they are.
 */
import type { InventoryRecord } from '../../../controller/delivery/bindings/index.ts';
import { KINDS } from '../../kinds/index.ts';
import type { Desired, DesiredManifest } from '../../source/index.ts';
import type { Inventory } from '../pass-types.ts';
import { identityOf } from '../read/identity.ts';

export interface Focus {
  manifests: DesiredManifest[];
  /** The inventory lines of these manifests, and of those that are gone. */
  recorded: InventoryRecord[];
  /** The number of unchanged manifests of kinds that have objects. */
  unchanged: number;
}

/**
 * @param settled The desired state that the last pass settled; null where there is none.
 * @param more Unchanged manifests that are to be planned too.
 * @returns null where everything has to be planned.
 */
export function focusOf(
  desired: Desired,
  settled: Desired | null,
  inventory: Inventory,
  more: Iterable<DesiredManifest>,
): Focus | null {
  if (!settled || desired.changed === null || desired.since !== settled.commit) return null;
  const manifests = [...new Set([...desired.changed, ...more])];
  const affected = new Set([...manifests, ...desired.gone].map(identityOf));
  const recorded = [...affected].flatMap((key) => inventory.get(key) ?? []);
  return { manifests, recorded, unchanged: countOfKinds(desired.manifests) - countOfKinds(manifests) };
}

/** How many are of a kind that has objects. */
export const countOfKinds = (manifests: readonly DesiredManifest[]): number =>
  manifests.reduce((count, { kind }) => count + (KINDS.has(kind) ? 1 : 0), 0);

/** The manifests whose references may have become dangling. */
export const listReferenceCandidates = (
  desired: Desired,
  settled: Desired | null,
): Iterable<DesiredManifest> =>
  settled && desired.changed !== null && desired.since === settled.commit && desired.gone.length === 0
    ? desired.changed
    : desired.manifests;
