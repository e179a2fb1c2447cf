/** Reads of charts. What ends now is read again as minutes are added; what lies in the past stays as it is. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api } from '../../api/client.ts';

/** Points come by the minute. */
const REFRESH_MS = 30_000;
const SPARKLINES_MS = 60_000;
/** What a procedure by the minute reads at most. */
const MAX_MINUTES = 10_080;

interface Wanted {
  minutes: number;
  /** Null: now. */
  end: Date | null;
}

const shared = ({ end }: Wanted) => ({
  refetchInterval: end ? (false as const) : REFRESH_MS,
  staleTime: end ? Number.POSITIVE_INFINITY : 10_000,
  placeholderData: keepPreviousData,
});
const endOf = ({ end }: Wanted) => (end ? { end } : {});
const keyOf = ({ minutes, end }: Wanted) => [minutes, end?.getTime() ?? null];

export const metricsQueries = {
  pipeline: (pipelineId: string, wanted: Wanted) =>
    queryOptions({
      queryKey: ['metrics.getPipelineMetrics', pipelineId, ...keyOf(wanted)],
      queryFn: () =>
        wanted.minutes > MAX_MINUTES
          ? api.pipeline.metrics.query({ pipelineId, hours: wanted.minutes / 60, ...endOf(wanted) })
          : api.metrics.getPipelineMetrics.query({ pipelineId, minutes: wanted.minutes, ...endOf(wanted) }),
      ...shared(wanted),
    }),
  parts: (pipelineId: string, groupBy: 'component' | 'node', wanted: Wanted) =>
    queryOptions({
      queryKey: ['metrics.getPipelineMetrics', pipelineId, groupBy, ...keyOf(wanted)],
      queryFn: () =>
        api.metrics.getPipelineMetrics.query({
          ...{ pipelineId, groupBy, minutes: Math.min(wanted.minutes, MAX_MINUTES) },
          ...endOf(wanted),
        }),
      ...shared(wanted),
    }),
  recentRates: (environmentId: string, groupBy?: 'pipeline' | 'node') =>
    queryOptions({
      queryKey: ['metrics.getRecentRates', environmentId, groupBy ?? ''],
      queryFn: () => api.metrics.getRecentRates.query({ environmentId, ...(groupBy ? { groupBy } : {}) }),
      refetchInterval: SPARKLINES_MS,
      staleTime: REFRESH_MS,
    }),
  environment: (environmentId: string, groupBy: 'aggregate' | 'pipeline' | 'node', wanted: Wanted) =>
    queryOptions({
      queryKey: ['dashboard.chartMetrics', environmentId, groupBy, ...keyOf(wanted)],
      queryFn: () =>
        api.dashboard.chartMetrics.query({
          ...{ environmentId, groupBy, minutes: wanted.minutes },
          ...endOf(wanted),
        }),
      ...shared(wanted),
    }),
  node: (nodeId: string, wanted: Wanted) =>
    queryOptions({
      queryKey: ['fleet.nodeMetrics', nodeId, ...keyOf(wanted)],
      queryFn: () => api.fleet.nodeMetrics.query({ nodeId, minutes: wanted.minutes, ...endOf(wanted) }),
      ...shared(wanted),
    }),
};
