/** What the operations of pull requests share: where one lives, who speaks, and who is told. */
import { mayPush } from '../../identity/access/index.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { notFound } from '../../platform/operation/errors.ts';
import { type Binding, findBinding, operatorOf } from '../bindings/index.ts';
import { hasRead, pullRequestsOf } from './bound-repository.ts';
import { type BoundBranch, boundTo, teamsOf } from './repository-queries.ts';
import { elsewhere, notAlone, notEditor, type Who } from './rules.ts';
import { findByNumber, lockPullRequest, type PullRequestRecord } from './store.ts';

export interface Which {
  environmentId: string;
  number: number;
}

export interface Found {
  binding: Binding;
  pull: PullRequestRecord;
}

/** @throws NOT_FOUND where the environment is not bound, or shows no such pull request. */
export async function findPull(ctx: Context, { environmentId, number }: Which): Promise<Found> {
  const binding = await findBinding(ctx.db, environmentId);
  if (!binding || !hasRead(binding)) throw notFound('Pull request');
  const { base, ...of } = pullRequestsOf(binding);
  const pull = await findByNumber(ctx.db, { ...of, number });
  if (pull?.base !== base) throw notFound('Pull request');
  return { binding, pull };
}

/** In a mutation. Nobody else changes it until the transaction ends. */
export async function lockPull(ctx: MutationContext, which: Which): Promise<Found> {
  const { binding, pull } = await findPull(ctx, which);
  const locked = await lockPullRequest(ctx.db, pull.id);
  if (!locked) throw notFound('Pull request');
  return { binding, pull: locked };
}

/** @throws PRECONDITION_FAILED where it lives on a forge. */
export async function lockPullHere(ctx: MutationContext, which: Which): Promise<Found> {
  const found = await lockPull(ctx, which);
  const refusal = elsewhere(found.pull);
  if (refusal) throw refusal;
  return found;
}

export function whoIs(ctx: Pick<Context, 'actor'>): Who {
  return operatorOf(ctx);
}

/** What changes branches is like a push. @throws FORBIDDEN */
export async function asPusher(
  ctx: Context,
  { repositoryUrl, environmentId }: Pick<Binding, 'repositoryUrl' | 'environmentId'>,
): Promise<BoundBranch[]> {
  const places = await boundTo(ctx.db, repositoryUrl, environmentId);
  if (!mayPush(ctx.actor, teamsOf(places))) throw notEditor();
  return places;
}

/**
 * Whether the actor may merge into `base`. A key works in one environment: it may merge into a branch that this one alone
 * follows.
 */
export function mayMergeInto(
  { actor }: Pick<Context, 'actor'>,
  places: readonly BoundBranch[],
  base: string,
) {
  if (actor.type !== 'service_account') return mayPush(actor, teamsOf(places));
  const following = places.filter(({ ref }) => ref === base);
  return (
    actor.permissions.has('pulls.merge') &&
    following.length > 0 &&
    following.every(({ environmentId }) => environmentId === actor.environmentId)
  );
}

/** As `asPusher`, for a merge. @throws FORBIDDEN */
export async function asMerger(
  ctx: Context,
  { repositoryUrl, environmentId }: Pick<Binding, 'repositoryUrl' | 'environmentId'>,
  base: string,
): Promise<BoundBranch[]> {
  const places = await boundTo(ctx.db, repositoryUrl, environmentId);
  if (mayMergeInto(ctx, places, base)) return places;
  throw ctx.actor.type === 'service_account' ? notAlone(base) : notEditor();
}

export const authorColumns = (ctx: Pick<Context, 'actor'>): { author: string; authorId: string | null } => {
  const { id, name } = whoIs(ctx);
  return { author: name, authorId: id };
};

/** Pages of every environment that shows it follow, and the loops that wait for it look. */
export async function notifyPullRequest(
  ctx: Pick<Context, 'db' | 'services'>,
  pull: Pick<PullRequestRecord, 'repository' | 'base' | 'subject'>,
  trigger: string,
  { branchMoved = false } = {},
): Promise<void> {
  const { db, services } = ctx;
  const places = await boundTo(db, pull.repository);
  for (const { environmentId } of places.filter(({ ref }) => ref === pull.base)) {
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
