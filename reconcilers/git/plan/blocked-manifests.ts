/** Which manifests of a plan will be refused, as far as that is known before anything of them was checked. */
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import { KINDS } from '../../kinds/index.ts';
import type { DesiredManifest } from '../../source/index.ts';
import type { Observed } from '../pass-types.ts';
import { identity, identityOf } from '../read/identity.ts';
import { type Applying, applies, type Change } from './change.ts';
import { attribute, groupByIdentity } from './last-good.ts';

interface There {
  ui: Iterable<{ kind: string; nameKey: string }>;
  recorded: Iterable<{ kind: string; objectName: string | null }>;
}

/** Objects that manifests may name, by identity: those that live. */
export function listLiveNames({ ui, recorded }: There): Set<string> {
  const there = new Set<string>();
  for (const object of ui) there.add(identityOf(object));
  for (const { kind, objectName } of recorded)
    if (objectName !== null) there.add(identity(kind, nameKeyOf(objectName)));
  return there;
}

/** By identity, documents that were refused before any plan was made. */
export function listRefusedNames({
  desired,
  inventory,
}: Pick<Observed, 'desired' | 'inventory'>): Set<string> {
  const attributed = desired.problems.map((problem) => attribute(problem, inventory, desired.manifests));
  const documents = desired.refused.flatMap(({ kind, name }) =>
    kind !== null && name !== null ? [identity(kind, nameKeyOf(name))] : [],
  );
  return new Set([...groupByIdentity(attributed).map(identityOf), ...documents]);
}

/** Why a change waits for others, or null where it need not. */
export function blockerOf(
  { manifest }: Applying,
  isThere: (key: string) => boolean,
  isRefused: (key: string) => boolean,
): string | null {
  let missing: string | null = null;
  for (const { kind, name, blocks } of KINDS.get(manifest.kind)?.references(manifest) ?? []) {
    const key = identity(kind, nameKeyOf(name));
    if (blocks && isRefused(key))
      return `waits for "${name}", on which it depends and which could not be applied; the commit that repairs "${name}" applies this one too`;
    if (!isThere(key)) missing ??= `waits for "${name}", on which it depends and which is not there yet`;
  }
  return missing;
}

export interface Blocked {
  change: Applying;
  why: string;
}

/**
 * Whoever names what is not there and does not come with it waits, or depends on what is refused; and so do those that
 * depend on it.
 * @param refused By identity.
 */
export function withoutBlocked(
  due: readonly Applying[],
  there: ReadonlySet<string>,
  refused: Iterable<string> = [],
): { sound: Applying[]; blocked: Blocked[] } {
  let sound = [...due];
  const out = new Set(refused);
  const blocked: Blocked[] = [];
  for (;;) {
    const coming = new Set(sound.map(({ manifest }) => identityOf(manifest)));
    const stuck = sound.flatMap((change): Blocked[] => {
      const why = blockerOf(
        change,
        (key) => there.has(key) || coming.has(key),
        (key) => out.has(key),
      );
      return why === null ? [] : [{ change, why }];
    });
    if (stuck.length === 0) return { sound, blocked };
    blocked.push(...stuck);
    for (const { change } of stuck) out.add(identityOf(change.manifest));
    const gone = new Set(stuck.map(({ change }) => change));
    sound = sound.filter((change) => !gone.has(change));
  }
}

const namesOthers = ({ manifest }: Applying): boolean =>
  (KINDS.get(manifest.kind)?.references(manifest) ?? []).length > 0;

/** While one of them is refused, nothing is deleted. */
export function refusesAny(
  changes: readonly Change[],
  faults: Pick<ReadonlyMap<DesiredManifest, unknown>, 'has'>,
  there: () => ReadonlySet<string>,
): boolean {
  const due: Applying[] = [];
  for (const change of changes) {
    if (change.action === 'conflict') return true;
    if (change.action !== 'none' && !applies(change)) continue;
    if (faults.has(change.manifest)) return true;
    if (applies(change)) due.push(change);
  }
  return due.some(namesOthers) && withoutBlocked(due, there()).blocked.length > 0;
}
