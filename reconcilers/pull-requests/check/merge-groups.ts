/**
 * What a merge queue is about to merge gets its check too, since the forge waits for it: the plan of that very commit, which
 * holds the base and all pull requests before it. Kept in memory alone: after a new start it is made and told again.
 */
import { type Binding, listFaults } from '../../../controller/delivery/bindings/index.ts';
import { RepositoryError, type RepositoryHandle } from '../../../controller/delivery/repository/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { DomainError, messageOf } from '../../../controller/platform/operation/errors.ts';
import { type Forge, ForgeReply, type MergeGroup } from '../../forges/forge.ts';
import type { Planner } from '../../plan-view/index.ts';
import { GitRepositoryError } from '../../source/index.ts';
import { faultKey, oneLine, type Verdict, verdictOfPlan } from './check-messages.ts';
import { pullPageOf, statusContext } from './publish-checks.ts';

export interface CheckingGroups {
  ctx: Context;
  binding: Binding;
  forge: Forge;
  handle: RepositoryHandle;
  planner: Pick<Planner, 'planOfCommit'>;
  groups: readonly MergeGroup[];
  /** Heads that were told, and what makes another plan of them. */
  told: Map<string, string>;
  leads(): boolean;
  aside<T>(work: () => Promise<T>): Promise<T>;
}

/** Of one pass; a queue merges few at a time. */
const MOST_GROUPS = 8;

/** Answers whether there are more to be looked at, and it went on with these. @throws ForgeError */
export async function checkMergeGroups(checking: CheckingGroups): Promise<{ more: boolean }> {
  const { binding, groups, told, leads } = checking;
  const heads = new Set(groups.map(({ headSha }) => headSha));
  for (const sha of told.keys()) if (!heads.has(sha)) told.delete(sha);
  const of = String(binding.revision);
  const due = groups.filter(({ headSha }) => told.get(headSha) !== of);
  let settled = 0;
  for (const group of due.slice(0, MOST_GROUPS)) {
    if (!leads()) return { more: false };
    const { state, summary } = await verdictOf(checking, group);
    if (state !== 'error') {
      await tell(checking, group, { state, summary });
      told.set(group.headSha, of);
      settled += 1;
      continue;
    }
    // What could not be planned is tried again, and the queue waits for it: a check that failed would empty it.
    const waits = `${of} ${summary}`;
    if (told.get(group.headSha) === waits) continue;
    await tell(checking, group, { state: 'pending', summary });
    told.set(group.headSha, waits);
  }
  return { more: due.length > MOST_GROUPS && settled > 0 };
}

async function tell(
  { ctx, binding, forge, aside }: CheckingGroups,
  { headSha, branch, number }: MergeGroup,
  { state, summary }: Verdict,
): Promise<void> {
  const url =
    number === null
      ? `${ctx.services.baseUrl}/e/${encodeURIComponent(binding.environmentId)}/git`
      : pullPageOf(ctx, binding, { number });
  const report = { context: statusContext(binding), state, description: summary, url, ref: branch };
  try {
    await aside(() => forge.setStatus(headSha, report));
  } catch (error) {
    // The group is gone, and with it its commit.
    if (!(error instanceof ForgeReply) || error.fault === 'credentials') throw error;
    ctx.log.debug({ branch, reason: error.message }, 'the head of a merge group takes no status');
  }
}

async function verdictOf(
  { ctx, binding, handle, planner, aside }: CheckingGroups,
  { branch, headSha }: MergeGroup,
): Promise<Verdict> {
  try {
    if (handle.kind === 'remote')
      await aside(() => handle.meet({ base: binding.ref, head: branch }, ctx.signal));
    const plan = await planner.planOfCommit(ctx, binding, headSha);
    const before = new Set((await listFaults(ctx.db, binding.id)).map(faultKey));
    return verdictOfPlan(plan, before);
  } catch (error) {
    ctx.signal.throwIfAborted();
    const known = [DomainError, RepositoryError, GitRepositoryError].some((type) => error instanceof type);
    const { environmentName: environment } = binding;
    ctx.log.warn({ environment, branch, reason: messageOf(error) }, 'no plan of a merge group');
    const why = known ? messageOf(error) : "of a fault of the controller's; its log says which";
    return { state: 'error', summary: oneLine(`no plan: ${why}`) };
  }
}
