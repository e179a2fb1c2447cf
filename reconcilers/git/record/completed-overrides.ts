/** Which words of operators have been done, or are about nothing any more. A suspension ends by hand only. */
import type { ManifestKind } from '../../../schemas/manifests/index.ts';
import type { Acted, Observed } from '../pass-types.ts';
import type { Plan } from '../plan/plan.ts';
import { identityOf } from '../read/identity.ts';
import type { OverrideName } from '../read/overrides.ts';

interface DoneWord {
  kind: string;
  nameKey: string;
  word: OverrideName;
}

export function findCompletedOverrides(
  { said, desired, focus }: Pick<Observed, 'said' | 'desired' | 'focus'>,
  plan: Plan,
  acted: Pick<Acted, 'outcomes'>,
): DoneWord[] {
  // Where not everything was looked at, nobody knows what a word is about.
  if (focus !== null || !desired.complete || said.words.size === 0) return [];
  /** Objects whose manifest is gone, and that still stand. */
  const staying = new Set<string>();
  /** Manifests that have no object yet. */
  const waiting = new Set<string>();
  for (const change of plan.changes) {
    if (change.action === 'keep' || change.action === 'prune') {
      if (!acted.outcomes.has(change)) staying.add(identityOf(change.previous));
    } else if ('manifest' in change && !change.previous && acted.outcomes.get(change)?.type !== 'applied')
      waiting.add(identityOf(change.manifest));
  }
  return [...said.words].flatMap(([key, words]) => {
    const [kind, nameKey] = partsOf(key);
    const done: OverrideName[] = [];
    if (words.prune && !staying.has(key)) done.push('prune');
    if (words.adopt && !waiting.has(key)) done.push('adopt');
    return done.map((word) => ({ kind, nameKey, word }));
  });
}

/** A kind holds no slash. */
function partsOf(key: string): [ManifestKind, string] {
  const slash = key.indexOf('/');
  return [key.slice(0, slash) as ManifestKind, key.slice(slash + 1)];
}
