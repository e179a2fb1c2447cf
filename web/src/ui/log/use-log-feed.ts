import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { LogLevel } from '../../../../schemas/api/fleet/logs.ts';
import { api } from '../../api/client.ts';
import { onChanged } from '../../api/events.ts';
import { IN_PLACE, putParam, useAddress } from '../../app/search-params.ts';
import { type FeedState, LogFeed } from './log-feed.ts';
import { LOG_LEVELS } from './log-levels.ts';

/** Whose lines: a pipeline's over its nodes, or a node's over its pipelines. */
export interface LogSource {
  kind: 'pipeline' | 'node';
  id: string;
  environmentId: string;
}

export interface LogFilters {
  levels: LogLevel[];
  /** A node's id for a pipeline, a pipeline's id for a node; empty for all. */
  only: string;
  text: string;
  since: Since;
}

export const SINCES = [
  { value: '15m', word: '15 min', ms: 15 * 60_000 },
  { value: '1h', word: '1 h', ms: 3_600_000 },
  { value: '1d', word: '1 day', ms: 86_400_000 },
  { value: 'all', word: 'All', ms: null },
] as const;
export type Since = (typeof SINCES)[number]['value'];

/** The filters as the address holds them, and how to change one. */
export function useLogFilters(kind: LogSource['kind']): [LogFilters, (change: Partial<LogFilters>) => void] {
  const [params, changeAddress] = useAddress();
  const onlyKey = kind === 'pipeline' ? 'node' : 'pipeline';
  const wanted = (params.get('level') ?? '').split(',');
  const filters: LogFilters = {
    levels: LOG_LEVELS.filter((level) => wanted.includes(level)),
    only: params.get(onlyKey) ?? '',
    text: (params.get('text') ?? '').slice(0, 200),
    since: SINCES.find(({ value }) => value === params.get('since'))?.value ?? 'all',
  };
  const change = ({ levels, only, text, since }: Partial<LogFilters>): void =>
    changeAddress((next) => {
      const put = (key: string, value: string | undefined): void => {
        if (value !== undefined) putParam(next, key, value);
      };
      put('level', levels?.join(','));
      put(onlyKey, only);
      put('text', text);
      put('since', since === 'all' ? '' : since);
    }, IN_PLACE);
  return [filters, change];
}

/** Follows the lines while it is mounted. Other filters make another feed. */
export function useLogFeed(source: LogSource, filters: LogFilters): { feed: LogFeed; state: FeedState } {
  const queryClient = useQueryClient();
  const key = JSON.stringify([source, filters]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the source and the filters.
  const feed = useMemo(() => {
    const ms = SINCES.find(({ value }) => value === filters.since)?.ms ?? null;
    const shared = {
      ...(filters.levels.length > 0 ? { levels: filters.levels } : {}),
      ...(filters.text ? { contains: filters.text } : {}),
      ...(ms === null ? {} : { since: new Date(Date.now() - ms) }),
    };
    return new LogFeed((cursor, limit) =>
      // Through the query client, so that an ended session and a controller that is away are noticed as everywhere.
      queryClient.fetchQuery({
        queryKey: ['logs', key, cursor, limit],
        queryFn: () => {
          const page = { ...shared, limit, ...(cursor === undefined ? {} : { cursor }) };
          return source.kind === 'pipeline'
            ? api.pipeline.logs.query({
                ...page,
                pipelineId: source.id,
                ...(filters.only ? { nodeId: filters.only } : {}),
              })
            : api.fleet.nodeLogs.query({
                ...page,
                nodeId: source.id,
                ...(filters.only ? { pipelineId: filters.only } : {}),
              });
        },
        staleTime: 0,
        gcTime: 0,
      }),
    );
  }, [key, queryClient]);

  useEffect(() => {
    feed.start();
    const off = onChanged(source.environmentId, 'logs', () => feed.nudge());
    return () => {
      off();
      feed.stop();
    };
  }, [feed, source.environmentId]);

  return { feed, state: useSyncExternalStore(feed.subscribe, feed.getState) };
}
