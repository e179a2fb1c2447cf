/** Deletes what left the tree, and hands objects that git no longer owns to the UI. */
import { gitSyncOrphan } from '../../../controller/delivery/bindings/index.ts';
import type { OwnableKind } from '../../../schemas/api/delivery/git-policy.ts';
import type { ManifestKind } from '../../../schemas/manifests/index.ts';
import { KINDS } from '../../kinds/index.ts';
import type { Applying, Change, PruneHold } from '../plan/change.ts';
import { checkAll } from '../plan/check-changes.ts';
import { identityOf } from '../read/identity.ts';
import type { Work } from './shared-state.ts';

type Pruning = Extract<Change, { action: 'prune' }>;
type Orphaning = Extract<Change, { action: 'orphan' }>;

/**
 * Prunes an object before applying where another manifest takes over its name. Only where that manifest is valid: else
 * nothing would replace the object.
 */
export async function clearNames(
  work: Work,
  prunes: readonly Pruning[],
  due: readonly Applying[],
): Promise<void> {
  if (work.blockedBy !== null) return;
  const takers = new Map(due.map((change) => [identityOf(change.manifest), change]));
  const displaced = prunes.filter(({ previous }) => takers.has(identityOf(previous)));
  const checks = await checkAll(
    work.options,
    { secrets: work.observed.secrets, faults: work.faults },
    displaced.map(({ previous }) => takers.get(identityOf(previous))!),
    true,
  );
  for (const change of displaced) {
    const taker = takers.get(identityOf(change.previous))!;
    if (checks.get(taker)?.problems.length === 0) await prune(work, change);
  }
}

/** Runs last, in the reverse order of applying, and only where no check has refused a manifest. */
export async function pruneAll(work: Work, prunes: readonly Pruning[]): Promise<void> {
  const { acted } = work;
  const order = (kind: string) => KINDS.get(kind as ManifestKind)?.order ?? 0;
  const left = prunes
    .filter((change) => !acted.outcomes.has(change))
    .sort((a, b) => order(b.previous.kind) - order(a.previous.kind));
  const reason: PruneHold | null = work.blockedBy ?? (acted.counts.refused > 0 ? 'broken-manifests' : null);
  for (const change of left) {
    if (reason === null) {
      await prune(work, change);
      continue;
    }
    const { kind, name } = change.previous;
    acted.retained.set(change, reason);
    acted.counts.waiting += 1;
    acted.entries.push({ type: 'retained', kind, name, reason });
  }
}

/** Hands objects that git no longer owns to the UI, unchanged. */
export async function orphanAll(work: Work, orphans: readonly Orphaning[]): Promise<void> {
  const { ctx, execute, binding } = work.options;
  const { acted } = work;
  if (work.blockedBy !== null) {
    acted.counts.waiting += orphans.length;
    return;
  }
  for (const [kind, changes] of Map.groupBy(orphans, ({ previous }) => previous.kind)) {
    await execute(gitSyncOrphan, ctx, {
      environmentId: binding.environmentId,
      kind: kind as OwnableKind,
      objectIds: changes.flatMap(({ previous }) => previous.objectId ?? []),
    });
    for (const change of changes) {
      acted.outcomes.set(change, { type: 'applied', check: null, detail: 'Left to the UI' });
      acted.counts.changed += 1;
      acted.entries.push({ type: 'orphaned', kind, name: change.previous.name });
    }
  }
}

async function prune(work: Work, change: Pruning): Promise<void> {
  const { ctx, execute, binding, signal } = work.options;
  const { kind: kindName, name, objectId, objectDeployed } = change.previous;
  const kind = KINDS.get(kindName as ManifestKind);
  if (!kind || objectId === null) return;
  signal.throwIfAborted();
  await kind.prune({ ctx, execute, environmentId: binding.environmentId, objectId });
  work.acted.outcomes.set(change, { type: 'applied', check: null, detail: 'Pruned' });
  work.acted.counts.deleted += 1;
  work.acted.entries.push({
    ...{ type: 'pruned', kind: kindName, name },
    stopped: kindName === 'Pipeline' && objectDeployed === true,
  });
}
