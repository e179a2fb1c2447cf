/** What a page shows while it waits, when it has nothing, and when something failed. */
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { describeFailure } from '../api/client.ts';
import { Copyable } from './bits.tsx';
import { sentence } from './format.ts';
import { Icon, type IconName } from './icons.tsx';

/** Grey bars of the final height, so that nothing jumps. */
export const SkeletonRows = ({ rows = 8, label = 'Loading' }: { rows?: number; label?: string }) => (
  <div className="skeleton" role="status" aria-label={label}>
    {Array.from({ length: rows }, (_, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the bars have no identity.
      <div key={index} className="skeleton-row">
        <span style={{ width: `${18 + ((index * 7) % 12)}%` }} />
        <span style={{ width: '24%' }} />
        <span style={{ width: `${10 + ((index * 5) % 8)}%` }} />
      </div>
    ))}
  </div>
);

/** `height` in pixels, or as CSS has it. */
export const SkeletonBlock = ({ height, label = 'Loading' }: { height: number | string; label?: string }) => (
  <div className="skeleton skeleton-block" role="status" aria-label={label} style={{ height }} />
);

interface EmptyProps {
  icon: IconName;
  title: string;
  children: ReactNode;
}

/** An empty page teaches how to fill it. */
export const EmptyState = ({ icon, title, children }: EmptyProps) => (
  <div className="state">
    <span className="state-icon">
      <Icon name={icon} size={20} />
    </span>
    <h2>{title}</h2>
    <div className="state-body">{children}</div>
  </div>
);

/** Says what happened, what to do, and the request id to look for in the log. */
export const ErrorState = ({ error, retry, what }: { error: unknown; retry?: () => void; what: string }) => {
  const failure = describeFailure(error);
  return (
    <div className="state" role="alert">
      <span className="state-icon" data-tone="failed">
        <Icon name="warning" size={20} />
      </span>
      <h2>{what} could not be shown</h2>
      <div className="state-body">
        <p>{failure.message}</p>
        {failure.advice && <p className="muted">{failure.advice}</p>}
        {failure.requestId && (
          <p className="muted">
            Request <Copyable value={failure.requestId} label="request id" />
          </p>
        )}
        {retry && (
          <button type="button" className="button" onClick={retry}>
            <Icon name="sync" /> Try again
          </button>
        )}
      </div>
    </div>
  );
};

/** A failed action, in place. */
export const InlineError = ({ error }: { error: unknown }) => {
  const failure = describeFailure(error);
  return (
    <p className="inline-error" role="alert">
      <Icon name="warning" size={14} />
      <span>
        {sentence(failure.message)} {failure.advice}
        {failure.requestId && <span className="mono"> Request {failure.requestId}</span>}
      </span>
    </p>
  );
};

interface LoadedProps<T> {
  query: UseQueryResult<T>;
  /** With which the error sentence begins, for example `Pipelines`. */
  what: string;
  skeleton: ReactNode;
  children: (data: T) => ReactNode;
  /** What the error stands in, where `children` bring the whole page. */
  around?: (error: ReactNode) => ReactNode;
}

/** Whether what was asked for is not there, or no longer. */
export const isGone = ({ isError, error }: Pick<UseQueryResult, 'isError' | 'error'>): boolean =>
  isError && describeFailure(error).code === 'NOT_FOUND';

/**
 * Data that was loaded once stays on the screen while a refresh fails; the live dot tells about that. What was deleted
 * meanwhile, in another tab or by somebody else, does not stay.
 */
export function Loaded<T>({ query, what, skeleton, children, around = alone }: LoadedProps<T>) {
  if (query.data !== undefined && !isGone(query)) return children(query.data);
  if (query.isError)
    return around(<ErrorState error={query.error} retry={() => void query.refetch()} what={what} />);
  return skeleton;
}

const alone = (error: ReactNode): ReactNode => error;
