import { queryOptions } from '@tanstack/react-query';
import type { AnomalyStatus } from '../../../../schemas/api/insight/anomalies.ts';
import { api } from '../../api/client.ts';
import type { LiveMeta } from '../../api/queries/index.ts';

/** A pass comes every five minutes, and what it sees again is worth no event. */
const REFRESH_MS = 60_000;
/** Of a pipeline, the newest. */
export const MAX_SHOWN = 50;

const live = (environmentId: string): LiveMeta => ({ topics: ['anomalies', 'pipelines'], environmentId });

export const anomalyQueries = {
  /** Of any status unless one is given. */
  ofPipeline: (environmentId: string, pipelineId: string, status?: AnomalyStatus) =>
    queryOptions({
      queryKey: ['anomaly.list', environmentId, pipelineId, status ?? ''],
      queryFn: () =>
        api.anomaly.list.query({
          ...{ environmentId, pipelineId, limit: MAX_SHOWN },
          ...(status ? { status } : {}),
        }),
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
