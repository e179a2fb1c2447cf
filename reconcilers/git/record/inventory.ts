/** From what happened in a pass to the lines of the inventory: those that differ from what is stored, and those that go. */
import type { InventoryRecord } from '../../../controller/delivery/bindings/index.ts';
import { mergeConditions } from '../../engine/conditions.ts';
import type { Acted, Observed, PassOptions } from '../pass-types.ts';
import { lastGoodText, type RefusedDocument } from '../plan/last-good.ts';
import { metaOf } from '../plan/meta.ts';
import type { Plan } from '../plan/plan.ts';
import { identityOf } from '../read/identity.ts';
import {
  isSettled,
  objectOf,
  prunePolicyOf,
  records,
  retained,
  sameObject,
  sameRecord,
  toConditions,
  unchangedFacts,
} from './inventory-line.ts';
import { conditionsOf, type ManifestOutcome, STORED_CONDITIONS } from './outcome.ts';

/** The lines of the inventory that are not what is stored already, and those that go. */
export function manifestWrites(
  options: PassOptions,
  looked: Observed,
  plan: Plan,
  acted: Acted,
  refused: readonly RefusedDocument[],
): { writes: InventoryRecord[]; removals: { kind: string; nameKey: string }[] } {
  const now = new Date(options.ctx.clock.now());
  const commit = looked.commit.sha;
  const stored = looked.inventory;
  const writes = new Map<string, InventoryRecord>();
  const removals: { kind: string; nameKey: string }[] = [];
  const claimed = new Set(
    plan.changes.flatMap((change) => (change.previous ? [identityOf(change.previous)] : [])),
  );
  const orphaned = new Set(
    plan.changes.flatMap((change) =>
      change.action === 'orphan' && acted.outcomes.has(change) ? [identityOf(change.previous)] : [],
    ),
  );
  /** Lines of which a sound manifest has spoken. */
  const spoken = new Set<string>();
  const put = (record: InventoryRecord, always = false) => {
    const key = identityOf(record);
    const before = stored.get(key);
    if (always || !before || !sameRecord(before, record)) writes.set(key, record);
  };

  for (const change of plan.changes) {
    if (change.action === 'prune') {
      if (acted.outcomes.has(change)) removals.push(change.previous);
      else
        put(
          retained(
            stored.get(identityOf(change.previous)),
            acted.kept.get(change) ?? 'broken-manifests',
            commit,
            now,
          ),
        );
      continue;
    }
    if (change.action === 'orphan') {
      if (acted.outcomes.has(change)) removals.push(change.previous);
      continue;
    }
    if (change.action === 'forget') {
      removals.push(change.previous);
      continue;
    }
    if (change.action === 'keep') {
      put(retained(stored.get(identityOf(change.previous)), change.reason, commit, now));
      continue;
    }
    const outcome = acted.outcomes.get(change);
    if (!outcome) continue;
    const { manifest } = change;
    // The line under this name may still be that of an object which is being renamed: it is not this manifest's.
    const foreign = change.previous === null && claimed.has(identityOf(manifest));
    // What an orphan's manifest says is read on, and is no object's.
    const isOrphans = orphaned.has(identityOf(manifest));
    const previous = foreign || isOrphans ? undefined : stored.get(identityOf(change.previous ?? manifest));
    const holds = outcome.type === 'policy' && outcome.waits === null;
    const applied = outcome.type === 'applied' || outcome.type === 'unchanged' || holds;
    const isNew = outcome.type === 'applied' || (holds && change.previous?.appliedHash !== manifest.hash);
    if (foreign && !isOrphans && !applied) continue;
    // A refused rename stays under the name that runs.
    const renamed = previous !== undefined && previous.nameKey !== manifest.nameKey;
    if (renamed && applied) removals.push(previous);
    const identity = renamed && !applied ? previous : manifest;
    spoken.add(identityOf(identity));
    if (outcome.type === 'unchanged' && previous && isSettled(previous, manifest)) continue;
    const seenAnew = previous?.seenHash !== manifest.hash;
    const place = {
      path: manifest.path,
      line: manifest.line,
      commit: seenAnew ? commit : (previous?.seenCommit ?? commit),
    };
    const facts =
      outcome.type === 'unchanged' && previous
        ? unchangedFacts(previous, outcome, place, manifest)
        : conditionsOf(outcome, place, manifest);
    const line: InventoryRecord = {
      kind: manifest.kind,
      nameKey: identity.nameKey,
      name: identity.name,
      // One that was refused is not the object's yet.
      uid: applied ? manifest.uid : (previous?.uid ?? manifest.uid),
      path: manifest.path,
      line: manifest.line,
      ...objectOf(change, acted, previous),
      appliedHash: applied ? manifest.hash : (previous?.appliedHash ?? null),
      appliedMeta: applied ? metaOf(manifest) : (previous?.appliedMeta ?? null),
      appliedCommit: isNew ? commit : (previous?.appliedCommit ?? null),
      seenHash: manifest.hash,
      seenCommit: place.commit,
      prunePolicy: prunePolicyOf(manifest),
      prunePending: false,
      conditions: toConditions(mergeConditions(STORED_CONDITIONS, records(previous), facts, now)),
    };
    // The rows that were applied have lost their hash until now.
    put(line, outcome.type === 'applied');
  }
  if (refused.length === 0) return { writes: [...writes.values()], removals };
  const left = new Set(removals.map(identityOf));
  const standing = new Map([...stored].filter(([key]) => !left.has(key)));
  for (const document of refused) {
    const key = identityOf(document);
    if (spoken.has(key)) continue;
    const previous = standing.get(key);
    const first = document.problems[0];
    if (!first) continue;
    const known =
      previous?.conditions.some((one) => one.status === 'False' && one.message.startsWith(first.message)) ??
      false;
    const place = {
      path: first.path,
      line: first.line ?? previous?.line ?? 1,
      commit: known ? (previous?.seenCommit ?? commit) : commit,
    };
    const outcome: ManifestOutcome = {
      type: 'refused',
      problems: document.problems,
      kept: lastGoodText(standing, document, null),
    };
    put({
      kind: document.kind,
      nameKey: document.nameKey,
      name: previous?.name ?? document.name,
      uid: previous?.uid ?? null,
      path: first.path,
      line: previous?.line ?? first.line ?? 1,
      ...sameObject(previous),
      appliedHash: previous?.appliedHash ?? null,
      appliedMeta: previous?.appliedMeta ?? null,
      appliedCommit: previous?.appliedCommit ?? null,
      seenHash: null,
      seenCommit: place.commit,
      prunePolicy: previous?.prunePolicy ?? 'auto',
      prunePending: false,
      conditions: toConditions(
        mergeConditions(STORED_CONDITIONS, records(previous), conditionsOf(outcome, place, null), now),
      ),
    });
  }
  return { writes: [...writes.values()], removals };
}
