/** A stored recommendation as readers see it: with its texts, and in money where the environment has a price. */
import type { CostRecommendation } from '../../../schemas/api/insight/cost-recommendations.ts';
import { pullRequestUrl } from '../../delivery/pull-requests/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { costOf } from '../analytics/index.ts';
import { type Explained, renderExplanation, renderTitle } from './explanation.ts';
import type { RecommendationRecord } from './store.ts';

export const explained = (record: RecommendationRecord): Explained => ({
  ...{ type: record.type, figures: record.figures, change: record.change },
  savedBytesPerMonth: record.savedBytesPerMonth,
  savedCostPerMonth:
    record.savedBytesPerMonth === null ? null : costOf(record.savedBytesPerMonth, record.pricePerGb),
});

export function presentRecommendation(
  ctx: Pick<Context, 'services'>,
  { pricePerGb, ...record }: RecommendationRecord,
): CostRecommendation {
  const of = explained({ pricePerGb, ...record });
  const { pullRequest } = record;
  return {
    ...record,
    savedCostPerMonth: of.savedCostPerMonth,
    title: renderTitle(of),
    explanation: renderExplanation(of),
    pullRequest: pullRequest && {
      ...pullRequest,
      url: pullRequestUrl(ctx, record.environmentId, pullRequest),
    },
  };
}
