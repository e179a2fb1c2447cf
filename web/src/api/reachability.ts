/**
 * Whether the controller and its database answer. A failed read or change, a lost event stream or a long silence is the
 * occasion to ask `/api/health`; while that is not well it is asked again, and when it is well every page reloads its data by
 * itself. It is asked now and then in any case: on a full disk pages read on, and only changes fail.
 */
import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { describeFailure } from './client.ts';

export type Reach =
  | { kind: 'ok' }
  /** `since`: milliseconds since the epoch of the last good answer. */
  | { kind: 'away'; what: Away; since: number };

/** Nobody is there, the database does not answer the controller, its disk is full, or an answer does not come in time. */
export type Away = 'controller' | 'database' | 'disk' | 'answer';

const AGAIN_MS = 2_000;
const TIMEOUT_MS = 5_000;
/** A page that reads nothing for so long asks, so that a controller which hangs is noticed. */
const SILENCE_MS = 10_000;
const NOW_AND_THEN_MS = 20_000;
/** Codes that an outage can be behind; the others are answers. */
const SUSPECT = ['NETWORK', 'SERVICE_UNAVAILABLE', 'INTERNAL_SERVER_ERROR', 'TIMEOUT'];

let reach: Reach = { kind: 'ok' };
let answeredAt = Date.now();
let askedAt = answeredAt;
let client: QueryClient | undefined;
/** Ends once all is well. */
let asking: Promise<void> | null = null;
const listeners = new Set<() => void>();

export const useReach = (): Reach =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => reach,
  );

function setReach(next: Reach): void {
  reach = next;
  for (const listener of listeners) listener();
}

/** Watches every read of the page, as long as the page lives. */
export function watchReach(queryClient: QueryClient): void {
  client = queryClient;
  setInterval(() => {
    if (document.hidden) return;
    const now = Date.now();
    if (now - answeredAt > SILENCE_MS || now - askedAt > NOW_AND_THEN_MS) void askHealth();
  }, SILENCE_MS / 2);
  queryClient.getMutationCache().subscribe(({ mutation, type }) => {
    if (type === 'updated' && mutation?.state.status === 'error') askIfSuspect(mutation.state.error);
  });
  queryClient.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated') return;
    const { action } = event;
    if (action.type === 'success' && !action.manual && reach.kind === 'ok') answeredAt = Date.now();
    if (action.type === 'failed') askIfSuspect(action.error);
  });
}

function askIfSuspect(error: unknown): void {
  if (SUSPECT.includes(describeFailure(error).code)) void askHealth();
}

/** Something failed that may be an outage: finds out, and follows it to its end. */
export function askHealth(): Promise<void> {
  asking ??= untilWell().finally(() => {
    asking = null;
  });
  return asking;
}

async function untilWell(): Promise<void> {
  while (!(await ask())) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
}

/** Answers whether all is well. */
async function ask(): Promise<boolean> {
  askedAt = Date.now();
  const what = await whatIsAway();
  if (what !== null) {
    if (reach.kind === 'ok' || reach.what !== what) setReach({ kind: 'away', what, since: answeredAt });
    return false;
  }
  answeredAt = Date.now();
  if (reach.kind === 'away') {
    setReach({ kind: 'ok' });
    void client?.invalidateQueries();
  }
  return true;
}

async function whatIsAway(): Promise<Away | null> {
  try {
    const response = await fetch('/api/health', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (response.ok) return null;
    // A proxy before an absent controller answers in its own words.
    const body: { status?: unknown; reason?: unknown } = await response.json().catch(() => ({}));
    if (body.status !== 'error') return 'controller';
    return body.reason === 'disk' ? 'disk' : 'database';
  } catch (error) {
    return error instanceof DOMException && error.name === 'TimeoutError' ? 'answer' : 'controller';
  }
}
