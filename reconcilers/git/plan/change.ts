/** The changes of a plan: one for each manifest, and one for each object whose manifest is gone. */
import type { DesiredManifest } from '../../source/index.ts';
import type { Hold, Override, UiObject } from '../read/overrides.ts';
import type { PolicyManifest } from './policy-manifests.ts';

/** One line of the inventory, with the state of its object. */
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
  /** The hash of its manifest in the last pass. */
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
  /** The object was changed outside git, and the policy leaves the change in place. */
  | { action: 'drifted'; manifest: DesiredManifest; previous: Recorded }
  /** The UI owns an object of this name, and no operator has let git adopt it. */
  | { action: 'conflict'; manifest: DesiredManifest; previous: null; object: UiObject }
  /** Sets what git may do here; it has no object. */
  | { action: 'policy'; manifest: PolicyManifest; previous: Recorded | null }
  /** Read and checked only: the policy leaves this kind to the UI. */
  | { action: 'ignore'; manifest: DesiredManifest; previous: Recorded | null }
  /** By an operator; null where the manifest itself asks for it. */
  | {
      action: 'suspended';
      manifest: DesiredManifest;
      previous: Recorded | null;
      override: Override | null;
    }
  /** An operator forbids this very spec. */
  | { action: 'held'; manifest: DesiredManifest; previous: Recorded | null; hold: Hold }
  | { action: 'prune'; previous: Recorded }
  /** Git no longer owns the kind: the object passes to the UI. */
  | { action: 'orphan'; previous: Recorded }
  /** The manifest is gone; the object is retained for this reason. */
  | { action: 'keep'; previous: Recorded; reason: PruneHold }
  /** The manifest was refused before it had an object, and is gone now. */
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
  /** Set by the pass, not by the plan: the whole plan waits for an ADMIN. */
  | 'guarded'
  /** Set by the pass, not by the plan: the binding's mode is not `sync`. */
  | 'observing';

const ACTING: ReadonlySet<Change['action']> = new Set(['create', 'update', 'adopt', 'prune', 'orphan']);
export const acts = (change: Change): boolean => ACTING.has(change.action);

export type Applying = Extract<Change, { action: 'create' | 'update' | 'adopt' }>;
export const applies = (change: Change): change is Applying =>
  change.action === 'create' || change.action === 'update' || change.action === 'adopt';

/** The row that the manifest is applied to; null where a new one is inserted. */
export const objectIdOf = (change: Applying): string | null =>
  change.action === 'adopt' ? change.object.id : (change.previous?.objectId ?? null);

/** @throws where the manifest is gone */
export const manifestOf = (change: Change): DesiredManifest => {
  if (!('manifest' in change)) throw new Error(`a change "${change.action}" has no manifest`);
  return change.manifest;
};

/** Renames come first and together: objects can swap names only within one transaction. */
export const renames = (change: Change): boolean => renamedFromOf(change) !== null;

/** The object's name before the change. */
export function renamedFromOf(change: Change): string | null {
  if (change.action === 'update') return change.renamedFrom;
  if (change.action !== 'adopt' || change.object.name === change.manifest.name) return null;
  return change.object.name;
}
