/** Carries a plan out: checks the changes, applies them in order, then prunes what left the tree. */
import type { CommitInfo } from '../../source/index.ts';
import type { Acted, Observed, PassOptions } from '../pass-types.ts';
import { type Applying, applies } from '../plan/change.ts';
import type { Plan } from '../plan/plan.ts';
import { applyAll } from './apply-changes.ts';
import { recordUnwritten } from './record-unwritten.ts';
import { clearNames, orphanAll, pruneAll } from './remove-objects.ts';
import { openWork } from './shared-state.ts';

/** @param guarded Why nothing of the plan may be applied; null where it may. */
export async function act(
  given: PassOptions,
  observed: Observed,
  plan: Plan,
  guarded: string | null,
): Promise<Acted> {
  const options: PassOptions = { ...given, ctx: { ...given.ctx, actor: gitActor(given, observed.commit) } };
  const work = openWork(options, observed, plan, guarded);
  const due: Applying[] = [];
  for (const change of plan.changes) {
    if (applies(change)) due.push(change);
    else recordUnwritten(work, change);
  }
  const prunes = plan.changes.filter((change) => change.action === 'prune');
  await orphanAll(
    work,
    plan.changes.filter((change) => change.action === 'orphan'),
  );
  await clearNames(work, prunes, due);
  await applyAll(work, due);
  await pruneAll(work, prunes);
  return work.acted;
}

export const gitActor = (
  { binding }: Pick<PassOptions, 'binding'>,
  { sha, author }: Pick<CommitInfo, 'sha' | 'author'>,
) => ({
  type: 'git' as const,
  commit: sha,
  author,
  environmentId: binding.environmentId,
});
