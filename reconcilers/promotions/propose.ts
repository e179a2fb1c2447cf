/** A promotion as a branch with a pull request, in the repository of its target. */
import type { Binding } from '../../controller/delivery/bindings/index.ts';
import {
  type ManifestSnapshot,
  type PromotionRecord,
  type PushedPromotion,
  sourceHealth,
  sourceNameOf,
} from '../../controller/delivery/promotions/index.ts';
import { findPullRequest, type PullRequestRecord } from '../../controller/delivery/pull-requests/index.ts';
import { missingVariables } from '../../controller/pipelines/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import { preconditionFailed } from '../../controller/platform/operation/errors.ts';
import { resolveRef, type SourceCache } from '../source/index.ts';
import { authorOf, messageOf } from '../write-back/commit/commit-message.ts';
import { hostOf, inRepository, type RepositoryLocation, wake } from '../write-back/commit/workspace.ts';
import { baseOf } from '../write-back/propose/propose.ts';
import { type Draft, draftOn } from './draft.ts';
import { bodyFor, titleFor } from './pull-request-body.ts';

const OPERATION = 'promotion.initiate';

/**
 * Goes on with whatever of it is done already: the branch, a commit on it. What reviewers have changed on the branch stays, as
 * what the target has changed does.
 */
export async function pushPromotion(
  ctx: Context,
  cache: SourceCache,
  binding: Binding,
  promotion: PromotionRecord,
  base: ManifestSnapshot | null,
): Promise<PushedPromotion> {
  const { snapshot, branch, targetName, written } = promotion;
  if (snapshot.form !== 'manifest' || branch === null)
    throw preconditionFailed('The promotion was asked for without git; cancel it and ask for it again');
  return inRepository(ctx, cache, binding, async (place) => {
    const open = await openPull(ctx, promotion);
    const refreshed = open && (await bringUpToDate(ctx, binding, open));
    const target = await baseOf(place);
    const fresh = await draftOn(place, await place.tip(target), { targetName, snapshot, base });
    const sourceName = await sourceNameOf(ctx, promotion);
    const title = titleFor({ promotion, sourceName, targetName: binding.environmentName });
    let seen: Draft = fresh;
    const made = await place.commit({
      branch,
      from: target,
      async draft(tip) {
        seen =
          tip === target || tip === null
            ? fresh
            : await draftOn(place, await place.tip(tip), { targetName, snapshot, base: written ?? base });
        if (seen.after === seen.before) return null;
        return {
          files: new Map([[seen.path, seen.after]]),
          author: authorOf(ctx.actor, hostOf(ctx)),
          message: messageOf(title, OPERATION),
        };
      },
    });
    const headSha = made?.sha ?? (await branchTip(place, branch));
    if (headSha === null)
      throw preconditionFailed(
        `"${targetName}" in ${binding.environmentName} says all of this already (${fresh.path}); there is nothing to promote`,
      );
    const { pipelineId, sourceEnvironmentId } = promotion;
    const health =
      pipelineId && sourceEnvironmentId
        ? (await sourceHealth(ctx, sourceEnvironmentId, pipelineId)).told
        : { state: 'not-running' as const, message: 'It is deleted there' };
    const missingSecrets =
      seen.engine.after === null ? [] : await missingVariables(ctx, binding.environmentId, seen.engine.after);
    const conflicts = [...new Set([...seen.conflicts, ...(open ? [] : fresh.conflicts)])];
    const body = bodyFor({
      ...{ promotion, sourceName, targetName: binding.environmentName, health, missingSecrets },
      draft: { ...fresh, conflicts, notes: seen.notes },
      url: `${ctx.services.baseUrl}/e/${encodeURIComponent(binding.environmentId)}/promotions`,
    });
    return { headSha, pushedSha: made?.sha ?? refreshed, title, body };
  });
}

export async function openPromotion(
  ctx: Context,
  binding: Binding,
  { id, branch, targetName, requestedBy, requestedById }: PromotionRecord,
  { title, body, headSha, pushedSha }: PushedPromotion,
): Promise<{ pullRequestId: string }> {
  const pull = await ctx.services.pullRequests.open(ctx, binding, {
    ...{ title, body, branch: branch ?? '', base: binding.ref, headSha },
    ...(pushedSha === null ? {} : { pushedSha }),
    // What it was opened against: by this it is seen that somebody let it go elsewhere.
    subject: {
      promotionId: id,
      kind: 'Pipeline',
      name: targetName,
      environmentId: binding.environmentId,
      base: binding.ref,
    },
    author: requestedBy,
    authorId: requestedById,
  });
  await wake(ctx, binding);
  return { pullRequestId: pull.id };
}

async function openPull(ctx: Context, { pullRequestId }: PromotionRecord): Promise<PullRequestRecord | null> {
  const pull = pullRequestId === null ? null : await findPullRequest(ctx.db, pullRequestId);
  return pull?.state === 'open' ? pull : null;
}

/** Only where the two do not go together any more: a branch that merges cleanly is left as it is. Answers the new commit. */
async function bringUpToDate(
  ctx: Context,
  binding: Binding,
  pull: PullRequestRecord,
): Promise<string | null> {
  const { pullRequests } = ctx.services;
  const standing = await pullRequests.look(ctx, binding, pull);
  if (standing?.mergeable !== 'conflict') return null;
  return (await pullRequests.refresh(ctx, binding, pull)).headSha;
}

/** Null where it is not there, or stands where the target stands: nothing was ever written to it. */
async function branchTip(place: RepositoryLocation, branch: string): Promise<string | null> {
  const tip = await resolveRef(place.repository, `refs/heads/${branch}`);
  const target = await resolveRef(place.repository, `refs/heads/${place.binding.ref}`);
  return tip === target ? null : tip;
}
