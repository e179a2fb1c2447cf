/** What a plan is made of: one change for each manifest, and for each object whose manifest is gone. */
import type { DesiredManifest } from '../../source/index.ts';
import type { Hold, Override, UiObject } from '../read/overrides.ts';
import type { PolicyManifest } from './policy-manifests.ts';

/** One line of the inventory, with what the database holds of the object. */
export interface Recorded {
  kind: string;
  nameKey: string;
  name: string;
  uid: string | null;
  path: string;
  objectId: string | null;
  appliedHash: string | null;
  /** Null where it is not known. */
  appliedMeta?: string | null;
  /** What its manifest said last. */
  seenHash?: string | null;
  objectName: string | null;
  objectHash: string | null;
  objectDeployed: boolean | null;
  prunePolicy: 'auto' | 'confirm' | 'never';
}

export type Change =
  /** `previous` is the inventory line that stands for the same object, under the same or an earlier name. */
  | { action: 'create'; manifest: DesiredManifest; previous: null }
  | {
      action: 'update';
      manifest: DesiredManifest;
      previous: Recorded;
      renamedFrom: string | null;
      drifted: boolean;
    }
  /** Takes over an object of the UI, with its id and history. */
  | { action: 'adopt'; manifest: DesiredManifest; previous: null; object: UiObject }
  | { action: 'none'; manifest: DesiredManifest; previous: Recorded }
  /** Somebody has changed the object past git, and the policy says to leave it at that. */
  | { action: 'drifted'; manifest: DesiredManifest; previous: Recorded }
  /** A namesake that the UI owns, and nobody has said that git may have it. */
  | { action: 'conflict'; manifest: DesiredManifest; previous: null; object: UiObject }
  /** Says what git may do here; it becomes no object. */
  | { action: 'policy'; manifest: PolicyManifest; previous: Recorded | null }
  /** Read and checked, and the policy leaves the kind to the UI. */
  | { action: 'ignore'; manifest: DesiredManifest; previous: Recorded | null }
  /** By an operator's word; null: the manifest itself says so. */
  | { action: 'suspended'; manifest: DesiredManifest; previous: Recorded | null; word: Override | null }
  /** This very spec is not to be applied again. */
  | { action: 'held'; manifest: DesiredManifest; previous: Recorded | null; hold: Hold }
  | { action: 'prune'; previous: Recorded }
  /** Git does not own its kind any more: from now on it is the UI's. */
  | { action: 'orphan'; previous: Recorded }
  /** Left the tree, and is kept for the reason given. */
  | { action: 'keep'; previous: Recorded; reason: PruneHold }
  /** Was refused before it became an object, and is gone now. */
  | { action: 'forget'; previous: Recorded };

export type PruneHold =
  | 'broken-manifests'
  | 'rewritten-history'
  | 'missing-path'
  | 'empty-path'
  | 'confirm'
  | 'never'
  /** The policy says that nothing is pruned. */
  | 'no-prune'
  | 'suspended'
  /** Said by the pass, not by the plan: the whole plan waits for an ADMIN. */
  | 'guarded'
  /** Said by the pass, not by the plan: the binding's mode is not `sync`. */
  | 'observing';

const ACTING: ReadonlySet<Change['action']> = new Set(['create', 'update', 'adopt', 'prune', 'orphan']);
export const acts = (change: Change): boolean => ACTING.has(change.action);

export type Applying = Extract<Change, { action: 'create' | 'update' | 'adopt' }>;
export const applies = (change: Change): change is Applying =>
  change.action === 'create' || change.action === 'update' || change.action === 'adopt';

/** The row that the manifest is applied to; null where it is made. */
export const objectIdOf = (change: Applying): string | null =>
  change.action === 'adopt' ? change.object.id : (change.previous?.objectId ?? null);

/** @throws for a change of what is gone */
export const manifestOf = (change: Change): DesiredManifest => {
  if (!('manifest' in change)) throw new Error('a change of a manifest');
  return change.manifest;
};

/** Renames come first and together: names that are traded are free for one another only within one transaction. */
export const renames = (change: Change): boolean => renamedFromOf(change) !== null;

/** What the object was called before. */
export function renamedFromOf(change: Change): string | null {
  if (change.action === 'update') return change.renamedFrom;
  if (change.action !== 'adopt' || change.object.name === change.manifest.name) return null;
  return change.object.name;
}
