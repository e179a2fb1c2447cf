/**
 * Checks the heads of a forge's merge queue, because the forge waits for their status: it is the plan of that very commit,
 * which holds the base and all pull requests before it. Kept in memory: a restart checks and publishes again.
 */
import { type Binding, listFaults } from '../../../controller/delivery/bindings/index.ts';
import { RepositoryError, type RepositoryHandle } from '../../../controller/delivery/repository/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { DomainError, messageOf } from '../../../controller/platform/operation/errors.ts';
import { type Forge, ForgeReply, type MergeGroup } from '../../forges/forge.ts';
import type { Planner } from '../../plan-view/index.ts';
import { GitRepositoryError, type Repository } from '../../source/index.ts';
import { faultKey, oneLine, type Verdict, verdictOfPlan } from './check-messages.ts';
import { pullPageOf, statusContext } from './publish-checks.ts';

export interface CheckingGroups {
  ctx: Context;
  binding: Binding;
  forge: Forge;
  handle: RepositoryHandle;
  repository: Repository;
  planner: Pick<Planner, 'planOfCommit'>;
  groups: readonly MergeGroup[];
  /** By head, the binding's revision, and the reason where no plan could be made. Its status is published. */
  published: Map<string, string>;
  leads(): boolean;
  aside<T>(work: () => Promise<T>): Promise<T>;
}

/** In one pass; a queue merges few at a time. */
const MAX_GROUPS = 8;

/** `more`: groups are left, and at least one of this pass was settled. @throws ForgeError */
export async function checkMergeGroups(checking: CheckingGroups): Promise<{ more: boolean }> {
  const { binding, groups, published, leads } = checking;
  const heads = new Set(groups.map(({ headSha }) => headSha));
  for (const sha of published.keys()) if (!heads.has(sha)) published.delete(sha);
  const of = String(binding.revision);
  const due = groups.filter(({ headSha }) => published.get(headSha) !== of);
  let settled = 0;
  for (const group of due.slice(0, MAX_GROUPS)) {
    if (!leads()) return { more: false };
    const { state, summary } = await verdictOf(checking, group);
    if (state !== 'error') {
      await publish(checking, group, { state, summary });
      published.set(group.headSha, of);
      settled += 1;
      continue;
    }
    // An error is retried while the queue waits: a failed status would remove the group from the queue.
    const pending = `${of} ${summary}`;
    if (published.get(group.headSha) === pending) continue;
    await publish(checking, group, { state: 'pending', summary });
    published.set(group.headSha, pending);
  }
  return { more: due.length > MAX_GROUPS && settled > 0 };
}

async function publish(
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
    // The group and its commit are gone.
    if (!(error instanceof ForgeReply) || error.fault === 'credentials') throw error;
    ctx.log.debug({ branch, reason: error.message }, 'the head of a merge group takes no status');
  }
}

async function verdictOf(
  { ctx, binding, handle, repository, planner, aside }: CheckingGroups,
  { branch, headSha }: MergeGroup,
): Promise<Verdict> {
  try {
    if (handle.kind === 'remote')
      await aside(() => handle.meet({ base: binding.ref, head: branch }, ctx.signal));
    const plan = await planner.planOfCommit(ctx, binding, { repository, commit: headSha });
    const before = new Set((await listFaults(ctx.db, binding.id)).map(faultKey));
    return verdictOfPlan(plan, before);
  } catch (error) {
    ctx.signal.throwIfAborted();
    const known = [DomainError, RepositoryError, GitRepositoryError].some((type) => error instanceof type);
    const { environmentName: environment } = binding;
    ctx.log.warn({ environment, branch, reason: messageOf(error) }, 'a merge group could not be planned');
    const why = known ? messageOf(error) : "of a fault of the controller's; its log says which";
    return { state: 'error', summary: oneLine(`no plan: ${why}`) };
  }
}
