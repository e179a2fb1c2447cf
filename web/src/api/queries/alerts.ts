/** Reads of alerts beside the rules themselves (`queries.alertRules`). */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { AlertEvent, PreviewRule } from '../../../../schemas/api/insight/alerts.ts';
import { api } from '../client.ts';
import { type LiveMeta, live } from './live.ts';

/** Between two evaluations of rules. They publish what begins and ends, but no other value of an open event. */
const EVALUATION_MS = 15_000;
/** Open events of one environment that are listed. */
export const LISTED_OPEN = 200;
const HISTORY_PAGE = 50;
const PREVIEW_MS = 60_000;

export interface HistoryFilter {
  status?: AlertEvent['status'] | 'open';
  ruleId?: string;
  nodeId?: string;
  pipelineId?: string;
}

const alerts = (environmentId?: string): LiveMeta => live(['alerts'], environmentId);

export const alertQueries = {
  /** The newest 200. */
  open: (environmentId: string) =>
    queryOptions({
      queryKey: ['alert.listEvents', environmentId, 'open'],
      queryFn: () => api.alert.listEvents.query({ environmentId, status: 'open', limit: LISTED_OPEN }),
      refetchInterval: EVALUATION_MS,
      meta: alerts(environmentId),
    }),
  /** In pages, the newest first. */
  history: (environmentId: string, filter: HistoryFilter) =>
    infiniteQueryOptions({
      queryKey: ['alert.listEvents', environmentId, 'history', filter],
      queryFn: ({ pageParam }) =>
        api.alert.listEvents.query({
          ...{ environmentId, limit: HISTORY_PAGE, ...filter },
          ...(pageParam ? { cursor: pageParam } : {}),
        }),
      initialPageParam: '',
      getNextPageParam: ({ nextCursor }) => nextCursor,
      placeholderData: keepPreviousData,
      meta: alerts(environmentId),
    }),
  event: (id: string) =>
    queryOptions({
      queryKey: ['alert.getEvent', id],
      queryFn: () => api.alert.getEvent.query({ id }),
      refetchInterval: ({ state }) => (state.data?.status === 'resolved' ? false : EVALUATION_MS),
      meta: alerts(),
    }),
  /** Of every environment of the user. */
  openEverywhere: () =>
    queryOptions({
      queryKey: ['alert.openEvents'],
      queryFn: () => api.alert.openEvents.query({}),
      meta: live(['alerts', 'environments', 'teams']),
    }),
  /** They begin and end by the clock. */
  silences: (environmentId: string) =>
    queryOptions({
      queryKey: ['alert.listSilences', environmentId],
      queryFn: () => api.alert.listSilences.query({ environmentId }),
      refetchInterval: EVALUATION_MS,
      meta: live(['alerts', 'git'], environmentId),
    }),
  /** Replays the metrics of a week: no live event asks for it again. */
  preview: (rule: PreviewRule) =>
    queryOptions({
      queryKey: ['alert.previewRule', rule],
      queryFn: ({ signal }) => api.alert.previewRule.query(rule, { signal }),
      staleTime: PREVIEW_MS,
    }),
};
