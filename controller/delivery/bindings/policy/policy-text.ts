/** What the policy in a manifest comes to beside what the binding allows, in words. */
import type { GitPolicy } from '../../../../schemas/api/git-policy.ts';
import type { EnvironmentSpec } from '../../../../schemas/manifests/index.ts';
import { intervalOf, type ManifestPolicy, tighten } from './policy.ts';

interface Allowed {
  policy: GitPolicy;
  intervalSeconds: number;
}

/** A field of the manifest with its value, and what it does to the binding's. */
interface Part {
  field: string;
  value: string;
  effect: 'tightens' | 'same' | 'widens';
}

type PolicyField = Exclude<keyof GitPolicy, 'owns'>;
const SYNC = ['prune', 'selfHeal', 'uiEdits'] as const satisfies readonly PolicyField[];
const GUARDS = ['maxDeletes', 'maxDeletePercent', 'maxNodeRestartPercent'] as const satisfies PolicyField[];

function partsOf(allowed: Allowed, said: ManifestPolicy): Part[] {
  const { policy } = allowed;
  const holds = tighten(policy, said);
  const of = (group: 'sync' | 'guards', field: PolicyField, value: boolean | number | string | undefined) => {
    if (value === undefined) return [];
    const effect = value === policy[field] ? 'same' : holds[field] === policy[field] ? 'widens' : 'tightens';
    return [{ field: `${group}.${field}`, value: String(value), effect } satisfies Part];
  };
  return [
    ...SYNC.flatMap((field) => of('sync', field, said.sync?.[field])),
    ...intervalPart(allowed, said),
    ...GUARDS.flatMap((field) => of('guards', field, said.guards?.[field])),
    ...ownsParts(policy, said.owns),
  ];
}

function intervalPart({ intervalSeconds }: Allowed, said: ManifestPolicy): Part[] {
  const value = said.sync?.interval;
  if (value === undefined) return [];
  const field = 'sync.interval';
  // Beside no time at all it is what it says.
  const wanted = intervalOf(0, said);
  const effect = wanted === intervalSeconds ? 'same' : wanted > intervalSeconds ? 'tightens' : 'widens';
  return [{ field, value, effect }];
}

function ownsParts({ owns }: GitPolicy, said: EnvironmentSpec['owns']): Part[] {
  if (said === undefined) return [];
  const allowed: ReadonlySet<string> = new Set(owns);
  const stays = said.filter((kind) => allowed.has(kind));
  const refused = said.filter((kind) => !allowed.has(kind));
  const list = (kinds: readonly string[]) => (kinds.length === 0 ? 'no kind' : kinds.join(', '));
  return [
    { field: 'owns', value: list(stays), effect: stays.length < owns.length ? 'tightens' : 'same' },
    ...(refused.length > 0 ? [{ field: 'owns', value: list(refused), effect: 'widens' } satisfies Part] : []),
  ];
}

const REVERTS =
  'A version that does not run on a node is taken back there, unless its manifest says otherwise';
const STAYS = 'A version that does not run on a node stays there, unless its manifest says otherwise';

/** A field that another manifest says, too, and whose word counts. */
const saysToo = (others: ManifestPolicy, field: string): boolean => {
  const [group, name] = field.split('.');
  if (group === 'owns') return others.owns !== undefined;
  const part: Record<string, unknown> | undefined = group === 'sync' ? others.sync : others.guards;
  return part?.[name ?? ''] !== undefined;
};

/** @param overlay What is said by a manifest that outranks this one. */
export function describePolicy(allowed: Allowed, said: ManifestPolicy, overlay: ManifestPolicy = {}): string {
  const parts = partsOf(allowed, said);
  const outranked = parts.filter(({ field }) => saysToo(overlay, field));
  const own = parts.filter((part) => !outranked.includes(part));
  const named = (effect: Part['effect'], join: string) =>
    own.filter((part) => part.effect === effect).map(({ field, value }) => `${field}${join}${value}`);
  const tightens = named('tightens', ' to ');
  const widens = named('widens', ': ');
  const fields = [...new Set(outranked.map(({ field }) => field))];
  // Not a right: it neither tightens nor widens the binding.
  const { autoRevert } = said;
  const onlyRevert = autoRevert !== undefined && parts.length === 0;
  return [
    ...(tightens.length > 0 ? [`Tightens ${tightens.join(', ')}`] : []),
    ...(tightens.length > 0 || onlyRevert ? [] : ['Tightens nothing: the binding is as strict already']),
    ...(autoRevert === undefined ? [] : [autoRevert ? REVERTS : STAYS]),
    ...(widens.length > 0
      ? [`Ignored, since it would widen what the binding allows: ${widens.join(', ')}`]
      : []),
    ...(fields.length > 0 ? [`The Environment manifest says otherwise: ${fields.join(', ')}`] : []),
  ].join('. ');
}
