/** The events of one component as they pass, newest at the bottom. */
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { EmptyState, InlineError } from '../../../ui/feedback/page-states.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { formatDuration, plural } from '../../../ui/text/format.ts';
import { EventList } from './event-list.tsx';
import type { LiveState, LiveTap } from './live-tap.ts';
import { useLiveTap } from './live-tap-hook.ts';
import { figuresText } from './live-text.ts';
import type { TapTarget } from './tap-targets.ts';

interface Props {
  pipelineId: string;
  target: TapTarget;
  nodeId: string;
  text: string;
  /** Why it may not be started; null when it may. */
  refusal: string | null;
}

export const Live = ({ pipelineId, target, nodeId, text, refusal }: Props) => {
  const { tap, state } = useLiveTap({ pipelineId, componentKey: target.key, nodeId });
  const wanted = text.toLowerCase();
  const matching = useMemo(
    () =>
      wanted === '' ? state.events : state.events.filter((each) => each.text.toLowerCase().includes(wanted)),
    [state.events, wanted],
  );
  return (
    <section className="section" aria-label={`Live events of ${target.key}`}>
      <Head tap={tap} state={state} target={target} refusal={refusal} />
      {state.phase.kind === 'failed' && (
        <div className="section-body">
          <InlineError error={state.phase.error} />
        </div>
      )}
      {state.phase.kind === 'ended' && (
        <Notice icon="stop" className="event-note" tone="unknown" role="status">
          {state.phase.reason}
        </Notice>
      )}
      {state.events.length > 0 ? (
        <Scrolled tap={tap} state={state} label={target.key} events={matching} />
      ) : (
        <Nothing state={state} target={target} />
      )}
    </section>
  );
};

const ACTIVE = ['starting', 'open', 'lost'];

type HeadProps = { tap: LiveTap; state: LiveState; target: TapTarget; refusal: string | null };

const Head = ({ tap, state, target, refusal }: HeadProps) => {
  const { phase } = state;
  const isActive = ACTIVE.includes(phase.kind);
  return (
    <header className="table-bar">
      {isActive ? (
        <>
          <Button icon="stop" onClick={() => tap.stop('You stopped it.')}>
            Stop
          </Button>
          <Button icon="held" aria-pressed={state.paused} onClick={() => tap.pause(!state.paused)}>
            Pause
          </Button>
        </>
      ) : (
        <Button
          icon="source"
          kind="primary"
          disabled={refusal !== null}
          tip={refusal ?? undefined}
          onClick={() => void tap.start()}
        >
          {phase.kind === 'idle' ? `Watch ${target.key} live` : 'Watch again'}
        </Button>
      )}
      {state.events.length > 0 && (
        <Button icon="cross" onClick={() => tap.clear()}>
          Clear
        </Button>
      )}
      <Figures state={state} isActive={isActive} />
    </header>
  );
};

const SECOND_MS = 1_000;

/** Renders every second, for the remaining time. */
function useTicks(isActive: boolean): void {
  const [, tick] = useState(0);
  useEffect(() => {
    if (!isActive) return;
    const timer = setInterval(() => tick((count) => count + 1), SECOND_MS);
    return () => clearInterval(timer);
  }, [isActive]);
}

const Figures = ({ state, isActive }: { state: LiveState; isActive: boolean }) => {
  useTicks(isActive);
  const { phase, startedAt } = state;
  if (phase.kind === 'idle' || phase.kind === 'failed') return null;
  const figures = figuresText(state, isActive ? { now: performance.now(), startedAt } : null);
  const tap = phase.kind === 'open' || phase.kind === 'lost' ? phase.tap : null;
  return (
    <span className="table-count event-figures">
      {tap && (
        <span className="tone-text" data-tone={phase.kind === 'open' ? 'ok' : 'held'} role="status">
          {phase.kind === 'open' ? `Live from ${tap.nodeName}` : 'Reconnecting'}
        </span>
      )}
      {phase.kind === 'starting' && <span role="status">Starting</span>}
      <span className="mono">{figures}</span>
      {tap && <span>{formatDuration(Math.max(0, tap.endsAt.getTime() - Date.now()) / SECOND_MS)} left</span>}
    </span>
  );
};

const Nothing = ({ state: { phase, seen, unseen }, target }: { state: LiveState; target: TapTarget }) => {
  if (phase.kind === 'failed') return null;
  if (phase.kind === 'idle') {
    return (
      <EmptyState icon="source" title={`Nothing is watched yet`}>
        <p>
          Watching shows what {target.kind === 'SINK' ? 'comes into' : 'leaves'} <code>{target.key}</code> as
          it happens, for five minutes at most. Nothing of it is stored, and the pipeline runs on as it does.
        </p>
      </EmptyState>
    );
  }
  if (phase.kind === 'ended') {
    return (
      <EmptyState icon="stop" title="Nothing to show">
        <p>{seen === 0 ? 'No event passed while it was watched.' : 'The list was cleared.'}</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="moving" title={unseen > 0 ? 'Paused' : 'Waiting for the next event'}>
      <p>
        {unseen > 0
          ? `${plural(unseen, 'event')} came since.`
          : 'Each event shows here as it passes. A quiet component may take a while.'}
      </p>
    </EmptyState>
  );
};

/** This near to the end still is the end. */
const END_PX = 24;

interface ScrolledProps {
  tap: LiveTap;
  state: LiveState;
  label: string;
  events: LiveState['events'];
}

/** Stays at the newest while the reader is there; elsewhere the list stands still. */
const Scrolled = ({ tap, state, label, events }: ScrolledProps) => {
  const frame = useRef<HTMLDivElement>(null);
  const scrolledTo = useRef(0);
  const [atEnd, setAtEnd] = useState(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new list moves the end.
  useLayoutEffect(() => {
    if (atEnd && frame.current) frame.current.scrollTop = frame.current.scrollHeight;
  }, [events, atEnd]);
  useEffect(() => () => tap.follow(true), [tap]);
  const setFollowing = (following: boolean): void => {
    setAtEnd(following);
    tap.follow(following);
  };
  /** Only a scroll upwards leaves the end: events that come would else look like one. */
  const onScroll = (): void => {
    const element = frame.current;
    if (!element) return;
    const fromEnd = element.scrollHeight - element.scrollTop - element.clientHeight;
    setFollowing(fromEnd <= END_PX || (atEnd && element.scrollTop >= scrolledTo.current));
    scrolledTo.current = element.scrollTop;
  };
  const hold = useCallback((): void => {
    setAtEnd(false);
    tap.follow(false);
  }, [tap]);
  const toNewest = (): void => {
    tap.pause(false);
    setFollowing(true);
  };
  const held = state.paused || !atEnd;
  return (
    <div className="log-frame">
      <div
        ref={frame}
        className="logs events-frame"
        role="log"
        aria-label={`Events of ${label}, newest last`}
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it.
        tabIndex={0}
        onScroll={onScroll}
      >
        {events.length > 0 ? (
          // What is being read may not move on.
          <EventList label={`Events of ${label}`} events={events} onUnfold={hold} />
        ) : (
          <p className="event-none muted">
            None of {plural(state.events.length, 'event')} has this text. New ones that do show here.
          </p>
        )}
      </div>
      {held && (
        <Button icon="chevronDown" className="log-newest" size="small" onClick={toNewest}>
          {state.unseen > 0 ? plural(state.unseen, 'new event') : 'To the newest'}
        </Button>
      )}
    </div>
  );
};
