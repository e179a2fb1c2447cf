import { type FocusEvent, type KeyboardEvent, useState } from 'react';
import { EventRow } from './event-row.tsx';
import type { ShownEvent } from './tap-buffer.ts';

interface Props {
  label: string;
  events: readonly ShownEvent[];
  unfolded?: 'first' | 'none';
  onUnfold?: () => void;
}

/** Events one below the other. The arrow keys go from row to row, so that a list of hundreds is one stop. */
export const EventList = ({ label, events, unfolded = 'none', onUnfold }: Props) => {
  const [current, setCurrent] = useState(-1);
  const reachable = events.some(({ id }) => id === current) ? current : events.at(-1)?.id;
  return (
    <ol
      className="events"
      aria-label={label}
      onKeyDown={walkRows}
      onFocus={(event) => setCurrent(idOf(event))}
    >
      {events.map((shown, index) => (
        <li key={shown.id} className="event" data-id={shown.id}>
          <EventRow
            shown={shown}
            number={shown.id + 1}
            unfolded={unfolded === 'first' && index === 0}
            reachable={shown.id === reachable}
            onUnfold={onUnfold}
          />
        </li>
      ))}
    </ol>
  );
};

const idOf = ({ target }: FocusEvent): number =>
  Number(target.closest<HTMLElement>('.event')?.dataset.id ?? -1);

/** To the same button in the row above or below. */
function walkRows(event: KeyboardEvent<HTMLOListElement>): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const { target } = event;
  const head = target instanceof Element ? target.closest('.event-head') : null;
  if (step === 0 || !head) return;
  const row = head.closest('.event');
  const next = step > 0 ? row?.nextElementSibling : row?.previousElementSibling;
  event.preventDefault();
  const buttons = [...head.querySelectorAll<HTMLElement>('.log-button')];
  const at = buttons.findIndex((button) => target instanceof Element && button.contains(target));
  next?.querySelectorAll<HTMLElement>('.event-head .log-button')[Math.max(at, 0)]?.focus();
}
