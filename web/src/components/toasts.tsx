/** Short notes about what was just done, with a way back where there is one. */
import { useSyncExternalStore } from 'react';
import { describeFailure } from '../api/client.ts';
import { Badge, type Tone } from './bits.tsx';
import { Icon } from './icons.tsx';

interface Toast {
  id: number;
  tone: Tone;
  text: string;
  action?: { word: string; run: () => void };
}

/** What can be undone stays as long as somebody needs to read it and to reach it. */
const SHOWN_MS = 8_000;
const SHOWN_WITH_ACTION_MS = 30_000;
const MAX_SHOWN = 3;

let toasts: readonly Toast[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

const drop = (id: number): void => set(toasts.filter((toast) => toast.id !== id));

/** Says that something was done; `action` takes it back or leads on. */
export function notify(text: string, action?: Toast['action'], tone: Tone = 'ok'): void {
  const id = nextId++;
  set([...toasts, { id, tone, text, action }].slice(-MAX_SHOWN));
  setTimeout(() => drop(id), action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
}

/** Says why something that has no dialog of its own failed. `what` begins the sentence: `orders was not restored`. */
export function notifyFailure(what: string, error: unknown): void {
  const { message, requestId } = describeFailure(error);
  notify(`${what}: ${message}${requestId ? ` (request ${requestId})` : ''}`, undefined, 'failed');
}

/** Stands once on the page; what comes is read out. */
export const ToastLayer = () => {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <section className="toasts" aria-label="Notes" role="status">
      {shown.map(({ id, tone, text, action }) => (
        <div key={id} className="toast">
          <Badge tone={tone}>{tone === 'failed' ? 'Failed' : 'Done'}</Badge>
          <span className="toast-text">{text}</span>
          {action && (
            <button
              type="button"
              className="button"
              data-size="small"
              onClick={() => {
                drop(id);
                action.run();
              }}
            >
              {action.word}
            </button>
          )}
          <button type="button" className="icon-button" aria-label="Close the note" onClick={() => drop(id)}>
            <Icon name="cross" size={12} />
          </button>
        </div>
      ))}
    </section>
  );
};
