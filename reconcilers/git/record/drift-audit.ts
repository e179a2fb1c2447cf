/** Audit entries for objects that were changed outside git: one when the drift is found, one when it is healed. */
import type { AuditEntry } from '../../../controller/platform/operation/audit-entry.ts';
import type { Acted, Observed } from '../pass-types.ts';
import type { Plan } from '../plan/plan.ts';
import { identityOf } from '../read/identity.ts';
import { DRIFTED } from './outcome.ts';

export function driftAuditEntries(
  { inventory }: Pick<Observed, 'inventory'>,
  plan: Plan,
  acted: Pick<Acted, 'outcomes'>,
): AuditEntry[] {
  return plan.changes.flatMap((change): AuditEntry[] => {
    const isDrift = change.action === 'drifted' || (change.action === 'update' && change.drifted);
    if (!isDrift) return [];
    const { manifest, previous } = change;
    const known =
      inventory.get(identityOf(previous))?.conditions.some(({ reason }) => reason === DRIFTED) ?? false;
    const healed = acted.outcomes.get(change)?.type === 'applied';
    // A drift that is neither accepted nor healed now is found by the next pass.
    if (change.action === 'update' && !healed) return [];
    const entry = {
      entityType: manifest.kind,
      entityId: previous.objectId,
      metadata: { name: manifest.name, path: manifest.path },
    };
    return [
      ...(known ? [] : [{ ...entry, action: 'gitSync.driftFound' }]),
      ...(healed ? [{ ...entry, action: 'gitSync.driftHealed' }] : []),
    ];
  });
}
