/** The policy of a binding, as an Environment manifest tightens it. A repository can never widen its own rights. */
import { DEFAULT_POLICY, type GitPolicy, UI_EDITS } from '../../../../schemas/api/git-policy.ts';
import type { EnvironmentSpec } from '../../../../schemas/manifests/index.ts';

/** What the database keeps of a binding's own: the parts that somebody set. */
export type PolicyParts = Partial<GitPolicy>;
/** What manifests say: the Repository's, overlaid by the Environment's. */
export type ManifestPolicy = Pick<EnvironmentSpec, 'sync' | 'guards' | 'owns' | 'autoRevert'>;

export const bindingPolicy = (parts: PolicyParts): GitPolicy => ({ ...DEFAULT_POLICY, ...parts });

/** From what lets people change most to what lets them change least. */
const STRICTNESS: readonly GitPolicy['uiEdits'][] = ['commit', 'propose', 'refuse'];

const lower = (a: number | null, b: number | undefined): number | null =>
  b === undefined ? a : a === null ? b : Math.min(a, b);

/** Each part the stricter of the two. */
export function tighten(policy: GitPolicy, said: ManifestPolicy): GitPolicy {
  const { sync = {}, guards = {}, owns } = said;
  const edits = [policy.uiEdits, sync.uiEdits ?? policy.uiEdits];
  return {
    uiEdits: STRICTNESS.findLast((one) => edits.includes(one)) ?? UI_EDITS[1],
    prune: policy.prune && sync.prune !== false,
    selfHeal: policy.selfHeal && sync.selfHeal !== false,
    maxDeletes: lower(policy.maxDeletes, guards.maxDeletes),
    maxDeletePercent: lower(policy.maxDeletePercent, guards.maxDeletePercent),
    maxNodeRestartPercent: lower(policy.maxNodeRestartPercent, guards.maxNodeRestartPercent),
    owns: owns ? policy.owns.filter((kind) => owns.some((one) => one === kind)) : policy.owns,
  };
}

const SECONDS = { s: 1, m: 60, h: 3600 } as const;

/** Seconds between two looks: a manifest may ask for fewer looks, and never for more. */
export function intervalOf(bindingSeconds: number, { sync }: ManifestPolicy): number {
  const found = /^(\d+)([smh])$/.exec(sync?.interval ?? '');
  if (!found) return bindingSeconds;
  return Math.max(bindingSeconds, Number(found[1]) * SECONDS[found[2] as keyof typeof SECONDS]);
}

/** What the binding allows, and what holds. */
export function policiesOf(of: { policy: PolicyParts; manifestPolicy: ManifestPolicy }) {
  const binding = bindingPolicy(of.policy);
  return { binding, effective: tighten(binding, of.manifestPolicy) };
}
