/** What a pass notes of changes for which nothing is written: somebody or something is in the way, or nothing is to be done. */
import type { ManifestKind } from '../../../schemas/manifests/index.ts';
import type { DesiredManifest } from '../../source/index.ts';
import type { Line } from '../pass-report.ts';
import type { Applying, Change } from '../plan/change.ts';
import { lastGoodText } from '../plan/last-good.ts';
import { describePolicyManifest, isUnread } from '../plan/policy-manifests.ts';
import { identityOf } from '../read/identity.ts';
import { rejectManifest, type Work } from './work.ts';

export type UnappliedChange = Exclude<Change, Applying>;

export function recordUnwritten(work: Work, change: UnappliedChange): void {
  const { outcomes, lines, counts } = work.acted;
  switch (change.action) {
    case 'none': {
      const faults = work.faults.get(change.manifest);
      if (faults) {
        rejectManifest(work, change, faults);
        return;
      }
      outcomes.set(change, { type: 'unchanged' });
      counts.unchanged += 1;
      if (wasRefused(work, change.manifest)) lines.push(mended(work, change.manifest));
      return;
    }
    case 'policy': {
      const { manifest, previous } = change;
      const words = describePolicyManifest(work.options.binding, work.looked.desired, manifest);
      const isNew = previous?.appliedHash !== manifest.hash;
      // What holds already does not wait for the plan: that may be held by this very policy.
      const waits = isNew ? (work.standsBy ?? (isUnread(work.looked.desired) ? 'unread' : null)) : null;
      outcomes.set(change, { type: 'policy', words, waits });
      if (waits === null && isNew)
        lines.push({ type: 'policy', kind: manifest.kind, name: manifest.name, words });
      return;
    }
    case 'ignore':
      outcomes.set(change, { type: 'ignored' });
      return;
    case 'suspended':
      outcomes.set(change, { type: 'suspended', word: change.word });
      counts.waiting += 1;
      return;
    case 'held': {
      const { manifest, hold } = change;
      outcomes.set(change, { type: 'held', hold });
      counts.waiting += 1;
      lines.push({ type: 'held', name: manifest.name, by: hold.by, reason: hold.reason });
      return;
    }
    case 'drifted':
      outcomes.set(change, { type: 'drifted' });
      counts.waiting += 1;
      lines.push({ type: 'drifted', name: change.manifest.name });
      return;
    case 'conflict': {
      const { manifest, object } = change;
      const message = conflictText(manifest, object.name);
      outcomes.set(change, { type: 'failed', check: null, reason: 'Conflict', message });
      work.refused.add(identityOf(manifest));
      lines.push({ type: 'failed', kind: manifest.kind, name: manifest.name, message });
      counts.refused += 1;
      return;
    }
    case 'keep': {
      const { kind, name } = change.previous;
      counts.waiting += 1;
      lines.push({ type: 'kept', kind, name, reason: change.reason });
      return;
    }
    // Done later, or by whoever records.
    case 'prune':
    case 'orphan':
    case 'forget':
      return;
  }
}

function wasRefused(work: Work, manifest: DesiredManifest): boolean {
  const stored = work.looked.inventory.get(identityOf(manifest));
  return stored?.conditions.some((one) => one.status === 'False') ?? false;
}

function mended(work: Work, manifest: DesiredManifest): Line {
  return {
    type: 'mended',
    name: manifest.name,
    kept: lastGoodText(work.looked.inventory, manifest, null),
  };
}

export const conflictText = ({ kind }: DesiredManifest, name: string): string =>
  `${NOUNS[kind] ?? kind} named "${name}" exists already and is owned by the UI; let git adopt it, or rename one of the two`;

const NOUNS: Partial<Record<ManifestKind, string>> = {
  Pipeline: 'a pipeline',
  AlertRule: 'an alert rule',
  NodeGroup: 'a node group',
};
