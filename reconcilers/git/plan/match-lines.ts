/** Matches manifests to inventory lines of the same object, under the same or an earlier name. */
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import type { DesiredManifest } from '../../source/index.ts';
import { identity, identityOf } from '../read/identity.ts';
import type { OperatorInput } from '../read/overrides.ts';
import type { Recorded } from './change.ts';
import { sorted } from './order.ts';
import { isPolicy } from './policy-manifests.ts';

export interface Matched {
  previousOf: ReadonlyMap<DesiredManifest, Recorded>;
  /** Lines that were matched. */
  taken: ReadonlySet<Recorded>;
  /** Identities of the manifests. */
  wanted: ReadonlySet<string>;
}

/** Undefined for a line without an object. */
export const isObject = (record: Recorded | undefined): Recorded | undefined =>
  record?.objectId == null ? undefined : record;

export function matchLines(
  manifests: readonly DesiredManifest[],
  recorded: readonly Recorded[],
  operatorInput: OperatorInput,
): Matched {
  const byName = new Map(recorded.map((record) => [identityOf(record), record]));
  // Sorted, because rows come in any order and equal input must give equal plans.
  const withUid = sorted(recorded.filter(({ uid, objectId }) => uid !== null && objectId !== null));
  const byUid = new Map(withUid.map((record) => [identity(record.kind, record.uid ?? ''), record]));
  const wanted = new Set(manifests.map(identityOf));
  const taken = new Set<Recorded>();
  const previousOf = new Map<DesiredManifest, Recorded>();
  const claim = (manifest: DesiredManifest, found: Recorded | undefined) => {
    if (!found || taken.has(found) || previousOf.has(manifest)) return;
    taken.add(found);
    previousOf.set(manifest, found);
  };
  // A uid outranks a name: a renamed object keeps its line even where another manifest has its old name.
  for (const manifest of manifests)
    if (manifest.uid !== null) claim(manifest, byUid.get(identity(manifest.kind, manifest.uid)));
  const namesake = (manifest: DesiredManifest) => byName.get(identityOf(manifest));
  for (const manifest of manifests) claim(manifest, isObject(namesake(manifest)));
  for (const manifest of sorted(manifests.filter(({ previousName }) => previousName !== null))) {
    const former = identity(manifest.kind, nameKeyOf(manifest.previousName ?? ''));
    if (wanted.has(former)) continue;
    const line = byName.get(former);
    // What never had an object is a new one under its new name, and the line of the old name goes.
    claim(manifest, isPolicy(manifest) ? line : isObject(line));
  }
  // A rename whose spec is held keeps waiting, even where later commits have dropped previousName.
  const held = sorted(
    recorded.filter((record) => isObject(record) && operatorInput.holds.has(identityOf(record))),
  ).filter((record) => !wanted.has(identityOf(record)));
  const isOf = (manifest: DesiredManifest) => (record: Recorded) =>
    record.kind === manifest.kind &&
    record.seenHash === manifest.hash &&
    !taken.has(record) &&
    operatorInput.holds.get(identityOf(record))?.has(manifest.hash) === true;
  if (held.length > 0) for (const manifest of sorted(manifests)) claim(manifest, held.find(isOf(manifest)));
  // Last, because a line that never had an object must not prevent a rename.
  for (const manifest of manifests) claim(manifest, namesake(manifest));
  return { previousOf, taken, wanted };
}
