/** The audit log in pages, newest first: more is read as one scrolls down. */
import { useInfiniteQuery } from '@tanstack/react-query';
import type { AuditFilter } from '../../../../schemas/api/insight/audit.ts';
import { api } from '../../api/client.ts';

/** New events load only at the top, so that a reader further down is not disturbed. */
const NEWS_MS = 5_000;

/** `before` begins with the events below that number. */
export const useEvents = (filter: AuditFilter, before: number | null) =>
  useInfiniteQuery({
    queryKey: ['audit.list', filter, before],
    queryFn: ({ pageParam }) =>
      api.audit.list.query({ ...filter, ...(pageParam ? { cursor: pageParam } : {}) }),
    initialPageParam: before === null ? '' : String(before),
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: ({ state }) =>
      before === null && (state.data?.pages.length ?? 0) <= 1 ? NEWS_MS : false,
  });
