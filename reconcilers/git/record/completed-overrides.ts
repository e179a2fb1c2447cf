/** Which operator overrides are carried out, or have lost their object. A suspension ends only when an operator resumes it. */
import type { ManifestKind } from '../../../schemas/manifests/index.ts';
import type { Acted, Observed } from '../pass-types.ts';
import type { Plan } from '../plan/plan.ts';
import { identityOf } from '../read/identity.ts';
import type { OverrideAction } from '../read/overrides.ts';

interface CompletedOverride {
  kind: string;
  nameKey: string;
  action: OverrideAction;
}

export function findCompletedOverrides(
  { operatorInput, desired, focus }: Pick<Observed, 'operatorInput' | 'desired' | 'focus'>,
  plan: Plan,
  acted: Pick<Acted, 'outcomes'>,
): CompletedOverride[] {
  // Without the whole tree it is unknown whether an override still has an object.
  if (focus !== null || !desired.complete || operatorInput.overrides.size === 0) return [];
  /** Objects whose manifest is gone, and that still exist. */
  const staying = new Set<string>();
  /** Manifests without an object. */
  const waiting = new Set<string>();
  for (const change of plan.changes) {
    if (change.action === 'keep' || change.action === 'prune') {
      if (!acted.outcomes.has(change)) staying.add(identityOf(change.previous));
    } else if ('manifest' in change && !change.previous && acted.outcomes.get(change)?.type !== 'applied')
      waiting.add(identityOf(change.manifest));
  }
  return [...operatorInput.overrides].flatMap(([key, overrides]) => {
    const [kind, nameKey] = partsOf(key);
    const done: OverrideAction[] = [];
    if (overrides.prune && !staying.has(key)) done.push('prune');
    if (overrides.adopt && !waiting.has(key)) done.push('adopt');
    return done.map((action) => ({ kind, nameKey, action }));
  });
}

/** The name of a kind contains no slash. */
function partsOf(key: string): [ManifestKind, string] {
  const slash = key.indexOf('/');
  return [key.slice(0, slash) as ManifestKind, key.slice(slash + 1)];
}
