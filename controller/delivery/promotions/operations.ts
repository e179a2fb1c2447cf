/** The queries on promotions. */
import {
  ListPromotions,
  PreviewPromotion,
  Promotion,
  PromotionContent,
  PromotionDiffs,
  PromotionHistory,
  PromotionList,
  PromotionPreflight,
  PromotionRequest,
  PromotionTarget,
} from '../../../schemas/api/delivery/promotions.ts';
import { environmentScope, objectScope } from '../../identity/access/index.ts';
import { query } from '../../platform/operation/operation.ts';
import { allows } from '../../platform/operation/permissions.ts';
import { assertPending, getPromotion } from './decision-rules.ts';
import { previewDiffs, waitingDiff } from './diff.ts';
import { preflight as readPreflight } from './preflight.ts';
import { listEnvironmentPromotions, listPipelinePromotions } from './promotion-queries.ts';
import { presentPromotion, presentPromotionById, readerScope, requestScope } from './promotion-view.ts';
import { resolveScopes } from './resolve-source.ts';
import { snapshotDigest } from './snapshot/snapshot.ts';

const HISTORY_LIMIT = 20;

export const preflight = query({
  name: 'promotion.preflight',
  summary:
    'What a promotion would become, and what stands in its way: secrets that are missing, names that are taken',
  role: 'VIEWER',
  input: PromotionTarget,
  output: PromotionPreflight,
  scope: async (ctx, input) => (await resolveScopes(ctx, input)).source,
  run: readPreflight,
});

export const diffPreview = query({
  name: 'promotion.diffPreview',
  summary: 'What a promotion would change in its target: manifest, engine config, fields and conflicts',
  role: 'VIEWER',
  input: PreviewPromotion,
  output: PromotionDiffs,
  weight: 'heavy',
  async scope(ctx, { pipelineId, targetEnvironmentId }) {
    if (targetEnvironmentId === undefined) return objectScope(ctx, 'Pipeline', pipelineId);
    return (await resolveScopes(ctx, { pipelineId, targetEnvironmentId })).source;
  },
  async run(ctx, input) {
    const source = await objectScope(ctx, 'Pipeline', input.pipelineId);
    const isEditor = (scope: typeof source) => allows(ctx.actor, scope, { role: 'EDITOR' });
    return previewDiffs(
      ctx,
      input,
      ({ id, teamId }) => isEditor(source) && isEditor({ teamId, environmentId: id }),
    );
  },
});

export const history = query({
  name: 'promotion.history',
  summary: 'The last 20 promotions of a pipeline, or that made it, newest first',
  role: 'VIEWER',
  input: PromotionHistory,
  output: PromotionList,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  run: async (ctx, { pipelineId }) =>
    (await listPipelinePromotions(ctx.db, pipelineId, HISTORY_LIMIT)).map((row) =>
      presentPromotion(ctx, row),
    ),
});

export const list = query({
  name: 'promotion.list',
  summary: 'Promotions into an environment and out of it, newest first',
  role: 'VIEWER',
  input: ListPromotions,
  output: PromotionList,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  run: async (ctx, { environmentId, status, limit = 50 }) =>
    (await listEnvironmentPromotions(ctx.db, environmentId, { status, limit })).map((row) =>
      presentPromotion(ctx, row),
    ),
});

export const get = query({
  name: 'promotion.get',
  summary: 'One promotion: where it stands, and why',
  role: 'VIEWER',
  input: PromotionRequest,
  output: Promotion,
  scope: (ctx, input) => readerScope(ctx, input.requestId),
  run: (ctx, { requestId }) => presentPromotionById(ctx, requestId),
});

export const content = query({
  name: 'promotion.content',
  summary: 'What waits for an approval: what it would change in its target now, and the digest that names it',
  role: 'VIEWER',
  input: PromotionRequest,
  output: PromotionContent,
  weight: 'heavy',
  scope: (ctx, input) => requestScope(ctx, input.requestId),
  async run(ctx, { requestId }) {
    const promotion = await getPromotion(ctx, requestId);
    assertPending(promotion, false);
    const scope = await requestScope(ctx, requestId);
    const change = await waitingDiff(ctx, promotion, allows(ctx.actor, scope, { role: 'EDITOR' }));
    return { requestId, digest: snapshotDigest(promotion.snapshot), change };
  },
});
