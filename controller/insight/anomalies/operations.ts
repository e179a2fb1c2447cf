import {
  AnomaliesOf,
  Anomaly,
  AnomalyCounts,
  AnomalyId,
  AnomalyPage,
  AnomalySeverities,
  type AnomalyStatus,
  ListAnomalies,
} from '../../../schemas/api/insight/anomalies.ts';
import { environmentScope } from '../../identity/access/index.ts';
import { nameOfActor } from '../../platform/operation/actor-name.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import { notFound } from '../../platform/operation/errors.ts';
import { mutation, query } from '../../platform/operation/operation.ts';
import { countOpen, findAnomaly, listAnomalies } from './anomalies-queries.ts';
import { lockAnomaly, saveDecision } from './anomalies-store.ts';

const PAGE = 50;

export const list = query({
  name: 'anomaly.list',
  summary: 'What metrics of an environment did that was unusual, the newest first',
  role: 'VIEWER',
  input: ListAnomalies,
  output: AnomalyPage,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    const { limit = PAGE } = input;
    const found = await listAnomalies(ctx.db, input, limit + 1);
    const anomalies = found.slice(0, limit);
    return { anomalies, nextCursor: found.length > limit ? (anomalies.at(-1)?.id ?? null) : null };
  },
});

export const countByPipeline = query({
  name: 'anomaly.countByPipeline',
  summary: 'How many open anomalies each pipeline has',
  role: 'VIEWER',
  input: AnomaliesOf,
  output: AnomalyCounts,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId }) {
    const open = await countOpen(ctx.db, environmentId);
    return Object.fromEntries(open.map(({ pipelineId, count }) => [pipelineId, count]));
  },
});

export const maxSeverityByPipeline = query({
  name: 'anomaly.maxSeverityByPipeline',
  summary: 'The worst severity of the open anomalies of each pipeline',
  role: 'VIEWER',
  input: AnomaliesOf,
  output: AnomalySeverities,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId }) {
    const open = await countOpen(ctx.db, environmentId);
    return Object.fromEntries(open.map(({ pipelineId, severity }) => [pipelineId, severity]));
  },
});

async function decide(
  ctx: MutationContext,
  { environmentId, anomalyId }: { environmentId: string; anomalyId: string },
  status: AnomalyStatus,
): Promise<Anomaly> {
  const before = await lockAnomaly(ctx.db, environmentId, anomalyId);
  if (!before) throw notFound('Anomaly');
  // Who decided first stays; a second click is no decision of its own.
  if (before.status === status) ctx.unchanged();
  else
    await saveDecision(ctx.db, anomalyId, {
      ...{ status, by: nameOfActor(ctx.actor), at: new Date(ctx.clock.now()) },
    });
  const after = await findAnomaly(ctx.db, environmentId, anomalyId);
  if (!after) throw notFound('Anomaly');
  if (before.status === status) return after;
  const { pipelineId, pipelineName, metric, direction } = after;
  ctx.audit({
    ...{ entityType: 'Anomaly', entityId: anomalyId, diff: { status: [before.status, status] } },
    metadata: { pipelineId, name: pipelineName, metric, direction },
  });
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['anomalies'] });
  return after;
}

export const acknowledge = mutation({
  name: 'anomaly.acknowledge',
  summary: 'Say that somebody looks after an anomaly; it no longer counts as open',
  role: 'EDITOR',
  audit: 'anomaly.acknowledged',
  input: AnomalyId,
  output: Anomaly,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  run: (ctx, input) => decide(ctx, input, 'acknowledged'),
});

export const dismiss = mutation({
  name: 'anomaly.dismiss',
  summary:
    'Say that an anomaly is no problem; the same deviation is not reported within the window of the settings',
  role: 'EDITOR',
  audit: 'anomaly.dismissed',
  input: AnomalyId,
  output: Anomaly,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  run: (ctx, input) => decide(ctx, input, 'dismissed'),
});
