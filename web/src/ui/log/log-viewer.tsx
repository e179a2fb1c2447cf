/** The log of a pipeline or of a node, followed live, with its filters in the address. */

import type { ReactNode } from 'react';
import { describeFailure } from '../../api/client.ts';
import { usePreference, writePreference } from '../../app/preferences/preferences.ts';
import { formatRelative, plural } from '../text/format.ts';
import './logs.css';
import { EmptyState, ErrorState, SkeletonBlock } from '../feedback/page-states.tsx';
import { Button } from '../primitives/button.tsx';
import { useNow } from '../text/clock.ts';
import { MAX_LINES } from './log-buffer.ts';
import type { FeedState, LogFeed } from './log-feed.ts';
import { type Choice, LogFilterBar } from './log-filters.tsx';
import { LogList } from './log-list.tsx';
import { type LogFilters, type LogSource, useLogFeed, useLogFilters } from './use-log-feed.ts';

interface Props {
  source: LogSource;
  /** The nodes of a pipeline, or the pipelines of a node. */
  choices: readonly Choice[];
  /** What else can be done with the log. */
  action?: ReactNode;
}

/** Longer names are cut, in characters. */
const MAX_NAME = 20;

export const LogViewer = ({ source, choices, action }: Props) => {
  const [filters, change] = useLogFilters(source.kind);
  const { feed, state } = useLogFeed(source, filters);
  const wrap = usePreference('log-wrap') !== 'off';
  return (
    <div className="log-viewer">
      <div className="table-bar">
        <LogFilterBar
          filters={filters}
          change={change}
          noun={source.kind === 'pipeline' ? 'node' : 'pipeline'}
          choices={choices}
        />
        <Button
          size="small"
          aria-pressed={wrap}
          onClick={() => writePreference('log-wrap', wrap ? 'off' : 'on')}
        >
          Wrap
        </Button>
        {action}
        <Freshness state={state} />
      </div>
      <Lines
        source={source}
        filters={filters}
        change={change}
        feed={feed}
        state={state}
        wrap={wrap}
        nameWidth={Math.min(Math.max(4, ...choices.map(({ name }) => name.length)), MAX_NAME)}
      />
    </div>
  );
};

/** How many lines are here, or since when nothing newer could be read. */
const Freshness = ({ state }: { state: FeedState }) => {
  const now = useNow();
  if (state.failure !== null && state.loaded) {
    return (
      <span className="table-count tone-text" data-tone="failed" role="status">
        Last read {formatRelative(new Date(state.freshAt), now)}: {describeFailure(state.failure).message} It
        goes on by itself.
      </span>
    );
  }
  const full = state.lines.length >= MAX_LINES;
  return (
    <span className="table-count">
      {plural(state.lines.length, 'line')}
      {full ? ', as many as a page keeps' : ''}
    </span>
  );
};

interface LinesProps {
  source: LogSource;
  filters: LogFilters;
  change: (change: Partial<LogFilters>) => void;
  feed: LogFeed;
  state: FeedState;
  wrap: boolean;
  nameWidth: number;
}

const Lines = ({ source, filters, change, feed, state, wrap, nameWidth }: LinesProps) => {
  if (!state.loaded && state.failure !== null)
    return <ErrorState error={state.failure} retry={() => feed.nudge()} what="The log" />;
  if (!state.loaded) return <SkeletonBlock height="var(--log-height)" label="Loading the log" />;
  if (state.lines.length > 0)
    return <LogList feed={feed} state={state} kind={source.kind} wrap={wrap} nameWidth={nameWidth} />;
  const filtered =
    filters.levels.length > 0 || filters.only !== '' || filters.text !== '' || filters.since !== 'all';
  if (!filtered) {
    return (
      <EmptyState icon="pipelines" title="No line yet">
        <p>
          Engines write to stderr and stdout; the agent sends what they write every two seconds, and it shows
          here at once. How much they write is the <code>logLevel</code> of the pipeline’s manifest.
        </p>
      </EmptyState>
    );
  }
  if (state.loadingOlder)
    return <SkeletonBlock height="var(--log-height)" label="Looking through older lines" />;
  // As tall as the lines that a filter hid, so that the page stays where it is.
  return (
    <div className="log-nothing">
      <EmptyState icon="search" title={state.older === null ? 'No line matches' : 'No line matches so far'}>
        <p>New lines that match show here as they come.</p>
        {state.olderFailure !== null && (
          <p role="alert">Older lines could not be read: {describeFailure(state.olderFailure).message}</p>
        )}
        {state.older !== null && (
          <Button icon="search" onClick={() => void feed.loadOlder()}>
            Look further back
          </Button>
        )}
        <Button icon="cross" onClick={() => change({ levels: [], only: '', text: '', since: 'all' })}>
          Show all lines
        </Button>
      </EmptyState>
    </div>
  );
};
