/**
 * Applies a recommendation. Where git describes the pipeline it becomes a pull request, whatever the policy says about edits by
 * hand: nothing changes before somebody merges it. Otherwise it becomes a version that is not deployed, or the pipeline is
 * undeployed.
 */

import { Input, Text } from '../../../schemas/api/common.ts';
import {
  AppliedRecommendation,
  RecommendationId,
} from '../../../schemas/api/insight/cost-recommendations.ts';
import { environmentScope } from '../../identity/access/index.ts';
import { lockHandmadePipeline, saveVersion, undeployPipeline } from '../../pipelines/index.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { conflict, messageOf, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { type Execute, mutation } from '../../platform/operation/operation.ts';
import { changeManifest, insertIntoGraph } from './change.ts';
import { pullRequestTexts, renderTitle } from './explanation.ts';
import { assertPending, lockPending, resolve } from './operations.ts';
import { explained } from './presenter.ts';
import { findRecommendation, linkPullRequest, listMerged, type RecommendationRecord } from './store.ts';

const OPERATION = 'costRecommendation.apply';
/** Recommendations that are looked at at a time. */
const MERGED_AT_A_TIME = 100;

export const apply = mutation({
  name: OPERATION,
  summary:
    'Apply a recommendation: as a pull request where git describes the pipeline, else as a new version',
  role: 'EDITOR',
  audit: 'costRecommendation.applied',
  input: RecommendationId,
  output: AppliedRecommendation,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async prepare(ctx, { environmentId, id }) {
    const record = await findRecommendation(ctx.db, environmentId, id);
    if (!record) throw notFound('Recommendation');
    assertPending(record);
    return record.managedBy === 'git' ? propose(ctx, record) : null;
  },
  async run(ctx, input, written) {
    if (written) {
      const { proposed, fields, pullRequestId } = written;
      await linkPullRequest(ctx.db, input.id, pullRequestId);
      ctx.audit({
        action: 'costRecommendation.proposed',
        entityType: 'CostRecommendation',
        entityId: input.id,
        environmentId: input.environmentId,
        metadata: { number: proposed.number, branch: proposed.branch, fields },
      });
      await ctx.services.bus.publish(ctx.db, {
        ...{ type: 'ui', environmentId: input.environmentId, topics: ['costs'] },
      });
      return { proposed };
    }
    const record = await lockPending(ctx, input);
    if (record.managedBy === 'git')
      throw conflict('git took over the pipeline meanwhile; apply the recommendation again');
    return applyHere(ctx, record);
  },
});

const noChange = (record: RecommendationRecord) =>
  preconditionFailed(
    `"${renderTitle(explained(record))}" has no change that Headgate can make; change the pipeline by hand and mark the recommendation as applied`,
  );

async function propose(ctx: Context, record: RecommendationRecord) {
  const { change, pullRequest, environmentId, pipelineId, pipelineName } = record;
  if (!change) throw noChange(record);
  if (pullRequest?.state === 'open')
    throw conflict(
      `Pull request #${pullRequest.number} has this change already; review it, or close it before you apply the recommendation again`,
    );
  const { git } = ctx.services;
  const before = await git.manifestOf(ctx.db, 'Pipeline', pipelineId);
  if (!before) throw notFound('Pipeline');
  const after = changeManifest(before, change);
  const texts = pullRequestTexts(explained(record), pipelineName);
  return git.propose(ctx, environmentId, {
    ...{ objectId: pipelineId, operation: OPERATION, before, after, texts },
  });
}

async function applyHere(ctx: MutationContext, record: RecommendationRecord) {
  const { change, pipelineId } = record;
  if (!change) throw noChange(record);
  const pipeline = await lockHandmadePipeline(ctx, pipelineId);
  if (change.action === 'undeploy') {
    await undeployPipeline(ctx, pipeline, 'pipeline.undeployed');
    const recommendation = await resolve(ctx, record, { status: 'APPLIED' });
    return { recommendation, applied: { action: 'undeployed' as const } };
  }
  const graph = { ...insertIntoGraph(pipeline, change), globalConfig: pipeline.globalConfig };
  const version = await saveVersion(ctx, pipeline, graph, {
    changelog: `Recommendation: ${renderTitle(explained(record))}`,
    action: 'pipeline.versionCreated',
  });
  const recommendation = await resolve(ctx, record, { status: 'APPLIED', appliedVersion: version.number });
  return {
    recommendation,
    applied: {
      ...{ action: 'versionCreated' as const, versionId: version.id, versionNumber: version.number },
      deployed: false as const,
    },
  };
}

/** What the leader records: the pull request was merged. */
const recordMerged = mutation({
  name: 'costRecommendation.recordMerged',
  summary: 'Record that the pull request of a recommendation was merged',
  role: 'EDITOR',
  audit: 'costRecommendation.applied',
  input: Input({ ...RecommendationId.properties, by: Text(200) }),
  output: RecommendationId,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { by, ...input }) {
    await resolve(ctx, await lockPending(ctx, input), { status: 'APPLIED', by });
    return input;
  },
});

/** Runs on the leader. */
export async function recordMergedRecommendations(ctx: Context, execute: Execute): Promise<number> {
  const merged = await listMerged(ctx.db, MERGED_AT_A_TIME);
  for (const { mergedBy, ...recommendation } of merged) {
    try {
      await execute(recordMerged, ctx, { ...recommendation, by: mergedBy ?? 'Headgate' });
    } catch (error) {
      // Somebody has decided about it meanwhile.
      ctx.log.info(
        { ...recommendation, reason: messageOf(error) },
        'the merge of a recommendation was not recorded',
      );
    }
  }
  return merged.length;
}
