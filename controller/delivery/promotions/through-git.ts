/** Into an environment that git describes: the promotion's branch and its pull request. */

import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../../platform/operation/context.ts';
import { conflict, DomainError } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import type { Binding } from '../bindings/index.ts';
import { findPullRequest } from '../pull-requests/index.ts';
import { createKeyedMutex } from '../repository/index.ts';
import type { ManifestSnapshot } from './snapshot/snapshot.ts';
import {
  findPromotion,
  findWaiting,
  forgetPromotion,
  insertPromotion,
  lastPromoted,
  lockPromotion,
  type NewPromotion,
  type PromotionChange,
  type PromotionRecord,
  recordError,
  updatePromotion,
} from './store.ts';

const SLUG = 50;

/** Safe as a part of a ref: names of pipelines hold letters, digits, blanks, `_` and `-`. */
export const branchFor = (name: string): string =>
  `headgate/promote/${name.replaceAll(/[^a-zA-Z0-9_]+/g, '-').slice(0, SLUG)}-${newId().slice(-8).toLowerCase()}`;

/**
 * The row comes first, so that whatever is pushed afterwards is known; then the branch, then the pull request. One that waits
 * already is gone on with. Where git refuses, it is as if nobody had asked.
 * @throws what the gateway throws
 */
export async function requestThroughGit(
  ctx: Context,
  binding: Binding,
  asked: NewPromotion & { snapshot: ManifestSnapshot },
): Promise<{ id: string; updated: boolean }> {
  const { id, before, base } = await ctx.db.transaction((tx) => noteAsked({ ...ctx, db: tx }, asked));
  try {
    await bringToGit(ctx, binding, id, base);
  } catch (error) {
    await takeBack(ctx, { id, before, snapshot: asked.snapshot }, error);
    throw error;
  }
  return { id, updated: before !== null };
}

/** What was pushed stays, and is gone on with; of anything else it is as if nobody had asked. */
async function takeBack(
  ctx: Context,
  asked: { id: string; before: PromotionRecord | null; snapshot: ManifestSnapshot },
  error: unknown,
): Promise<void> {
  const { id, before } = asked;
  const now = await findPromotion(ctx.db, id);
  // Somebody has asked for something else by now.
  if (!now || !isDeepStrictEqual(now.snapshot, JSON.parse(JSON.stringify(asked.snapshot)))) return;
  if (now.written && isDeepStrictEqual(now.written, now.snapshot)) {
    const why = error instanceof DomainError ? error.message : 'The pull request could not be opened';
    await recordError(
      ctx.db,
      id,
      `${why.slice(0, MOST_CHARACTERS).replace(/; try again$/, '')}; it is tried again`,
    );
  } else if (before) {
    const { snapshot, status, sourceVersion, branch, written, pullRequestId } = before;
    const { requestedBy, requestedById } = before;
    await updatePromotion(ctx.db, id, {
      ...{ snapshot, status, sourceVersion, branch, written, pullRequestId },
      ...{ requestedBy, requestedById },
    });
  } else await forgetPromotion(ctx.db, id);
}

const MOST_CHARACTERS = 2_000;

interface Noted {
  id: string;
  before: PromotionRecord | null;
  /** What the target's branch has of the source already. */
  base: ManifestSnapshot | null;
}

async function noteAsked(ctx: Context, asked: NewPromotion & { snapshot: ManifestSnapshot }): Promise<Noted> {
  const base = await lastPromoted(ctx.db, asked);
  const made = await insertPromotion(ctx.db, { ...asked, branch: branchFor(asked.targetName) });
  if (made !== null) return { id: made, before: null, base };
  const known = await findWaiting(ctx.db, asked);
  const before = known && (await lockPromotion(ctx.db, known.id));
  if (!before) throw conflict('Others decide on the same promotion at this moment; try again');
  const pull = before.pullRequestId === null ? null : await findPullRequest(ctx.db, before.pullRequestId);
  // What was merged, and is not rolled out yet, is gone on from on another branch.
  const isOver = pull !== null && pull.state !== 'open';
  const { snapshot, status, sourceVersion, requestedBy, requestedById } = asked;
  await updatePromotion(ctx.db, before.id, {
    ...{ snapshot, status, sourceVersion, requestedBy, requestedById, lastError: null },
    ...(isOver || before.branch === null
      ? { branch: branchFor(asked.targetName), written: null, pullRequestId: null }
      : {}),
  });
  return { id: before.id, before, base: pull?.state === 'merged' ? (before.written ?? base) : base };
}

/** Two who ask for the same at once write to one branch, and open one pull request. */
const turns = createKeyedMutex();

/**
 * Makes branch and pull request say what the promotion says. May be repeated.
 * @throws what the gateway throws
 */
export const bringToGit = (
  ctx: Context,
  binding: Binding,
  id: string,
  base: ManifestSnapshot | null,
): Promise<void> =>
  turns.take(id, async () => {
    const promotion = await findPromotion(ctx.db, id);
    if (!promotion) throw conflict('The promotion was taken back meanwhile; ask for it again');
    await pushAndOpen(ctx, binding, promotion, base);
  });

async function pushAndOpen(
  ctx: Context,
  binding: Binding,
  promotion: PromotionRecord,
  base: ManifestSnapshot | null,
): Promise<void> {
  const { promotions } = ctx.services;
  const { snapshot } = promotion;
  const pushed = await promotions.push(ctx, binding, promotion, base);
  await noteDone(ctx, promotion.id, snapshot.form === 'manifest' ? { written: snapshot } : {});
  const { pullRequestId } = await promotions.open(ctx, binding, promotion, pushed);
  if (await noteDone(ctx, promotion.id, { pullRequestId, lastError: null })) return;
  // Somebody cancelled it while the pull request was being opened.
  const pull = await findPullRequest(ctx.db, pullRequestId);
  if (pull?.state === 'open') await ctx.services.pullRequests.close(ctx, binding, pull);
}

/** Whether anybody waits for it still. */
const noteDone = (ctx: Context, id: string, done: Partial<PromotionChange>): Promise<boolean> =>
  ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    const now = await lockPromotion(tx, id);
    if (now) await updatePromotion(tx, id, done);
    return now?.status === 'AWAITING_PR_MERGE';
  });
