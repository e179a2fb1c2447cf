/** What a pass notes of changes for which nothing is written: somebody or something is in the way, or nothing is to be done. */
import type { ManifestKind } from '../../schemas/manifests/index.ts';
import type { DesiredManifest } from '../source/index.ts';
import type { Applying, Change } from './changes.ts';
import type { Acted } from './steps.ts';

export type Standing = Exclude<Change, Applying | { action: 'none' }>;

export function noteStanding({ outcomes, lines, counts }: Acted, change: Standing): void {
  switch (change.action) {
    case 'ignore':
      outcomes.set(change, { type: 'ignored', reason: change.reason });
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

export const conflictText = ({ kind }: DesiredManifest, name: string): string =>
  `${NOUNS[kind] ?? kind} named "${name}" exists already and is owned by the UI; let git adopt it, or rename one of the two`;

const NOUNS: Partial<Record<ManifestKind, string>> = {
  Pipeline: 'a pipeline',
  AlertRule: 'an alert rule',
  NodeGroup: 'a node group',
};
