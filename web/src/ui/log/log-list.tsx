/** The lines in a frame of their own height, newest at the bottom; only those in sight are in the document. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { describeFailure } from '../../api/client.ts';
import { Button } from '../primitives/button.tsx';
import { plural } from '../text/format.ts';
import type { FeedState, LogFeed } from './log-feed.ts';
import { LogRow } from './log-row.tsx';
import type { LogSource } from './use-log-feed.ts';

const ROW_PX = 20;
/** Room for what is said above the first line. */
const TOP_PX = 32;
/** This near to the end still is the end. */
const END_PX = 24;
/** This near to the top the lines before are read. */
const NEAR_TOP_PX = 400;

interface Props {
  feed: LogFeed;
  state: FeedState;
  kind: LogSource['kind'];
  wrap: boolean;
  /** Room for the names that lines come from, in characters. */
  nameWidth: number;
}

export const LogList = ({ feed, state, kind, wrap, nameWidth }: Props) => {
  const frame = useRef<HTMLDivElement>(null);
  const scrolledTo = useRef(0);
  const [atEnd, setAtEnd] = useState(true);
  /** The row that last had the focus: Tab comes back to it. */
  const [current, setCurrent] = useState('');
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const { lines } = state;
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => lines[index]?.seq ?? index,
    paddingStart: TOP_PX,
    paddingEnd: 8,
    overscan: 20,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: END_PX,
  });

  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each feed, when its first lines are there.
  useLayoutEffect(() => virtualizer.scrollToEnd(), [feed, state.loaded]);

  const setFollowing = (following: boolean): void => {
    setAtEnd(following);
    feed.follow(following);
  };
  /** Only a scroll upwards leaves the end: lines that grow or come would else look like one. */
  const onScroll = (): void => {
    const element = frame.current;
    if (!element) return;
    const fromEnd = element.scrollHeight - element.scrollTop - element.clientHeight;
    const following = fromEnd <= END_PX || (atEnd && element.scrollTop >= scrolledTo.current);
    setFollowing(following);
    scrolledTo.current = element.scrollTop;
    // One leap from the end to the top is the only scroll there will be.
    if (element.scrollTop < NEAR_TOP_PX && !following && state.olderFailure === null) void feed.loadOlder();
  };
  // A frame that is not filled cannot be scrolled, so the lines before would never be asked for.
  // biome-ignore lint/correctness/useExhaustiveDependencies: as many lines as there are decide whether it is filled.
  useEffect(() => {
    const element = frame.current;
    if (element && element.scrollHeight <= element.clientHeight && state.olderFailure === null)
      void feed.loadOlder();
  }, [feed, state.olderFailure, lines.length]);

  const toNewest = (): void => {
    setFollowing(true);
    virtualizer.scrollToEnd();
  };
  const toggle = useCallback(
    (seq: string): void =>
      setUnfolded((before) => {
        const next = new Set(before);
        if (!next.delete(seq)) next.add(seq);
        return next;
      }),
    [],
  );
  const items = virtualizer.getVirtualItems();
  const lastInSight = items.findLast(
    ({ end }) => end <= (virtualizer.scrollOffset ?? 0) + (frame.current?.clientHeight ?? 0),
  );
  const reachable = items.some(({ key }) => key === current) ? current : lastInSight?.key;
  return (
    <div className="log-frame">
      <div
        ref={frame}
        className="logs mono"
        data-wrap={wrap || undefined}
        role="log"
        aria-label="Log lines, newest last"
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it.
        tabIndex={0}
        onScroll={onScroll}
        onKeyDown={walkRows}
        onFocus={({ target }) => setCurrent(lines[indexOf(target)]?.seq ?? '')}
      >
        <div className="log-room" style={{ height: virtualizer.getTotalSize() }}>
          <LogTop feed={feed} state={state} />
          {items.map(({ index, start, key }) => {
            const line = lines[index];
            if (!line) return null;
            return (
              <div
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                className="log-row"
                style={{ transform: `translateY(${start}px)` }}
              >
                <LogRow
                  line={line}
                  from={kind === 'pipeline' ? line.node : line.pipeline}
                  nameWidth={nameWidth}
                  unfolded={unfolded.has(line.seq)}
                  toggle={toggle}
                  reachable={line.seq === reachable}
                />
              </div>
            );
          })}
        </div>
      </div>
      {!atEnd && (
        <Button icon="chevronDown" className="log-newest" size="small" onClick={toNewest}>
          {state.unseen > 0 ? plural(state.unseen, 'new line') : 'To the newest'}
        </Button>
      )}
    </div>
  );
};

/** Of the row that holds the element; -1 outside of all. */
const indexOf = (element: Element): number =>
  Number(element.closest<HTMLElement>('.log-row')?.dataset.index ?? -1);

/** From a row's button the arrow keys go to the same place in the row above or below. */
function walkRows(event: KeyboardEvent<HTMLDivElement>): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const row = event.target instanceof Element ? event.target.closest<HTMLElement>('.log-row') : null;
  if (step === 0 || !row) return;
  event.preventDefault();
  const next = event.currentTarget.querySelector<HTMLElement>(
    `.log-row[data-index="${Number(row.dataset.index) + step}"]`,
  );
  next?.scrollIntoView({ block: 'nearest' });
  next?.querySelector<HTMLElement>('.log-copy')?.focus();
}

/** What is before the first line. */
const LogTop = ({ feed, state }: { feed: LogFeed; state: FeedState }) => (
  <div className="log-top muted">
    {state.loadingOlder ? (
      <span role="status">Reading older lines…</span>
    ) : state.olderFailure !== null ? (
      <>
        <span role="alert">Older lines could not be read: {describeFailure(state.olderFailure).message}</span>
        <Button size="small" onClick={() => void feed.loadOlder()}>
          Try again
        </Button>
      </>
    ) : state.older === null ? (
      'Nothing is kept from before.'
    ) : (
      <Button size="small" onClick={() => void feed.loadOlder()}>
        Older lines
      </Button>
    )}
  </div>
);
