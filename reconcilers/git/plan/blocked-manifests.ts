/** Which manifests of a plan will be refused, as far as this is known before they are checked. */
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import { KINDS } from '../../kinds/index.ts';
import type { DesiredManifest } from '../../source/index.ts';
import type { Observed } from '../pass-types.ts';
import { identity, identityOf } from '../read/identity.ts';
import { type Applying, applies, type Change } from './change.ts';
import { attribute, groupByIdentity } from './last-good.ts';

interface LiveObjects {
  ui: Iterable<{ kind: string; nameKey: string }>;
  recorded: Iterable<{ kind: string; objectName: string | null }>;
}

/** By identity, the live objects that manifests may refer to. */
export function listLiveNames({ ui, recorded }: LiveObjects): Set<string> {
  const live = new Set<string>();
  for (const object of ui) live.add(identityOf(object));
  for (const { kind, objectName } of recorded)
    if (objectName !== null) live.add(identity(kind, nameKeyOf(objectName)));
  return live;
}

/** By identity, the documents that reading the commit has refused. */
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

/** Why a change waits for other manifests; null where it does not. */
export function blockerOf(
  { manifest }: Applying,
  isLive: (key: string) => boolean,
  isRefused: (key: string) => boolean,
): string | null {
  let missing: string | null = null;
  for (const { kind, name, blocks } of KINDS.get(manifest.kind)?.references(manifest) ?? []) {
    const key = identity(kind, nameKeyOf(name));
    if (blocks && isRefused(key))
      return `waits for "${name}", on which it depends and which could not be applied; the commit that repairs "${name}" applies this one too`;
    if (!isLive(key)) missing ??= `waits for "${name}", on which it depends and which is not there yet`;
  }
  return missing;
}

export interface Blocked {
  change: Applying;
  why: string;
}

/**
 * A change is blocked when it refers to something that neither exists nor is among the changes, or depends on a refused
 * manifest. Changes that depend on a blocked one are blocked too.
 * @param refused By identity.
 */
export function withoutBlocked(
  due: readonly Applying[],
  live: ReadonlySet<string>,
  refused: Iterable<string> = [],
): { ready: Applying[]; blocked: Blocked[] } {
  let ready = [...due];
  const out = new Set(refused);
  const blocked: Blocked[] = [];
  for (;;) {
    const coming = new Set(ready.map(({ manifest }) => identityOf(manifest)));
    const stuck = ready.flatMap((change): Blocked[] => {
      const why = blockerOf(
        change,
        (key) => live.has(key) || coming.has(key),
        (key) => out.has(key),
      );
      return why === null ? [] : [{ change, why }];
    });
    if (stuck.length === 0) return { ready, blocked };
    blocked.push(...stuck);
    for (const { change } of stuck) out.add(identityOf(change.manifest));
    const gone = new Set(stuck.map(({ change }) => change));
    ready = ready.filter((change) => !gone.has(change));
  }
}

const hasReferences = ({ manifest }: Applying): boolean =>
  (KINDS.get(manifest.kind)?.references(manifest) ?? []).length > 0;

/** Whether one of the changes will be refused; then nothing is pruned. */
export function refusesAny(
  changes: readonly Change[],
  faults: Pick<ReadonlyMap<DesiredManifest, unknown>, 'has'>,
  live: () => ReadonlySet<string>,
): boolean {
  const due: Applying[] = [];
  for (const change of changes) {
    if (change.action === 'conflict') return true;
    if (change.action !== 'none' && !applies(change)) continue;
    if (faults.has(change.manifest)) return true;
    if (applies(change)) due.push(change);
  }
  return due.some(hasReferences) && withoutBlocked(due, live()).blocked.length > 0;
}
