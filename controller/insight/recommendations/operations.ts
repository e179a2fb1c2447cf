/** Reads recommendations, and records what users decide about them. */
import {
  AnalysisResult,
  CostRecommendation,
  CostRecommendationDetail,
  ListRecommendations,
  OfEnvironment,
  RECOMMENDATION_TYPES,
  RecommendationId,
  RecommendationList,
  RecommendationSummary,
} from '../../../schemas/api/insight/cost-recommendations.ts';
import { environmentScope } from '../../identity/access/index.ts';
import { nameOfActor } from '../../platform/operation/actor-name.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { conflict, DomainError, notFound } from '../../platform/operation/errors.ts';
import { mutation, query } from '../../platform/operation/operation.ts';
import { costOf } from '../analytics/index.ts';
import { findInEnvironment } from './analyze.ts';
import { changeManifest, renderDiff } from './change.ts';
import { presentRecommendation } from './presenter.ts';
import {
  findRecommendation,
  listRecommendations,
  lockRecommendation,
  type RecommendationRecord,
  replacePending,
  resolveRecommendation,
  summarize,
} from './store.ts';

const ofEnvironment = (ctx: Context, input: { environmentId: string }) =>
  environmentScope(ctx, input.environmentId);
const DEFAULT_LIMIT = 50;

async function getRecommendation(
  ctx: Pick<Context, 'db'>,
  { environmentId, id }: RecommendationId,
): Promise<RecommendationRecord> {
  const record = await findRecommendation(ctx.db, environmentId, id);
  if (!record) throw notFound('Recommendation');
  return record;
}

export const list = query({
  name: 'costRecommendation.list',
  summary: 'What would lower the costs of an environment',
  role: 'VIEWER',
  input: ListRecommendations,
  output: RecommendationList,
  scope: ofEnvironment,
  async run(ctx, { environmentId, limit = DEFAULT_LIMIT, ...filter }) {
    const { total, recommendations } = await listRecommendations(ctx.db, environmentId, { ...filter, limit });
    return { total, recommendations: recommendations.map((one) => presentRecommendation(ctx, one)) };
  },
});

export const getById = query({
  name: 'costRecommendation.getById',
  summary: 'One recommendation, with its change as a diff of the manifest',
  role: 'VIEWER',
  input: RecommendationId,
  output: CostRecommendationDetail,
  scope: ofEnvironment,
  async run(ctx, input) {
    const record = await getRecommendation(ctx, input);
    return { ...presentRecommendation(ctx, record), diff: await diffOf(ctx, record) };
  },
});

/** Null for what is resolved, and for a change that no longer fits. */
async function diffOf(ctx: Context, record: RecommendationRecord): Promise<string | null> {
  const { change, status, pipelineId } = record;
  if (!change || status !== 'PENDING') return null;
  const manifest = await ctx.services.git.manifestOf(ctx.db, 'Pipeline', pipelineId);
  if (!manifest) return null;
  try {
    return renderDiff(manifest, changeManifest(manifest, change));
  } catch (error) {
    if (error instanceof DomainError) return null;
    throw error;
  }
}

export const summary = query({
  name: 'costRecommendation.summary',
  summary: 'How many recommendations an environment has, and what they would save together',
  role: 'VIEWER',
  input: OfEnvironment,
  output: RecommendationSummary,
  scope: ofEnvironment,
  async run(ctx, { environmentId }) {
    const { countOf, ...totals } = await summarize(ctx.db, environmentId);
    const counts = (type?: (typeof RECOMMENDATION_TYPES)[number]) => ({
      pending: countOf('PENDING', type),
      dismissed: countOf('DISMISSED', type),
      applied: countOf('APPLIED', type),
    });
    return {
      ...counts(),
      byType: RECOMMENDATION_TYPES.map((type) => ({ type, ...counts(type) })),
      ...totals,
      savedCostPerMonth: costOf(totals.savedBytesPerMonth, totals.pricePerGb),
    };
  },
});

/** @throws NOT_FOUND; CONFLICT where somebody has decided about it before */
export async function lockPending(
  ctx: MutationContext,
  { environmentId, id }: RecommendationId,
): Promise<RecommendationRecord> {
  const record = await lockRecommendation(ctx.db, environmentId, id);
  if (!record) throw notFound('Recommendation');
  assertPending(record);
  return record;
}

/** @throws CONFLICT */
export function assertPending({ status, resolvedBy }: RecommendationRecord): void {
  if (status === 'PENDING') return;
  const decision = status === 'APPLIED' ? 'applied' : 'dismissed';
  throw conflict(
    `The recommendation was ${decision} before${resolvedBy ? ` by ${resolvedBy}` : ''}; load the list again`,
  );
}

interface Decision {
  status: 'DISMISSED' | 'APPLIED';
  appliedVersion?: number;
  /** The actor unless another is named. */
  by?: string;
}

/** Records a decision about a pending recommendation, with its audit row. */
export async function resolve(
  ctx: MutationContext,
  record: RecommendationRecord,
  { by = nameOfActor(ctx.actor), ...decision }: Decision,
): Promise<CostRecommendation> {
  const { id, environmentId, pipelineId, pipelineName, type } = record;
  await resolveRecommendation(ctx.db, id, { ...decision, at: new Date(ctx.clock.now()), by });
  ctx.audit({
    entityType: 'CostRecommendation',
    entityId: id,
    environmentId,
    metadata: { type, pipelineId, pipelineName, version: decision.appliedVersion },
  });
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['costs'] });
  return presentRecommendation(ctx, await getRecommendation(ctx, record));
}

/** What is decided without a change of the pipeline. */
const decisionOperation = <N extends string>(
  status: Decision['status'],
  { name, summary, audit }: { name: N; summary: string; audit: string },
) =>
  mutation({
    ...{ name, summary, audit, role: 'EDITOR', input: RecommendationId, output: CostRecommendation },
    scope: ofEnvironment,
    run: async (ctx, input) => resolve(ctx, await lockPending(ctx, input), { status }),
  });

export const dismiss = decisionOperation('DISMISSED', {
  name: 'costRecommendation.dismiss',
  summary: 'Dismiss a recommendation: it is not made again for 30 days',
  audit: 'costRecommendation.dismissed',
});

export const markApplied = decisionOperation('APPLIED', {
  name: 'costRecommendation.markApplied',
  summary: 'Record that a recommendation was applied by other means: it is not made again for 30 days',
  audit: 'costRecommendation.applied',
});

export const triggerAnalysis = mutation({
  name: 'costRecommendation.triggerAnalysis',
  summary: 'Analyze the pipelines of an environment now',
  role: 'ADMIN',
  audit: 'costRecommendation.analyzed',
  input: OfEnvironment,
  output: AnalysisResult,
  scope: ofEnvironment,
  prepare: (ctx, { environmentId }) => findInEnvironment(ctx.db, environmentId, ctx.clock.now()),
  async run(ctx, { environmentId }, { pipelines, found }) {
    const changes = await replacePending(ctx.db, environmentId, found, new Date(ctx.clock.now()));
    const result = { pipelines, ...changes };
    ctx.audit({ entityType: 'Environment', entityId: environmentId, environmentId, metadata: result });
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['costs'] });
    return result;
  },
});
