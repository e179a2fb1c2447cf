/** Short notes about what was just done, with a way back where there is one. */
import { Suspense, useSyncExternalStore } from 'react';
import { describeFailure } from '../../api/client.ts';
import { lazyPart, loadCode } from '../../api/lazy-part.ts';
import type { Tone } from '../primitives/tone.ts';

interface Action {
  word: string;
  run: () => void;
}

/** The library comes with the first note. */
const load = () => import('./toast-layer.tsx');
const Layer = lazyPart(load, 'NotificationLayer');

let isUsed = false;
const listeners = new Set<() => void>();

/** Says that something was done; `action` takes it back or leads on. */
export function notify(text: string, action?: Action, tone: Tone = 'ok'): void {
  isUsed = true;
  for (const listener of listeners) listener();
  void loadCode(load).then(({ showNote }) => showNote({ text, action, tone }));
}

/** Says why something that has no dialog of its own failed. `what` begins the sentence: `orders was not restored`. */
export function notifyFailure(what: string, error: unknown): void {
  const { message, requestId } = describeFailure(error);
  notify(`${what}: ${message}${requestId ? ` (request ${requestId})` : ''}`, undefined, 'failed');
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Stands once on the page, so that what comes is read out. */
export const ToastLayer = () => (
  <section aria-label="Notes" role="status">
    <Suspense fallback={null}>{useSyncExternalStore(subscribe, () => isUsed) && <Layer />}</Suspense>
  </section>
);
