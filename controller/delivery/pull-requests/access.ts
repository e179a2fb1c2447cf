/** Shared by the operations of pull requests: finding and locking one, checking rights, notifying. */
import { mayPush } from '../../identity/access/index.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { notFound } from '../../platform/operation/errors.ts';
import { type Binding, findBinding, operatorOf } from '../bindings/index.ts';
import { hasRead, pullRequestsOf } from './repository-of-binding.ts';
import { type BoundBranch, listBoundBranches, teamsOf } from './repository-queries.ts';
import { forgeRefusal, type Identity, notAlone, notEditor } from './rules.ts';
import { findByNumber, lockPullRequest, type PullRequestRecord } from './store.ts';

export interface Which {
  environmentId: string;
  number: number;
}

export interface Found {
  binding: Binding;
  pull: PullRequestRecord;
}

/** @throws NOT_FOUND when the environment is not bound, or has no such pull request */
export async function findPull(ctx: Context, { environmentId, number }: Which): Promise<Found> {
  const binding = await findBinding(ctx.db, environmentId);
  if (!binding || !hasRead(binding)) throw notFound('Pull request');
  const { base, ...of } = pullRequestsOf(binding);
  const pull = await findByNumber(ctx.db, { ...of, number });
  if (pull?.base !== base) throw notFound('Pull request');
  return { binding, pull };
}

/** For mutations: nobody else changes the pull request until the transaction ends. */
export async function lockPull(ctx: MutationContext, which: Which): Promise<Found> {
  const { binding, pull } = await findPull(ctx, which);
  const locked = await lockPullRequest(ctx.db, pull.id);
  if (!locked) throw notFound('Pull request');
  return { binding, pull: locked };
}

/** @throws PRECONDITION_FAILED when the pull request lives on a forge */
export async function lockHostedPull(ctx: MutationContext, which: Which): Promise<Found> {
  const found = await lockPull(ctx, which);
  const refusal = forgeRefusal(found.pull);
  if (refusal) throw refusal;
  return found;
}

export function identityOf(ctx: Pick<Context, 'actor'>): Identity {
  return operatorOf(ctx);
}

/** A change of branches needs the same rights as a push. @throws FORBIDDEN */
export async function assertMayPush(
  ctx: Context,
  { repositoryUrl, environmentId }: Pick<Binding, 'repositoryUrl' | 'environmentId'>,
): Promise<BoundBranch[]> {
  const branches = await listBoundBranches(ctx.db, repositoryUrl, environmentId);
  if (!mayPush(ctx.actor, teamsOf(branches))) throw notEditor();
  return branches;
}

/**
 * Whether the actor may merge into `base`. A service account belongs to one environment: it may merge into a branch that no
 * other environment follows.
 */
export function mayMergeInto(
  { actor }: Pick<Context, 'actor'>,
  branches: readonly BoundBranch[],
  base: string,
) {
  if (actor.type !== 'service_account') return mayPush(actor, teamsOf(branches));
  const following = branches.filter(({ ref }) => ref === base);
  return (
    actor.permissions.has('pulls.merge') &&
    following.length > 0 &&
    following.every(({ environmentId }) => environmentId === actor.environmentId)
  );
}

/** Like `assertMayPush`, for a merge. @throws FORBIDDEN */
export async function assertMayMerge(
  ctx: Context,
  { repositoryUrl, environmentId }: Pick<Binding, 'repositoryUrl' | 'environmentId'>,
  base: string,
): Promise<BoundBranch[]> {
  const branches = await listBoundBranches(ctx.db, repositoryUrl, environmentId);
  if (mayMergeInto(ctx, branches, base)) return branches;
  throw ctx.actor.type === 'service_account' ? notAlone(base) : notEditor();
}

export const authorColumns = (ctx: Pick<Context, 'actor'>): { author: string; authorId: string | null } => {
  const { id, name } = identityOf(ctx);
  return { author: name, authorId: id };
};

/** Notifies the pages of every environment that shows the pull request, and wakes the loops that wait for it. */
export async function notifyPullRequest(
  ctx: Pick<Context, 'db' | 'services'>,
  pull: Pick<PullRequestRecord, 'repository' | 'base' | 'subject'>,
  trigger: string,
  { branchMoved = false } = {},
): Promise<void> {
  const { db, services } = ctx;
  const branches = await listBoundBranches(db, pull.repository);
  for (const { environmentId } of branches.filter(({ ref }) => ref === pull.base)) {
    await services.bus.publish(db, { type: 'ui', environmentId, topics: ['promotions', 'git'] });
    if (branchMoved)
      await services.bus.publish(db, { type: 'wake', loop: 'git', key: environmentId, trigger });
    await services.bus.publish(db, { type: 'wake', loop: 'pull-requests', key: environmentId, trigger });
  }
  const { promotionId } = pull.subject;
  if (typeof promotionId === 'string')
    await services.bus.publish(db, { type: 'wake', loop: 'promotions', key: promotionId, trigger });
}

export const audited = (
  ctx: MutationContext,
  pull: Pick<PullRequestRecord, 'id' | 'number' | 'title' | 'branch' | 'base'>,
  more: Record<string, unknown> = {},
  commitSha: string | null = null,
): void =>
  ctx.audit({
    entityType: 'PullRequest',
    entityId: pull.id,
    metadata: { number: pull.number, title: pull.title, branch: pull.branch, base: pull.base, ...more },
    commitSha,
  });
