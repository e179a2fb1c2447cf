/** Checks the changes and applies them in order, many manifests in one transaction. */
import { componentsOf } from '../../../controller/pipelines/order/index.ts';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import type { ApplyResult, CheckResult } from '../../kinds/index.ts';
import { blockerOf, withoutBlocked } from '../plan/blocked-manifests.ts';
import { type Applying, type Change, objectIdOf, renamedFromOf, renames } from '../plan/change.ts';
import { checkAll, ENGINE_CHECKS, kindOf } from '../plan/check-changes.ts';
import { identity, identityOf } from '../read/identity.ts';
import { batchesOf } from './batches.ts';
import { rejectManifest, type Work } from './shared-state.ts';

/** Manifests in one transaction. While one batch is written, the next is checked. */
const BATCH = 200;

export async function applyAll(work: Work, due: readonly Applying[]): Promise<void> {
  await rejectAhead(work, due);
  const batches = batchesOf(due, work.options.batch ?? BATCH);
  const engine = due.length <= ENGINE_CHECKS;
  let ahead = checksOf(work, batches[0] ?? [], engine);
  for (const [index, batch] of batches.entries()) {
    const checks = await ahead;
    ahead = checksOf(work, batches[index + 1] ?? [], engine);
    // Awaited in the next round; until then a rejection must not count as unhandled.
    ahead.catch(() => {});
    work.options.signal.throwIfAborted();
    const valid = batch.filter((change) => {
      const check = checks.get(change);
      const problems = check?.problems ?? [];
      if (problems.length > 0) rejectManifest(work, change, problems, check);
      return problems.length === 0;
    });
    await apply(work, valid, checks);
  }
  await ahead;
}

function checksOf(
  work: Work,
  batch: readonly Applying[],
  engine: boolean,
): Promise<Map<Change, CheckResult>> {
  return checkAll(work.options, { secrets: work.observed.secrets, faults: work.faults }, batch, engine);
}

/**
 * Applies a batch of one kind in one transaction. Where a manifest makes it fail, the batch is halved until only that manifest
 * is left out.
 */
async function apply(
  work: Work,
  batch: readonly Applying[],
  checks: ReadonlyMap<Change, CheckResult>,
): Promise<void> {
  const { ctx, execute, binding } = work.options;
  const items = batch.filter(
    (change) => !isWaiting(work, change, checks) && !isBlocked(work, change, checks, batch),
  );
  const first = items[0];
  if (!first) return;
  try {
    const results = await kindOf(first).apply({
      ctx,
      execute,
      environmentId: binding.environmentId,
      commit: work.observed.commit,
      items: items.map((change) => ({ manifest: change.manifest, objectId: objectIdOf(change) })),
    });
    for (const [index, change] of items.entries()) applied(work, change, checks, results[index]!);
  } catch (error) {
    if (!(error instanceof DomainError) || error.code === 'UNAVAILABLE') throw error;
    if (items.length > 1) {
      const half = Math.ceil(items.length / 2);
      await apply(work, items.slice(0, half), checks);
      await apply(work, items.slice(half), checks);
      return;
    }
    const reason =
      error.details?.reason === 'Conflict' || error.details?.reason === 'Blocked'
        ? error.details.reason
        : 'ApplyFailed';
    fail(work, first, checks, reason, error.message);
  }
}

function isWaiting(work: Work, change: Applying, checks: ReadonlyMap<Change, CheckResult>): boolean {
  const { manifest } = change;
  const check = checks.get(change)!;
  switch (work.blockedBy) {
    case null:
      return false;
    case 'observing':
      work.acted.outcomes.set(change, { type: 'observed', check });
      break;
    case 'guarded':
      work.acted.outcomes.set(change, { type: 'guarded', check, why: work.guarded ?? '' });
      break;
  }
  work.acted.entries.push({ type: 'observed', kind: manifest.kind, name: manifest.name });
  work.acted.counts.waiting += 1;
  return true;
}

/** Whether it refers to something that neither exists nor is in the batch, or depends on a refused manifest. */
function isBlocked(
  work: Work,
  change: Applying,
  checks: ReadonlyMap<Change, CheckResult>,
  batch: readonly Applying[],
): boolean {
  const comesAlong = (key: string) =>
    batch.some(
      (other) => other !== change && !work.acted.outcomes.has(other) && identityOf(other.manifest) === key,
    );
  const why = blockerOf(
    change,
    (key) => work.live.has(key) || comesAlong(key),
    (key) => work.refused.has(key),
  );
  if (why === null) return false;
  fail(work, change, checks, 'Blocked', why);
  return true;
}

/**
 * Renames are applied first, even before their dependencies. The dependencies are checked ahead, so that a rename waits where
 * one of them will be refused.
 */
async function rejectAhead(work: Work, due: readonly Applying[]): Promise<void> {
  const first = due.filter(renames);
  const byName = new Map(due.map((change) => [identityOf(change.manifest), change]));
  const needs = (change: Applying) =>
    kindOf(change)
      .references(change.manifest)
      .flatMap(({ kind, name }) => byName.get(identity(kind, nameKeyOf(name))) ?? []);
  const needed = componentsOf(first, needs).flat();
  if (needed.length === first.length) return;
  const { observed, faults } = work;
  const checks = await checkAll(work.options, { secrets: observed.secrets, faults }, needed, false);
  const wrong = needed.filter((change) => (checks.get(change)?.problems.length ?? 0) > 0);
  const names = (changes: readonly Applying[]) => changes.map(({ manifest }) => identityOf(manifest));
  const valid = needed.filter((change) => !wrong.includes(change));
  const { blocked } = withoutBlocked(valid, work.live, [...work.refused, ...names(wrong)]);
  for (const key of [...names(wrong), ...names(blocked.map(({ change }) => change))]) work.refused.add(key);
}

function fail(
  work: Work,
  change: Applying,
  checks: ReadonlyMap<Change, CheckResult>,
  reason: 'Conflict' | 'Blocked' | 'ApplyFailed',
  message: string,
): void {
  const { kind, name } = change.manifest;
  work.acted.entries.push({ type: 'failed', kind, name, message });
  work.acted.outcomes.set(change, { type: 'failed', check: checks.get(change)!, reason, message });
  work.acted.counts.refused += 1;
  work.refused.add(identityOf(change.manifest));
}

function applied(
  work: Work,
  change: Applying,
  checks: ReadonlyMap<Change, CheckResult>,
  result: ApplyResult,
): void {
  const { manifest } = change;
  const check = checks.get(change)!;
  work.acted.applied.set(change, result);
  work.live.add(identityOf(manifest));
  const detail = [`Accepted as ${result.detail}`, ...check.notes].join('. ');
  work.acted.outcomes.set(change, { type: 'applied', check, detail });
  const renamedFrom = renamedFromOf(change);
  work.acted.entries.push({
    type: result.outcome,
    kind: manifest.kind,
    name: manifest.name,
    detail: result.detail,
    renamedFrom,
    drifted: change.action === 'update' && change.drifted,
    adopted: change.action === 'adopt',
    notes: [
      ...check.notes,
      ...check.unknown.map((what) => `not known to the checker at hand: ${what}; the nodes' engine decides`),
    ],
  });
  work.acted.counts[renamedFrom === null ? result.outcome : 'renamed'] += 1;
}
