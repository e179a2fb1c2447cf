/** The error that a page shows in the place of data. */
import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { describeFailure } from '../../api/client.ts';

/** Of a query with one answer, or of one with pages. */
export type LoadState<T = unknown> = Pick<
  UseQueryResult<T>,
  'data' | 'error' | 'errorUpdatedAt' | 'isError' | 'isPlaceholderData'
> & { refetch: () => unknown };

/** Whether what was asked for is not there, or no longer. */
export const isGone = ({ isError, error }: Pick<LoadState, 'isError' | 'error'>): boolean =>
  isError && describeFailure(error).code === 'NOT_FOUND';

/**
 * Null where data can be shown, or is waited for. Query-core forgets the error of a query without data whenever it is
 * asked again (`fetchState`), so at each poll: here it stays until there is an answer, or until `retry`.
 */
export function useLoadError(query: LoadState): { error: unknown; retry: () => void } | null {
  const [last, setLast] = useState<Pick<LoadState, 'error' | 'errorUpdatedAt'> | null>(null);
  const { data, error, errorUpdatedAt, isError, isPlaceholderData } = query;
  const hasFailed = isError && (data === undefined || isGone(query));
  if (hasFailed && (last?.error !== error || last?.errorUpdatedAt !== errorUpdatedAt))
    setLast({ error, errorUpdatedAt });
  // The time is that of this query: another one that takes its place has another.
  const isAskedAgain =
    !isError && (data === undefined || isPlaceholderData) && last?.errorUpdatedAt === errorUpdatedAt;
  if (!hasFailed && !isAskedAgain) return null;
  const retry = (): void => {
    setLast(null);
    void query.refetch();
  };
  return { error: hasFailed ? error : last?.error, retry };
}
