/** Policy changes of a plan: manifests without an object, which take effect from the next commit on. */
import type { Binding } from '../../controller/delivery/bindings/index.ts';
import type { PlannedChange } from '../../schemas/api/delivery/git-plan.ts';
import type { Computed } from '../git/plan/compute-plan.ts';
import type { Change } from '../git/plan/plan.ts';
import { describePolicyManifest, isUnread } from '../git/plan/policy-manifests.ts';
import { identityOf } from '../git/read/identity.ts';
import type { DesiredManifest } from '../source/index.ts';
import { blank } from './change-view.ts';
import { fieldChanges } from './field-changes.ts';

const LATER = 'it holds from the next commit on';
const POLICY_KINDS: ReadonlySet<string> = new Set(['Environment', 'Repository']);

/** @param manifestsAt By identity, the manifests of an applied commit; empty where it can no longer be read. */
export async function policyChanges(
  binding: Binding,
  { observed, plan }: Pick<Computed, 'observed' | 'plan'>,
  manifestsAt: (commit: string) => Promise<ReadonlyMap<string, DesiredManifest>>,
): Promise<PlannedChange[]> {
  if (isUnread(observed.desired)) return [];
  const changes: PlannedChange[] = [];
  for (const change of plan.changes) {
    if (change.action === 'policy' && change.previous?.appliedHash !== change.manifest.hash) {
      const { manifest } = change;
      const before = await specBefore(change);
      changes.push({
        ...blank(change.previous?.appliedHash ? 'update' : 'create', manifest),
        fields: fieldChanges(before ?? {}, { ...manifest.spec }),
        notes: [LATER, describePolicyManifest(binding, observed.desired, manifest)],
      });
    } else if (change.action === 'forget' && wasPolicy(change)) {
      const line = observed.inventory.get(identityOf(change.previous))?.line ?? 1;
      changes.push({ ...blank('delete', { ...change.previous, line }), notes: [LATER] });
    }
  }
  return changes;

  async function specBefore({ previous }: Extract<Change, { action: 'policy' }>) {
    const line = previous && observed.inventory.get(identityOf(previous));
    if (!line?.appliedCommit || line.appliedHash === null) return null;
    const then = (await manifestsAt(line.appliedCommit)).get(identityOf(line));
    return then?.hash === line.appliedHash ? { ...then.spec } : null;
  }
}

/** A manifest that was never applied sets no policy that could end. */
const wasPolicy = ({ previous }: Extract<Change, { action: 'forget' }>): boolean =>
  POLICY_KINDS.has(previous.kind) && previous.appliedHash !== null;
