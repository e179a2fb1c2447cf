/** One line of the inventory: what it keeps from the pass before, and what this pass changes. */
import type { InventoryRecord, ManifestRecord } from '../../../controller/delivery/bindings/index.ts';
import type { Condition } from '../../../schemas/api/common.ts';
import { KINDS } from '../../kinds/index.ts';
import { type ConditionRecord, mergeConditions, sameConditions } from '../../loops/conditions.ts';
import type { DesiredManifest } from '../../source/index.ts';
import type { Acted } from '../pass-types.ts';
import { metaOf } from '../plan/meta.ts';
import type { Change } from '../plan/plan.ts';
import {
  conditionsOf,
  DRIFTED,
  type ManifestOutcome,
  retainedCondition,
  STORED_CONDITIONS,
  type StoredCondition,
} from './outcome.ts';
import { retestedCondition } from './test-results.ts';

type ObjectFacts = Pick<
  InventoryRecord,
  'objectId' | 'objectName' | 'objectHash' | 'objectDeployed' | 'objectVersion'
>;

export const sameObject = (previous: InventoryRecord | undefined): ObjectFacts => ({
  objectId: previous?.objectId ?? null,
  objectName: previous?.objectName ?? null,
  objectHash: previous?.objectHash ?? null,
  objectDeployed: previous?.objectDeployed ?? null,
  objectVersion: previous?.objectVersion ?? null,
});

/** The object as it is after this pass. */
export function objectOf(change: Change, acted: Acted, previous: InventoryRecord | undefined): ObjectFacts {
  const result = acted.applied.get(change);
  if (!result || !('manifest' in change)) return sameObject(previous);
  const { manifest } = change;
  return {
    objectId: result.objectId,
    objectName: manifest.name,
    objectHash: manifest.hash,
    objectDeployed: KINDS.get(manifest.kind)?.deployed(manifest) ?? null,
    objectVersion: result.version,
  };
}

export const isHealthy = ({ conditions }: ManifestRecord): boolean =>
  conditions.every((one) => one.status !== 'False' && one.reason !== DRIFTED);

/** Nothing of the line can differ. This holds for most manifests of most passes. */
export function isSettled(previous: InventoryRecord, manifest: DesiredManifest): boolean {
  return (
    previous.nameKey === manifest.nameKey &&
    previous.name === manifest.name &&
    previous.path === manifest.path &&
    previous.line === manifest.line &&
    previous.uid === manifest.uid &&
    previous.seenHash === manifest.hash &&
    previous.appliedMeta === metaOf(manifest) &&
    previous.prunePolicy === prunePolicyOf(manifest) &&
    !previous.prunePending &&
    isHealthy(previous)
  );
}

/** Facts of an unchanged manifest: none where it was healthy, so its conditions stay; else those of one that is healthy again. */
export function unchangedFacts(
  previous: ManifestRecord,
  outcome: ManifestOutcome,
  source: { path: string; line: number; commit: string },
  manifest: DesiredManifest,
) {
  if (isHealthy(previous)) return [];
  const facts = conditionsOf(outcome, source, manifest);
  return [
    ...facts,
    { ...facts[0]!, type: 'Validated' as const, reason: 'Valid', message: 'As it was when it was accepted' },
    ...retestedCondition(previous, manifest).map((tested) => ({ ...facts[0]!, ...tested })),
  ];
}

export function retained(
  previous: InventoryRecord | undefined,
  reason: Parameters<typeof retainedCondition>[0],
  commit: string,
  now: Date,
): InventoryRecord {
  if (!previous) throw new Error('a retained manifest is in the inventory');
  const source = { path: previous.path, line: previous.line, commit };
  const facts = [retainedCondition(reason, source)];
  const already =
    previous.prunePending &&
    previous.conditions.some((one) => one.type === 'Applied' && one.reason === facts[0]?.reason);
  return {
    ...previous,
    prunePending: true,
    conditions: already
      ? previous.conditions
      : toConditions(mergeConditions(STORED_CONDITIONS, records(previous), facts, now)),
  };
}

export function records(previous: ManifestRecord | undefined): ConditionRecord<StoredCondition>[] {
  return (previous?.conditions ?? []).map((one) => ({
    ...one,
    type: one.type as StoredCondition,
    lastTransition: new Date(one.lastTransition).toISOString(),
  }));
}

export const toConditions = (merged: readonly ConditionRecord<StoredCondition>[]): Condition[] =>
  merged.map((one) => ({ ...one, lastTransition: new Date(one.lastTransition) }));

export function prunePolicyOf(manifest: DesiredManifest): ManifestRecord['prunePolicy'] {
  const policy = manifest.annotations['headgate/prune'];
  return policy === 'confirm' || policy === 'never' ? policy : 'auto';
}

export function sameRecord(before: ManifestRecord, after: ManifestRecord): boolean {
  return (
    before.name === after.name &&
    before.uid === after.uid &&
    before.path === after.path &&
    before.line === after.line &&
    before.objectId === after.objectId &&
    before.appliedHash === after.appliedHash &&
    before.appliedMeta === after.appliedMeta &&
    before.appliedCommit === after.appliedCommit &&
    before.seenHash === after.seenHash &&
    before.seenCommit === after.seenCommit &&
    before.prunePolicy === after.prunePolicy &&
    before.prunePending === after.prunePending &&
    sameConditions(records(before), records(after))
  );
}
