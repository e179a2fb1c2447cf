/** What a page shows while it waits, when it has nothing, and when something failed. */
import { EmptyState as MantineEmptyState, Paper, Skeleton, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { describeFailure } from '../../api/client.ts';
import { Button } from '../primitives/button.tsx';
import { Copyable } from '../primitives/copyable.tsx';
import { Icon, type IconName } from '../primitives/icons.tsx';
import { sentence } from '../text/format.ts';
import { type LoadState, useLoadError } from './load-error.ts';
import { Notice } from './notice.tsx';

/** Of a row and of the bar in it; the distance of two bars is theirs both. */
const BAR_PX = 10;
const BAR_MARGIN_PX = 13;

/** Grey bars of the final height, so that nothing jumps. */
export const SkeletonRows = ({ rows = 8, label = 'Loading' }: { rows?: number; label?: string }) => (
  <Paper withBorder px="md" role="status" aria-label={label} aria-busy>
    {Array.from({ length: rows }, (_, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the bars have no identity.
      <Skeleton key={index} height={BAR_PX} my={BAR_MARGIN_PX} width={`${60 + ((index * 7) % 30)}%`} />
    ))}
  </Paper>
);

/** `height` in pixels, or as CSS has it. */
export const SkeletonBlock = ({ height, label = 'Loading' }: { height: number | string; label?: string }) => (
  <Skeleton role="status" aria-label={label} aria-busy height={height} />
);

interface StateProps {
  icon: IconName;
  title: string;
  /** Of the title; 1 where nothing else is on the page. */
  level?: 1 | 2 | undefined;
  tone?: 'failed';
  children: ReactNode;
}

const State = ({ icon, title, level = 2, tone, children }: StateProps) => (
  <Paper withBorder p="xl" role={tone && 'alert'}>
    <MantineEmptyState variant="light" color={tone} icon={<Icon name={icon} size={20} />}>
      <Title order={level}>{title}</Title>
      <Stack align="center" maw={620} w="100%" gap="md" className="state-body">
        {children}
      </Stack>
    </MantineEmptyState>
  </Paper>
);

/** An empty page teaches how to fill it. */
export const EmptyState = (props: Omit<StateProps, 'tone'>) => <State {...props} />;

interface ErrorStateProps extends Pick<StateProps, 'level'> {
  error: unknown;
  retry?: () => void;
  what: string;
}

/** Says what happened, what to do, and the request id to look for in the log. */
export const ErrorState = ({ error, retry, what, level }: ErrorStateProps) => {
  const failure = describeFailure(error);
  return (
    <State tone="failed" icon="warning" title={`${what} could not be shown`} level={level}>
      <p>{failure.message}</p>
      {failure.advice && <p className="muted">{failure.advice}</p>}
      {failure.requestId && (
        <p className="muted">
          Request <Copyable value={failure.requestId} label="request id" />
        </p>
      )}
      {retry && (
        <Button icon="sync" onClick={retry}>
          Try again
        </Button>
      )}
    </State>
  );
};

/** A failed action, in place. */
export const InlineError = ({ error }: { error: unknown }) => {
  const failure = describeFailure(error);
  return (
    <Notice tone="failed" icon="warning" role="alert">
      {sentence(failure.message)} {failure.advice}
      {failure.requestId && <span className="mono"> Request {failure.requestId}</span>}
    </Notice>
  );
};

interface LoadedProps<T> {
  query: LoadState<T>;
  /** With which the error sentence begins, for example `Pipelines`. */
  what: string;
  skeleton: ReactNode;
  children: (data: T) => ReactNode;
  /** What the error stands in, where `children` bring the whole page. */
  around?: (error: ReactNode) => ReactNode;
}

/**
 * Data that was loaded once stays on the screen while a refresh fails; the live dot tells about that. What was deleted
 * meanwhile, in another tab or by somebody else, does not stay.
 */
export function Loaded<T>({ query, what, skeleton, children, around = alone }: LoadedProps<T>) {
  const failed = useLoadError(query);
  if (failed) return around(<ErrorState {...failed} what={what} />);
  return query.data === undefined ? skeleton : children(query.data);
}

const alone = (error: ReactNode): ReactNode => error;
