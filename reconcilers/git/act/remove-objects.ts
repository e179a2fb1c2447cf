/** What left the tree is deleted, and what git does not own any more is left to the UI. */
import { gitSyncOrphan } from '../../../controller/delivery/bindings/index.ts';
import type { OwnableKind } from '../../../schemas/api/git-policy.ts';
import type { ManifestKind } from '../../../schemas/manifests/index.ts';
import { KINDS } from '../../kinds/index.ts';
import type { Applying, Change, PruneHold } from '../plan/change.ts';
import { checkAll } from '../plan/check-changes.ts';
import { identityOf } from '../read/identity.ts';
import type { Work } from './work.ts';

type Pruning = Extract<Change, { action: 'prune' }>;
type Orphaning = Extract<Change, { action: 'orphan' }>;

/**
 * What left the tree while its name went over to another manifest goes first: that one has to wait for the name. Only
 * where that one is sound, for else nothing would come in its place.
 */
export async function clearNames(
  work: Work,
  prunes: readonly Pruning[],
  due: readonly Applying[],
): Promise<void> {
  if (work.standsBy !== null) return;
  const takers = new Map(due.map((change) => [identityOf(change.manifest), change]));
  const displaced = prunes.filter(({ previous }) => takers.has(identityOf(previous)));
  const checks = await checkAll(
    work.options,
    { secrets: work.looked.secrets, faults: work.faults },
    displaced.map(({ previous }) => takers.get(identityOf(previous))!),
    true,
  );
  for (const change of displaced) {
    const taker = takers.get(identityOf(change.previous))!;
    if (checks.get(taker)?.problems.length === 0) await prune(work, change);
  }
}

/** Last, in the opposite order of applying, and only where the checks have refused nothing either. */
export async function pruneAll(work: Work, prunes: readonly Pruning[]): Promise<void> {
  const { acted } = work;
  const order = (kind: string) => KINDS.get(kind as ManifestKind)?.order ?? 0;
  const left = prunes
    .filter((change) => !acted.outcomes.has(change))
    .sort((a, b) => order(b.previous.kind) - order(a.previous.kind));
  const reason: PruneHold | null = work.standsBy ?? (acted.counts.refused > 0 ? 'broken-manifests' : null);
  for (const change of left) {
    if (reason === null) {
      await prune(work, change);
      continue;
    }
    const { kind, name } = change.previous;
    acted.kept.set(change, reason);
    acted.counts.waiting += 1;
    acted.lines.push({ type: 'kept', kind, name, reason });
  }
}

/** What git does not own any more is the UI's, as it is. */
export async function orphanAll(work: Work, orphans: readonly Orphaning[]): Promise<void> {
  const { ctx, execute, binding } = work.options;
  const { acted } = work;
  if (work.standsBy !== null) {
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
      acted.lines.push({ type: 'orphaned', kind, name: change.previous.name });
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
  work.acted.lines.push({
    ...{ type: 'pruned', kind: kindName, name },
    stopped: kindName === 'Pipeline' && objectDeployed === true,
  });
}
