/** Which manifests of a plan will be refused, as far as that is known before anything of them was checked. */
import { nameKeyOf } from '../../schemas/manifests/index.ts';
import { KINDS } from '../kinds/index.ts';
import type { DesiredManifest } from '../source/index.ts';
import { type Applying, applies, type Change } from './changes.ts';
import { identity, identityOf } from './identity.ts';

interface There {
  ui: Iterable<{ kind: string; nameKey: string }>;
  recorded: Iterable<{ kind: string; objectName: string | null }>;
}

/** Objects that manifests may name, by identity: those that live. */
export function namesThere({ ui, recorded }: There): Set<string> {
  const there = new Set<string>();
  for (const object of ui) there.add(identityOf(object));
  for (const { kind, objectName } of recorded)
    if (objectName !== null) there.add(identity(kind, nameKeyOf(objectName)));
  return there;
}

export interface Blocked {
  change: Applying;
  /** The name of what is not there. */
  by: string;
}

/** Whoever names what is not there and does not come with it waits, and so do those that name it. */
export function withoutBlocked(
  due: readonly Applying[],
  there: ReadonlySet<string>,
): { sound: Applying[]; blocked: Blocked[] } {
  let sound = [...due];
  const blocked: Blocked[] = [];
  for (;;) {
    const coming = new Set(sound.map(({ manifest }) => identityOf(manifest)));
    const stuck = sound.flatMap((change): Blocked[] => {
      const needs = KINDS.get(change.manifest.kind)?.references(change.manifest) ?? [];
      const missing = needs.find(({ kind, name }) => {
        const key = identity(kind, nameKeyOf(name));
        return !there.has(key) && !coming.has(key);
      });
      return missing ? [{ change, by: missing.name }] : [];
    });
    if (stuck.length === 0) return { sound, blocked };
    blocked.push(...stuck);
    const gone = new Set(stuck.map(({ change }) => change));
    sound = sound.filter((change) => !gone.has(change));
  }
}

export const blockedText = (by: string): string =>
  `waits for "${by}", on which it depends and which is not there yet`;

const namesOthers = ({ manifest }: Applying): boolean =>
  (KINDS.get(manifest.kind)?.references(manifest) ?? []).length > 0;

/** While one of them is refused, nothing is deleted. */
export function refusesAny(
  changes: readonly Change[],
  dangling: Pick<ReadonlyMap<DesiredManifest, unknown>, 'has'>,
  there: () => ReadonlySet<string>,
): boolean {
  const due: Applying[] = [];
  for (const change of changes) {
    if (change.action === 'conflict') return true;
    if (change.action !== 'none' && !applies(change)) continue;
    if (dangling.has(change.manifest)) return true;
    if (applies(change)) due.push(change);
  }
  return due.some(namesOthers) && withoutBlocked(due, there()).blocked.length > 0;
}
