/** The orders in which a plan is made and applied. */
import { componentsOf } from '../../../controller/pipelines/order/index.ts';
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import { KINDS } from '../../kinds/index.ts';
import type { DesiredManifest } from '../../source/index.ts';
import { identity, identityOf } from '../read/identity.ts';

/** By name and kind. */
export function sorted<T extends { kind: string; nameKey: string }>(list: readonly T[]): T[] {
  const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return [...list].sort((a, b) => compare(a.nameKey, b.nameKey) || compare(a.kind, b.kind));
}

/**
 * Sorted by kind, within a kind after the manifests that it refers to, and else by name.
 * @param all Further manifests that they may refer to: a dependency may lead through one that is not sorted itself.
 */
export function inOrder(
  manifests: readonly DesiredManifest[],
  all: readonly DesiredManifest[] = manifests,
): DesiredManifest[] {
  const referencesOf = (manifest: DesiredManifest) => KINDS.get(manifest.kind)?.references(manifest) ?? [];
  const order = (manifest: DesiredManifest) => KINDS.get(manifest.kind)?.order ?? 99;
  const byOrder = sorted(manifests).sort((a, b) => order(a) - order(b));
  if (manifests.every((manifest) => referencesOf(manifest).length === 0)) return byOrder;
  const byName = new Map([...all, ...manifests].map((manifest) => [identityOf(manifest), manifest]));
  const needs = (manifest: DesiredManifest) =>
    referencesOf(manifest).flatMap(({ kind, name }) => byName.get(identity(kind, nameKeyOf(name))) ?? []);
  const depth = new Map<DesiredManifest, number>();
  for (const component of componentsOf(manifests, needs)) {
    const deepest = component
      .flatMap(needs)
      .reduce((most, needed) => Math.max(most, (depth.get(needed) ?? -1) + 1), 0);
    for (const manifest of component) depth.set(manifest, deepest);
  }
  return byOrder.sort((a, b) => order(a) - order(b) || (depth.get(a) ?? 0) - (depth.get(b) ?? 0));
}
