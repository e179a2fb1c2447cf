/** The live connection: events say what to look at again, and the queries do the looking. */
import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import type { UiEvent, UiTopic } from '../../../schemas/api/ui-events.ts';
import type { LiveMeta } from './queries/index.ts';
import { askHealth } from './reachability.ts';
import { sessionQuery } from './session.ts';

export type LiveState =
  | { kind: 'connecting' }
  | { kind: 'connected' }
  | { kind: 'reconnecting'; since: number }
  | { kind: 'stale'; since: number };

/** At most two rounds of refetching a second, however fast events come; a slow round is given time to breathe. */
const REST_MS = 500;
const REST_FACTOR = 3;
/** Events of one change come close together. */
const GATHER_MS = 50;
/** The environment id of events that concern all of them. */
const EVERYWHERE = '*';
const STALE_AFTER_MS = 15_000;
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 30_000;
/** A tab that nobody sees lets go of its stream: over HTTP/1.1 six of them would leave no connection for anything else. */
const HIDDEN_MS = 10_000;

let state: LiveState = { kind: 'connecting' };
const listeners = new Set<() => void>();

function setState(next: LiveState): void {
  state = next;
  for (const listener of listeners) listener();
}

export const useLiveState = (): LiveState =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );

type ChangeListener = (event: UiEvent | null) => void;
const changeListeners = new Set<ChangeListener>();

/** For what is no query: calls at each event of the topic, and when events may have been missed. */
export function onChanged(environmentId: string, topic: UiTopic, listener: () => void): () => void {
  const each: ChangeListener = (event) => {
    const here = !event || event.environmentId === EVERYWHERE || event.environmentId === environmentId;
    if (here && (!event || event.topics.includes(topic))) listener();
  };
  changeListeners.add(each);
  return () => changeListeners.delete(each);
}

function tellListeners(event: UiEvent | null): void {
  for (const listener of changeListeners) listener(event);
}

/** Opens the stream and keeps it open until the returned function is called. */
export function followEvents(queryClient: QueryClient): () => void {
  const pending = new Map<string, Set<string>>();
  let source: EventSource | null = null;
  let flushTimer: ReturnType<typeof setTimeout> | undefined;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let staleTimer: ReturnType<typeof setTimeout> | undefined;
  let retryMs = RETRY_MIN_MS;
  let isLost = false;
  /** Events may have been missed: all of it is looked at again once the stream is open. */
  let hasMissed = false;
  let restUntil = 0;
  let hiddenTimer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  const flush = async (): Promise<void> => {
    const startedAt = Date.now();
    const seen = new Map(pending);
    pending.clear();
    await queryClient.invalidateQueries({
      predicate: ({ meta }) => {
        if (!isLiveMeta(meta)) return false;
        for (const [environmentId, topics] of seen) {
          const elsewhere =
            environmentId !== EVERYWHERE && meta.environmentId && meta.environmentId !== environmentId;
          if (elsewhere) continue;
          if (meta.topics.some((topic) => topics.has(topic))) return true;
        }
        return false;
      },
    });
    const now = Date.now();
    restUntil = now + Math.max(REST_MS, (now - startedAt) * REST_FACTOR);
    flushTimer = undefined;
    if (pending.size > 0) schedule();
  };

  /** The timer stays set while a round runs, so that rounds never overlap. */
  const schedule = (): void => {
    if (closed) return;
    flushTimer ??= setTimeout(() => void flush(), Math.max(GATHER_MS, restUntil - Date.now()));
  };

  const lost = (): void => {
    hasMissed = true;
    if (!isLost) {
      isLost = true;
      const since = Date.now();
      setState({ kind: 'reconnecting', since });
      void askHealth();
      staleTimer = setTimeout(() => setState({ kind: 'stale', since }), STALE_AFTER_MS);
    }
    // The browser reconnects by itself after a dropped connection, but gives up for good on an error status.
    if (source?.readyState !== EventSource.CLOSED) return;
    // It may be that the session has ended, or that something is owed now: the sign-in page says so, not a stale one.
    void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    clearTimeout(retryTimer);
    retryTimer = setTimeout(open, retryMs);
    retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
  };

  const open = (): void => {
    source?.close();
    source = new EventSource('/api/events');
    source.addEventListener('open', () => {
      clearTimeout(staleTimer);
      retryMs = RETRY_MIN_MS;
      setState({ kind: 'connected' });
      if (hasMissed) {
        void queryClient.invalidateQueries();
        tellListeners(null);
      }
      isLost = false;
      hasMissed = false;
    });
    source.addEventListener('error', lost);
    source.addEventListener('changed', (message) => {
      const event = parseEvent(message.data);
      if (!event) return;
      tellListeners(event);
      const topics = pending.get(event.environmentId) ?? new Set<string>();
      for (const topic of event.topics) topics.add(topic);
      pending.set(event.environmentId, topics);
      schedule();
    });
  };

  // The browser may keep a page that was left, to go back to: its stream would hold one of the six connections that
  // browsers open to one server over HTTP/1.1, and after some pages nothing would load any more.
  const onLeave = (): void => {
    source?.close();
    source = null;
    clearTimeout(retryTimer);
    clearTimeout(staleTimer);
    // One that is lost when it is opened again says so, from then on.
    isLost = false;
  };
  const onVisibility = (): void => {
    clearTimeout(hiddenTimer);
    if (document.visibilityState === 'hidden') hiddenTimer = setTimeout(onLeave, HIDDEN_MS);
    else if (source === null) comeBack();
  };
  const comeBack = (): void => {
    hasMissed = true;
    open();
  };
  const onShow = ({ persisted }: PageTransitionEvent): void => {
    if (persisted) comeBack();
  };
  window.addEventListener('pagehide', onLeave);
  window.addEventListener('pageshow', onShow);
  document.addEventListener('visibilitychange', onVisibility);
  open();
  return () => {
    closed = true;
    window.removeEventListener('pagehide', onLeave);
    window.removeEventListener('pageshow', onShow);
    document.removeEventListener('visibilitychange', onVisibility);
    clearTimeout(hiddenTimer);
    source?.close();
    clearTimeout(flushTimer);
    clearTimeout(retryTimer);
    clearTimeout(staleTimer);
    setState({ kind: 'connecting' });
  };
}

const isLiveMeta = (meta: Record<string, unknown> | undefined): meta is LiveMeta =>
  Array.isArray(meta?.topics);

function parseEvent(data: unknown): UiEvent | null {
  if (typeof data !== 'string') return null;
  try {
    const event: Partial<UiEvent> = JSON.parse(data);
    if (typeof event.environmentId !== 'string' || !Array.isArray(event.topics)) return null;
    return { environmentId: event.environmentId, topics: event.topics };
  } catch {
    return null;
  }
}
