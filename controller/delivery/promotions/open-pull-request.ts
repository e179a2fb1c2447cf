/**
 * A promotion into an environment that git describes: its row, then its branch, then its pull request. The row is written first,
 * with its audit row, so that the loop of promotions can complete a push whose process ended.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { conflict, DomainError } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import type { WriteWithAudit } from '../../platform/operation/operation.ts';
import type { Binding } from '../bindings/index.ts';
import { findPullRequest } from '../pull-requests/index.ts';
import { CLOSE_PULL_REQUEST_JOB } from './close-pull-request.ts';
import { notifyUi, wakeLoops } from './notify-ui.ts';
import type { ManifestSnapshot } from './snapshot/snapshot.ts';
import {
  deleteUnwritten,
  findLastPromoted,
  findPromotion,
  findWaiting,
  insertPromotion,
  isWaiting,
  lockPromotion,
  MAX_ERROR_CHARACTERS,
  type NewPromotion,
  type PromotionRecord,
  recordError,
  updatePromotion,
} from './store.ts';

const SLUG = 50;

/** Safe as a part of a ref: a pipeline's name holds letters, digits, blanks, `_` and `-`. */
const branchFor = (name: string): string =>
  `headgate/promote/${name.replaceAll(/[^a-zA-Z0-9_]+/g, '-').slice(0, SLUG)}-${newId().slice(-8).toLowerCase()}`;

export type ManifestPromotion = NewPromotion & { snapshot: ManifestSnapshot };

export interface RecordedRequest {
  id: string;
  /** The waiting promotion that this request has updated; null for a new one. */
  before: PromotionRecord | null;
  /** The snapshot of the source that the target's branch already holds. */
  base: ManifestSnapshot | null;
}

/** Inserts the request, or updates the waiting one for the same pipeline and target. @throws CONFLICT */
export async function recordRequest(
  ctx: MutationContext,
  request: ManifestPromotion,
): Promise<RecordedRequest> {
  const base = await findLastPromoted(ctx.db, request);
  const inserted = await insertPromotion(ctx.db, { ...request, branch: branchFor(request.targetName) });
  if (inserted !== null) return { id: inserted, before: null, base };
  const known = await findWaiting(ctx.db, request);
  const before = known && (await lockPromotion(ctx.db, known.id));
  if (!before) throw conflict('Another user decides on this promotion at the moment; try again');
  // It may have ended while this request waited for the lock.
  if (!isWaiting(before))
    throw conflict('The earlier promotion of this pipeline ended just now; request this one again');
  const pull = before.pullRequestId === null ? null : await findPullRequest(ctx.db, before.pullRequestId);
  // Its pull request is merged but not rolled out: the next one gets another branch.
  const isOver = pull !== null && pull.state !== 'open';
  const { snapshot, status, sourceVersion, requestedBy, requestedById } = request;
  await updatePromotion(ctx.db, before.id, {
    ...{ snapshot, status, sourceVersion, requestedBy, requestedById, lastError: null },
    ...(isOver || before.branch === null
      ? { branch: branchFor(request.targetName), written: null, pullRequestId: null }
      : {}),
  });
  return { id: before.id, before, base: pull?.state === 'merged' ? (before.written ?? base) : base };
}

/**
 * Makes branch and pull request equal to the promotion. Idempotent: it continues where an earlier call ended.
 * @returns the id of the pull request, which `recordPullRequest` stores
 * @throws what the gateway throws
 */
export const pushAndOpen = (
  ctx: Context,
  binding: Binding,
  id: string,
  base: ManifestSnapshot | null,
): Promise<string> => {
  const { promotions } = ctx.services;
  return promotions.serialize(id, async () => {
    const promotion = await findPromotion(ctx.db, id);
    if (!promotion) throw conflict('The promotion was withdrawn meanwhile; request it again');
    const { snapshot } = promotion;
    const pushed = await promotions.push(ctx, binding, promotion, base);
    if (snapshot.form === 'manifest') await recordWritten(ctx, id, snapshot);
    return (await promotions.open(ctx, binding, promotion, pushed)).pullRequestId;
  });
};

const recordWritten = (ctx: Context, id: string, written: ManifestSnapshot): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    if (await lockPromotion(tx, id)) await updatePromotion(tx, id, { written });
  });

/** Stores the pull request that `pushAndOpen` opened. If the promotion was cancelled meanwhile, a job closes the pull request. */
export async function recordPullRequest(
  ctx: MutationContext,
  id: string,
  pullRequestId: string,
): Promise<{ changed: boolean }> {
  const promotion = await lockPromotion(ctx.db, id);
  const pull = await findPullRequest(ctx.db, pullRequestId);
  if (!promotion || promotion.pullRequestId === pullRequestId) {
    if (promotion?.lastError) await updatePromotion(ctx.db, id, { lastError: null });
    ctx.unchanged();
    return { changed: false };
  }
  const { pipelineName, targetName, targetEnvironmentId: environmentId, requestedBy } = promotion;
  await updatePromotion(ctx.db, id, { pullRequestId, lastError: null });
  ctx.audit({
    entityType: 'Promotion',
    entityId: id,
    environmentId,
    metadata: { pipeline: pipelineName, name: targetName, requestedBy, pullRequest: pull?.number ?? null },
  });
  await notifyUi(ctx, promotion);
  if (promotion.status === 'AWAITING_PR_MERGE') await wakeLoops(ctx, promotion);
  else await ctx.services.jobs.add(ctx.db, CLOSE_PULL_REQUEST_JOB, { requestId: id, environmentId });
  return { changed: true };
}

/**
 * Opens the pull request of a recorded request while its caller waits. A promotion whose branch was pushed keeps waiting, and
 * the loop tries again; any other is restored to what it was before the request.
 * @throws what the gateway throws
 */
export async function openForCaller(
  ctx: Context,
  write: WriteWithAudit,
  binding: Binding,
  request: RecordedRequest & { snapshot: ManifestSnapshot },
): Promise<void> {
  const { id, base } = request;
  let pullRequestId: string;
  try {
    pullRequestId = await pushAndOpen(ctx, binding, id, base);
  } catch (error) {
    await write('promotion.failed', (inside) => restore(inside, request, error));
    throw error;
  }
  await write('promotion.opened', (inside) => recordPullRequest(inside, id, pullRequestId));
}

async function restore(
  ctx: MutationContext,
  { id, before, snapshot: requested }: RecordedRequest & { snapshot: ManifestSnapshot },
  error: unknown,
): Promise<void> {
  const now = await lockPromotion(ctx.db, id);
  // Another request has replaced this one.
  if (!now || !isDeepStrictEqual(now.snapshot, JSON.parse(JSON.stringify(requested)))) return ctx.unchanged();
  const { pipelineName, targetName, targetEnvironmentId: environmentId } = now;
  ctx.audit({
    entityType: 'Promotion',
    entityId: id,
    environmentId,
    metadata: { pipeline: pipelineName, name: targetName },
  });
  if (now.written && isDeepStrictEqual(now.written, now.snapshot)) {
    const why = error instanceof DomainError ? error.message : 'The pull request could not be opened';
    await recordError(
      ctx.db,
      id,
      `${why.slice(0, MAX_ERROR_CHARACTERS).replace(/; try again$/, '')}; it is retried`,
    );
  } else if (before) {
    const { snapshot, status, sourceVersion, branch, written, pullRequestId } = before;
    const { requestedBy, requestedById } = before;
    await updatePromotion(ctx.db, id, {
      ...{ snapshot, status, sourceVersion, branch, written, pullRequestId },
      ...{ requestedBy, requestedById },
    });
  } else await deleteUnwritten(ctx.db, id);
  await notifyUi(ctx, now);
}
