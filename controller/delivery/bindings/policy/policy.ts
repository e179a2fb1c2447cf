/** The policy of a binding, tightened by its manifests. A repository can never widen its own rights. */
import { DEFAULT_POLICY, type GitPolicy, UI_EDITS } from '../../../../schemas/api/delivery/git-policy.ts';
import type { EnvironmentSpec } from '../../../../schemas/manifests/index.ts';

/** The parts of a binding's policy that somebody set. */
export type PolicyParts = Partial<GitPolicy>;
/** The policy of the Repository manifest, overlaid by the Environment manifest. */
export type ManifestPolicy = Pick<EnvironmentSpec, 'sync' | 'guards' | 'owns' | 'autoRevert'>;

export const bindingPolicy = (parts: PolicyParts): GitPolicy => ({ ...DEFAULT_POLICY, ...parts });

/** From the most to the least permissive. */
const STRICTNESS: readonly GitPolicy['uiEdits'][] = ['commit', 'propose', 'refuse'];

const lower = (a: number | null, b: number | undefined): number | null =>
  b === undefined ? a : a === null ? b : Math.min(a, b);

/** The stricter value of each part. */
export function tighten(policy: GitPolicy, manifest: ManifestPolicy): GitPolicy {
  const { sync = {}, guards = {}, owns } = manifest;
  const edits = [policy.uiEdits, sync.uiEdits ?? policy.uiEdits];
  return {
    uiEdits: STRICTNESS.findLast((mode) => edits.includes(mode)) ?? UI_EDITS[1],
    prune: policy.prune && sync.prune !== false,
    selfHeal: policy.selfHeal && sync.selfHeal !== false,
    maxDeletes: lower(policy.maxDeletes, guards.maxDeletes),
    maxDeletePercent: lower(policy.maxDeletePercent, guards.maxDeletePercent),
    maxNodeRestartPercent: lower(policy.maxNodeRestartPercent, guards.maxNodeRestartPercent),
    owns: owns ? policy.owns.filter((kind) => owns.some((owned) => owned === kind)) : policy.owns,
  };
}

const SECONDS = { s: 1, m: 60, h: 3600 } as const;

/** Seconds between two passes. A manifest may lengthen the interval, never shorten it. */
export function intervalOf(bindingSeconds: number, { sync }: ManifestPolicy): number {
  const found = /^(\d+)([smh])$/.exec(sync?.interval ?? '');
  if (!found) return bindingSeconds;
  return Math.max(bindingSeconds, Number(found[1]) * SECONDS[found[2] as keyof typeof SECONDS]);
}

/** What the binding allows, and the policy in force. */
export function policiesOf(of: { policy: PolicyParts; manifestPolicy: ManifestPolicy }) {
  const binding = bindingPolicy(of.policy);
  return { binding, effective: tighten(binding, of.manifestPolicy) };
}
