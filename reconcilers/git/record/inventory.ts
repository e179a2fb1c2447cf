/** Turns the results of a pass into changes of the inventory. */
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

/** The lines that differ from what is stored, and the lines to delete. */
export function manifestWrites(
  options: PassOptions,
  observed: Observed,
  plan: Plan,
  acted: Acted,
  refused: readonly RefusedDocument[],
): { writes: InventoryRecord[]; removals: { kind: string; nameKey: string }[] } {
  const now = new Date(options.ctx.clock.now());
  const commit = observed.commit.sha;
  const stored = observed.inventory;
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
  /** Lines that a valid manifest stands for. */
  const described = new Set<string>();
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
            acted.retained.get(change) ?? 'broken-manifests',
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
    // The line under this name may belong to an object that is being renamed, and not to this manifest.
    const foreign = change.previous === null && claimed.has(identityOf(manifest));
    // The manifest of an orphaned object is still read, but has no object.
    const isOrphans = orphaned.has(identityOf(manifest));
    const previous = foreign || isOrphans ? undefined : stored.get(identityOf(change.previous ?? manifest));
    const holds = outcome.type === 'policy' && outcome.waits === null;
    const applied = outcome.type === 'applied' || outcome.type === 'unchanged' || holds;
    const isNew = outcome.type === 'applied' || (holds && change.previous?.appliedHash !== manifest.hash);
    if (foreign && !isOrphans && !applied) continue;
    // Where a rename is refused, the line stays under the name that runs.
    const renamed = previous !== undefined && previous.nameKey !== manifest.nameKey;
    if (renamed && applied) removals.push(previous);
    const identity = renamed && !applied ? previous : manifest;
    described.add(identityOf(identity));
    if (outcome.type === 'unchanged' && previous && isSettled(previous, manifest)) continue;
    const isNewSpec = previous?.seenHash !== manifest.hash;
    const source = {
      path: manifest.path,
      line: manifest.line,
      commit: isNewSpec ? commit : (previous?.seenCommit ?? commit),
    };
    const facts =
      outcome.type === 'unchanged' && previous
        ? unchangedFacts(previous, outcome, source, manifest)
        : conditionsOf(outcome, source, manifest);
    const line: InventoryRecord = {
      kind: manifest.kind,
      nameKey: identity.nameKey,
      name: identity.name,
      // The uid of a refused manifest is not yet that of the object.
      uid: applied ? manifest.uid : (previous?.uid ?? manifest.uid),
      path: manifest.path,
      line: manifest.line,
      ...objectOf(change, acted, previous),
      appliedHash: applied ? manifest.hash : (previous?.appliedHash ?? null),
      appliedMeta: applied ? metaOf(manifest) : (previous?.appliedMeta ?? null),
      appliedCommit: isNew ? commit : (previous?.appliedCommit ?? null),
      seenHash: manifest.hash,
      seenCommit: source.commit,
      prunePolicy: prunePolicyOf(manifest),
      prunePending: false,
      conditions: toConditions(mergeConditions(STORED_CONDITIONS, records(previous), facts, now)),
    };
    // Applying has cleared the stored hash of these rows, so they are always written.
    put(line, outcome.type === 'applied');
  }
  if (refused.length === 0) return { writes: [...writes.values()], removals };
  const removed = new Set(removals.map(identityOf));
  const remaining = new Map([...stored].filter(([key]) => !removed.has(key)));
  for (const document of refused) {
    const key = identityOf(document);
    if (described.has(key)) continue;
    const previous = remaining.get(key);
    const first = document.problems[0];
    if (!first) continue;
    const known =
      previous?.conditions.some((one) => one.status === 'False' && one.message.startsWith(first.message)) ??
      false;
    const source = {
      path: first.path,
      line: first.line ?? previous?.line ?? 1,
      commit: known ? (previous?.seenCommit ?? commit) : commit,
    };
    const outcome: ManifestOutcome = {
      type: 'refused',
      problems: document.problems,
      lastGood: lastGoodText(remaining, document, null),
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
      seenCommit: source.commit,
      prunePolicy: previous?.prunePolicy ?? 'auto',
      prunePending: false,
      conditions: toConditions(
        mergeConditions(STORED_CONDITIONS, records(previous), conditionsOf(outcome, source, null), now),
      ),
    });
  }
  return { writes: [...writes.values()], removals };
}
