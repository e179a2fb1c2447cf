/** What a plan changes of the policy: manifests that become no object, and hold from the next commit on. */
import type { Binding } from '../../controller/delivery/bindings/index.ts';
import type { PlannedChange } from '../../schemas/api/git-plan.ts';
import type { Computed } from '../git/plan/compute-plan.ts';
import type { Change } from '../git/plan/plan.ts';
import { describePolicyManifest, isUnread } from '../git/plan/policy-manifests.ts';
import { identityOf } from '../git/read/identity.ts';
import type { DesiredManifest } from '../source/index.ts';
import { blank } from './change-view.ts';
import { fieldChanges } from './field-changes.ts';

const LATER = 'it holds from the next commit on';
const POLICY_KINDS: ReadonlySet<string> = new Set(['Environment', 'Repository']);

/** @param manifestsAt By identity, those of a commit that was applied; none where it cannot be read any more. */
export async function policyChanges(
  binding: Binding,
  { looked, plan }: Pick<Computed, 'looked' | 'plan'>,
  manifestsAt: (commit: string) => Promise<ReadonlyMap<string, DesiredManifest>>,
): Promise<PlannedChange[]> {
  if (isUnread(looked.desired)) return [];
  const shown: PlannedChange[] = [];
  for (const change of plan.changes) {
    if (change.action === 'policy' && change.previous?.appliedHash !== change.manifest.hash) {
      const { manifest } = change;
      const before = await specBefore(change);
      shown.push({
        ...blank(change.previous?.appliedHash ? 'update' : 'create', manifest),
        fields: fieldChanges(before ?? {}, { ...manifest.spec }),
        notes: [LATER, describePolicyManifest(binding, looked.desired, manifest)],
      });
    } else if (change.action === 'forget' && wasPolicy(change)) {
      const line = looked.inventory.get(identityOf(change.previous))?.line ?? 1;
      shown.push({ ...blank('delete', { ...change.previous, line }), notes: [LATER] });
    }
  }
  return shown;

  async function specBefore({ previous }: Extract<Change, { action: 'policy' }>) {
    const line = previous && looked.inventory.get(identityOf(previous));
    if (!line?.appliedCommit || line.appliedHash === null) return null;
    const then = (await manifestsAt(line.appliedCommit)).get(identityOf(line));
    return then?.hash === line.appliedHash ? { ...then.spec } : null;
  }
}

/** One that never held says nothing that could end. */
const wasPolicy = ({ previous }: Extract<Change, { action: 'forget' }>): boolean =>
  POLICY_KINDS.has(previous.kind) && previous.appliedHash !== null;
