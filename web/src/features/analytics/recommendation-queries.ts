/** Reads of recommendations, and what is read again after a decision about one. */
import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { RecommendationStatus } from '../../../../schemas/api/insight/cost-recommendations.ts';
import { api } from '../../api/client.ts';
import type { LiveMeta } from '../../api/queries/index.ts';

const LIMIT = 200;
/** A merge elsewhere comes without an event. */
const REFRESH_MS = 60_000;

const live = (environmentId: string): LiveMeta => ({ topics: ['costs', 'promotions'], environmentId });

export const recommendationQueries = {
  list: (environmentId: string, status: RecommendationStatus) =>
    queryOptions({
      queryKey: ['costRecommendation.list', environmentId, status],
      queryFn: () => api.costRecommendation.list.query({ environmentId, status, limit: LIMIT }),
      meta: live(environmentId),
      refetchInterval: REFRESH_MS,
    }),
  summary: (environmentId: string) =>
    queryOptions({
      queryKey: ['costRecommendation.summary', environmentId],
      queryFn: () => api.costRecommendation.summary.query({ environmentId }),
      meta: live(environmentId),
      refetchInterval: REFRESH_MS,
    }),
  detail: (environmentId: string, id: string) =>
    queryOptions({
      queryKey: ['costRecommendation.getById', environmentId, id],
      queryFn: () => api.costRecommendation.getById.query({ environmentId, id }),
    }),
};

export function useRenewRecommendations(): () => Promise<unknown> {
  const queryClient = useQueryClient();
  return () =>
    Promise.all(
      ['costRecommendation.list', 'costRecommendation.summary'].map((name) =>
        queryClient.invalidateQueries({ queryKey: [name] }),
      ),
    );
}
