/** Reads of volumes and costs: they move slowly. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { AnalyticsRange } from '../../../../schemas/api/insight/analytics.ts';
import { api } from '../../api/client.ts';

const REFRESH_MS = 60_000;

export interface AnalyticsPeriod {
  environmentId: string;
  range: AnalyticsRange;
}

const shared = { refetchInterval: REFRESH_MS, staleTime: 30_000, placeholderData: keepPreviousData };

export const analyticsQueries = {
  summary: (input: AnalyticsPeriod) =>
    queryOptions({
      queryKey: ['analytics.costSummary', input],
      queryFn: () => api.analytics.costSummary.query(input),
      ...shared,
    }),
  series: (input: AnalyticsPeriod) =>
    queryOptions({
      queryKey: ['analytics.costTimeSeries', input],
      queryFn: () => api.analytics.costTimeSeries.query(input),
      ...shared,
    }),
  byPipeline: (input: AnalyticsPeriod) =>
    queryOptions({
      queryKey: ['analytics.costByPipeline', input],
      queryFn: () => api.analytics.costByPipeline.query(input),
      ...shared,
    }),
  bySink: (input: AnalyticsPeriod) =>
    queryOptions({
      queryKey: ['analytics.costBySink', input],
      queryFn: () => api.analytics.costBySink.query(input),
      ...shared,
    }),
  byTeam: (input: AnalyticsPeriod) =>
    queryOptions({
      queryKey: ['analytics.costByTeam', input],
      queryFn: () => api.analytics.costByTeam.query(input),
      ...shared,
    }),
  byEnvironment: (input: AnalyticsPeriod) =>
    queryOptions({
      queryKey: ['analytics.costByEnvironment', input],
      queryFn: () => api.analytics.costByEnvironment.query(input),
      ...shared,
    }),
};
