/** Describes how the policy of a manifest changes what the binding allows. */
import type { GitPolicy } from '../../../../schemas/api/delivery/git-policy.ts';
import type { EnvironmentSpec } from '../../../../schemas/manifests/index.ts';
import { intervalOf, type ManifestPolicy, tighten } from './policy.ts';

interface Allowed {
  policy: GitPolicy;
  intervalSeconds: number;
}

/** A field of the manifest's policy with its value, and its effect on the binding's policy. */
interface Part {
  field: string;
  value: string;
  effect: 'tightens' | 'same' | 'widens';
}

type PolicyField = Exclude<keyof GitPolicy, 'owns'>;
const SYNC = ['prune', 'selfHeal', 'uiEdits'] as const satisfies readonly PolicyField[];
const GUARDS = ['maxDeletes', 'maxDeletePercent', 'maxNodeRestartPercent'] as const satisfies PolicyField[];

function partsOf(allowed: Allowed, requested: ManifestPolicy): Part[] {
  const { policy } = allowed;
  const holds = tighten(policy, requested);
  const of = (group: 'sync' | 'guards', field: PolicyField, value: boolean | number | string | undefined) => {
    if (value === undefined) return [];
    const effect = value === policy[field] ? 'same' : holds[field] === policy[field] ? 'widens' : 'tightens';
    return [{ field: `${group}.${field}`, value: String(value), effect } satisfies Part];
  };
  return [
    ...SYNC.flatMap((field) => of('sync', field, requested.sync?.[field])),
    ...intervalPart(allowed, requested),
    ...GUARDS.flatMap((field) => of('guards', field, requested.guards?.[field])),
    ...ownsParts(policy, requested.owns),
  ];
}

function intervalPart({ intervalSeconds }: Allowed, requested: ManifestPolicy): Part[] {
  const value = requested.sync?.interval;
  if (value === undefined) return [];
  const field = 'sync.interval';
  // Beside an interval of zero the requested one applies unchanged.
  const wanted = intervalOf(0, requested);
  const effect = wanted === intervalSeconds ? 'same' : wanted > intervalSeconds ? 'tightens' : 'widens';
  return [{ field, value, effect }];
}

function ownsParts({ owns }: GitPolicy, requested: EnvironmentSpec['owns']): Part[] {
  if (requested === undefined) return [];
  const allowed: ReadonlySet<string> = new Set(owns);
  const stays = requested.filter((kind) => allowed.has(kind));
  const refused = requested.filter((kind) => !allowed.has(kind));
  const list = (kinds: readonly string[]) => (kinds.length === 0 ? 'no kind' : kinds.join(', '));
  return [
    { field: 'owns', value: list(stays), effect: stays.length < owns.length ? 'tightens' : 'same' },
    ...(refused.length > 0 ? [{ field: 'owns', value: list(refused), effect: 'widens' } satisfies Part] : []),
  ];
}

const REVERTS =
  'A version that does not run on a node is taken back there, unless its manifest says otherwise';
const STAYS = 'A version that does not run on a node stays there, unless its manifest says otherwise';

/** Whether another manifest sets the field, too, and takes precedence. */
const isSetIn = (others: ManifestPolicy, field: string): boolean => {
  const [group, name] = field.split('.');
  if (group === 'owns') return others.owns !== undefined;
  const part: Record<string, unknown> | undefined = group === 'sync' ? others.sync : others.guards;
  return part?.[name ?? ''] !== undefined;
};

/** @param overlay The policy of a manifest that takes precedence over this one. */
export function describePolicy(
  allowed: Allowed,
  requested: ManifestPolicy,
  overlay: ManifestPolicy = {},
): string {
  const parts = partsOf(allowed, requested);
  const outranked = parts.filter(({ field }) => isSetIn(overlay, field));
  const own = parts.filter((part) => !outranked.includes(part));
  const named = (effect: Part['effect'], join: string) =>
    own.filter((part) => part.effect === effect).map(({ field, value }) => `${field}${join}${value}`);
  const tightens = named('tightens', ' to ');
  const widens = named('widens', ': ');
  const fields = [...new Set(outranked.map(({ field }) => field))];
  // `autoRevert` is not a right: it neither tightens nor widens the binding.
  const { autoRevert } = requested;
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
