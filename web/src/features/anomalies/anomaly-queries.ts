import { queryOptions } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { LiveMeta } from '../../api/queries.ts';

/** A pass comes every five minutes, and what it sees again is worth no event. */
const REFRESH_MS = 60_000;
/** Of a pipeline, the newest. */
const SHOWN = 50;

const live = (environmentId: string): LiveMeta => ({ topics: ['anomalies', 'pipelines'], environmentId });

export const anomalyQueries = {
  ofPipeline: (environmentId: string, pipelineId: string) =>
    queryOptions({
      queryKey: ['anomaly.list', environmentId, pipelineId],
      queryFn: () => api.anomaly.list.query({ environmentId, pipelineId, limit: SHOWN }),
      refetchInterval: REFRESH_MS,
      meta: live(environmentId),
    }),
  counts: (environmentId: string) =>
    queryOptions({
      queryKey: ['anomaly.countByPipeline', environmentId],
      queryFn: () => api.anomaly.countByPipeline.query({ environmentId }),
      meta: live(environmentId),
    }),
  severities: (environmentId: string) =>
    queryOptions({
      queryKey: ['anomaly.maxSeverityByPipeline', environmentId],
      queryFn: () => api.anomaly.maxSeverityByPipeline.query({ environmentId }),
      meta: live(environmentId),
    }),
};
