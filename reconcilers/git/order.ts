/** The orders in which a plan is made and applied. */
import { nameKeyOf } from '../../schemas/manifests/index.ts';
import { KINDS } from '../kinds/index.ts';
import type { DesiredManifest } from '../source/index.ts';
import { identity, identityOf } from './identity.ts';

/** By name and kind. */
export function sorted<T extends { kind: string; nameKey: string }>(list: readonly T[]): T[] {
  const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return [...list].sort((a, b) => compare(a.nameKey, b.nameKey) || compare(a.kind, b.kind));
}

/** By kind, and within a kind after those that it names; otherwise by name. */
export function inOrder(manifests: readonly DesiredManifest[]): DesiredManifest[] {
  const byName = new Map(manifests.map((manifest) => [identityOf(manifest), manifest]));
  const depth = new Map<DesiredManifest, number>();
  const depthOf = (manifest: DesiredManifest, trail: ReadonlySet<DesiredManifest>): number => {
    const known = depth.get(manifest);
    if (known !== undefined) return known;
    if (trail.has(manifest) || trail.size > 100) return 0;
    const inner = new Set(trail).add(manifest);
    const needs = KINDS.get(manifest.kind)?.references(manifest) ?? [];
    const deepest = needs.reduce((most, { kind, name }) => {
      const other = byName.get(identity(kind, nameKeyOf(name)));
      return other ? Math.max(most, depthOf(other, inner) + 1) : most;
    }, 0);
    depth.set(manifest, deepest);
    return deepest;
  };
  const order = (manifest: DesiredManifest) => KINDS.get(manifest.kind)?.order ?? 99;
  for (const manifest of manifests) depthOf(manifest, new Set());
  return sorted(manifests).sort((a, b) => order(a) - order(b) || (depth.get(a) ?? 0) - (depth.get(b) ?? 0));
}
