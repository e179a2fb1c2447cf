/**
 * After a pass that left nothing to do, only what git has changed since can need anything: a plan over that alone is the
 * plan over everything, without the ten thousand manifests for which nothing is to be done.
 */
import type { InventoryRecord } from '../../../controller/delivery/bindings/index.ts';
import { KINDS } from '../../kinds/index.ts';
import type { Desired, DesiredManifest } from '../../source/index.ts';
import type { Inventory } from '../pass-types.ts';
import { identityOf } from '../read/identity.ts';

export interface Focus {
  manifests: DesiredManifest[];
  /** The lines of the inventory that stand for them, or for what is gone. */
  recorded: InventoryRecord[];
  /** Manifests of kinds that are acted on, and that nothing has happened to. */
  untouched: number;
}

/**
 * @param settled What the last pass brought about to the end; null where there is no such pass.
 * @param more Manifests to look at though they are as before.
 * @returns null where all has to be looked at.
 */
export function focusOf(
  desired: Desired,
  settled: Desired | null,
  inventory: Inventory,
  more: Iterable<DesiredManifest>,
): Focus | null {
  if (!settled || desired.changed === null || desired.since !== settled.commit) return null;
  const manifests = [...new Set([...desired.changed, ...more])];
  const touched = new Set([...manifests, ...desired.gone].map(identityOf));
  const recorded = [...touched].flatMap((key) => inventory.get(key) ?? []);
  return { manifests, recorded, untouched: countOfKinds(desired.manifests) - countOfKinds(manifests) };
}

/** How many are of a kind that is acted on. */
export const countOfKinds = (manifests: readonly DesiredManifest[]): number =>
  manifests.reduce((count, { kind }) => count + (KINDS.has(kind) ? 1 : 0), 0);

/** The manifests whose references may have come to point to nothing. */
export const mayDangle = (desired: Desired, settled: Desired | null): Iterable<DesiredManifest> =>
  settled && desired.changed !== null && desired.since === settled.commit && desired.gone.length === 0
    ? desired.changed
    : desired.manifests;
