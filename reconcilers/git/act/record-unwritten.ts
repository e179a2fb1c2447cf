/** Records the changes of a plan that write nothing: unchanged, held back or conflicting. */
import type { ManifestKind } from '../../../schemas/manifests/index.ts';
import type { DesiredManifest } from '../../source/index.ts';
import type { ReportEntry } from '../pass-report.ts';
import type { Applying, Change } from '../plan/change.ts';
import { lastGoodText } from '../plan/last-good.ts';
import { describePolicyManifest, isUnread } from '../plan/policy-manifests.ts';
import { identityOf } from '../read/identity.ts';
import { rejectManifest, type Work } from './shared-state.ts';

export type UnappliedChange = Exclude<Change, Applying>;

export function recordUnwritten(work: Work, change: UnappliedChange): void {
  const { outcomes, entries, counts } = work.acted;
  switch (change.action) {
    case 'none': {
      const faults = work.faults.get(change.manifest);
      if (faults) {
        rejectManifest(work, change, faults);
        return;
      }
      outcomes.set(change, { type: 'unchanged' });
      counts.unchanged += 1;
      if (wasRefused(work, change.manifest)) entries.push(repaired(work, change.manifest));
      return;
    }
    case 'policy': {
      const { manifest, previous } = change;
      const description = describePolicyManifest(work.options.binding, work.observed.desired, manifest);
      const isNew = previous?.appliedHash !== manifest.hash;
      // A policy in force does not wait for the plan, which this very policy may hold back.
      const waits = isNew ? (work.blockedBy ?? (isUnread(work.observed.desired) ? 'unread' : null)) : null;
      outcomes.set(change, { type: 'policy', description, waits });
      if (waits === null && isNew)
        entries.push({ type: 'policy', kind: manifest.kind, name: manifest.name, description });
      return;
    }
    case 'ignore':
      outcomes.set(change, { type: 'ignored' });
      return;
    case 'suspended':
      outcomes.set(change, { type: 'suspended', override: change.override });
      counts.waiting += 1;
      return;
    case 'held': {
      const { manifest, hold } = change;
      outcomes.set(change, { type: 'held', hold });
      counts.waiting += 1;
      entries.push({ type: 'held', name: manifest.name, by: hold.by, reason: hold.reason });
      return;
    }
    case 'drifted':
      outcomes.set(change, { type: 'drifted' });
      counts.waiting += 1;
      entries.push({ type: 'drifted', name: change.manifest.name });
      return;
    case 'conflict': {
      const { manifest, object } = change;
      const message = conflictText(manifest, object.name);
      outcomes.set(change, { type: 'failed', check: null, reason: 'Conflict', message });
      work.refused.add(identityOf(manifest));
      entries.push({ type: 'failed', kind: manifest.kind, name: manifest.name, message });
      counts.refused += 1;
      return;
    }
    case 'keep': {
      const { kind, name } = change.previous;
      counts.waiting += 1;
      entries.push({ type: 'retained', kind, name, reason: change.reason });
      return;
    }
    // Handled after applying, or by the record step.
    case 'prune':
    case 'orphan':
    case 'forget':
      return;
  }
}

function wasRefused(work: Work, manifest: DesiredManifest): boolean {
  const stored = work.observed.inventory.get(identityOf(manifest));
  return stored?.conditions.some((one) => one.status === 'False') ?? false;
}

function repaired(work: Work, manifest: DesiredManifest): ReportEntry {
  return {
    type: 'repaired',
    name: manifest.name,
    lastGood: lastGoodText(work.observed.inventory, manifest, null),
  };
}

export const conflictText = ({ kind }: DesiredManifest, name: string): string =>
  `${NOUNS[kind] ?? kind} named "${name}" exists already and is owned by the UI; let git adopt it, or rename one of the two`;

const NOUNS: Partial<Record<ManifestKind, string>> = {
  Pipeline: 'a pipeline',
  AlertRule: 'an alert rule',
  NodeGroup: 'a node group',
  Silence: 'a silence',
  WebhookEndpoint: 'a webhook endpoint',
};
