/** Pushes the branch of a promotion and opens its pull request, in the repository of the target. */
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
import { type Draft, draftManifest } from './manifest-draft.ts';
import { renderBody, renderTitle } from './pull-request-body.ts';

const OPERATION = 'promotion.initiate';

/** Idempotent: it continues an existing branch, and keeps the changes of reviewers and of the target. */
export async function pushPromotion(
  ctx: Context,
  cache: SourceCache,
  binding: Binding,
  promotion: PromotionRecord,
  base: ManifestSnapshot | null,
): Promise<PushedPromotion> {
  const { snapshot, branch, targetName, written } = promotion;
  if (snapshot.form !== 'manifest' || branch === null)
    throw preconditionFailed(
      'The promotion was requested before git described the target; cancel it and promote again',
    );
  return inRepository(ctx, cache, binding, async (repository) => {
    const open = await findOpenPullRequest(ctx, promotion);
    const refreshedSha = open && (await refreshConflicting(ctx, binding, open));
    const target = await baseOf(repository);
    const baseDraft = await draftManifest(repository, await repository.tip(target), {
      targetName,
      snapshot,
      base,
    });
    const sourceName = await sourceNameOf(ctx, promotion);
    const title = renderTitle({ promotion, sourceName, targetName: binding.environmentName });
    let branchDraft: Draft = baseDraft;
    const commit = await repository.commit({
      branch,
      from: target,
      async draft(tip) {
        branchDraft =
          tip === target || tip === null
            ? baseDraft
            : await draftManifest(repository, await repository.tip(tip), {
                targetName,
                snapshot,
                base: written ?? base,
              });
        if (branchDraft.after === branchDraft.before) return null;
        return {
          files: new Map([[branchDraft.path, branchDraft.after]]),
          author: authorOf(ctx.actor, hostOf(ctx)),
          message: messageOf(title, OPERATION),
        };
      },
    });
    const headSha = commit?.sha ?? (await findBranchTip(repository, branch));
    if (headSha === null)
      throw preconditionFailed(
        `"${targetName}" in ${binding.environmentName} is already up to date (${baseDraft.path}); there is nothing to promote`,
      );
    const { pipelineId, sourceEnvironmentId } = promotion;
    const health =
      pipelineId && sourceEnvironmentId
        ? (await sourceHealth(ctx, sourceEnvironmentId, pipelineId)).summary
        : { state: 'not-running' as const, message: 'The pipeline is deleted there' };
    const missingSecrets =
      branchDraft.engine.after === null
        ? []
        : await missingVariables(ctx, binding.environmentId, branchDraft.engine.after);
    const conflicts = [...new Set([...branchDraft.conflicts, ...(open ? [] : baseDraft.conflicts)])];
    const body = renderBody({
      ...{ promotion, sourceName, targetName: binding.environmentName, health, missingSecrets },
      draft: { ...baseDraft, conflicts, notes: branchDraft.notes },
      url: `${ctx.services.baseUrl}/e/${encodeURIComponent(binding.environmentId)}/promotions`,
    });
    return { headSha, pushedSha: commit?.sha ?? refreshedSha, title, body };
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
    // The original base, so that a later change of the base is noticed.
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

async function findOpenPullRequest(
  ctx: Context,
  { pullRequestId }: PromotionRecord,
): Promise<PullRequestRecord | null> {
  const pull = pullRequestId === null ? null : await findPullRequest(ctx.db, pullRequestId);
  return pull?.state === 'open' ? pull : null;
}

/** Merges the base into a conflicting branch; a branch that merges cleanly stays unchanged. Returns the new commit. */
async function refreshConflicting(
  ctx: Context,
  binding: Binding,
  pull: PullRequestRecord,
): Promise<string | null> {
  const { pullRequests } = ctx.services;
  const mergeState = await pullRequests.readMergeState(ctx, binding, pull);
  if (mergeState?.mergeable !== 'conflict') return null;
  return (await pullRequests.refresh(ctx, binding, pull)).headSha;
}

/** Null where the branch does not exist, or equals the target's branch because nothing was pushed. */
async function findBranchTip(repository: RepositoryLocation, branch: string): Promise<string | null> {
  const tip = await resolveRef(repository.repository, `refs/heads/${branch}`);
  const target = await resolveRef(repository.repository, `refs/heads/${repository.binding.ref}`);
  return tip === target ? null : tip;
}
