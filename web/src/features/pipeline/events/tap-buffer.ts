/** The events of a live tap that a page holds, oldest first. */

export interface ShownEvent {
  id: number;
  event: unknown;
  /** As JSON in one line. */
  text: string;
}

export interface TapBuffer {
  readonly events: readonly ShownEvent[];
  /** What came while the reader held the list still: it is shown when he lets go. */
  readonly waiting: readonly ShownEvent[];
  /** How many came while it was held, also those that are no longer kept. */
  readonly unseen: number;
  /** Since the start, with those that are no longer kept. */
  readonly seen: number;
  /** Left out on their way, since there were too many. */
  readonly dropped: number;
  /** Moments and counts of the last seconds, for the rate. */
  readonly marks: readonly { at: number; count: number }[];
}

export const EMPTY_TAP: TapBuffer = { events: [], waiting: [], unseen: 0, seen: 0, dropped: 0, marks: [] };

/** A page keeps this many; older ones go. */
export const MAX_EVENTS = 500;
const RATE_MS = 5_000;
const SECOND_MS = 1_000;

const newest = (events: readonly ShownEvent[]): readonly ShownEvent[] =>
  events.length > MAX_EVENTS ? events.slice(-MAX_EVENTS) : events;

/** `at`: milliseconds of a clock that does not jump. `holding`: the list stands still. */
export function withEvents(
  buffer: TapBuffer,
  came: { events: readonly unknown[]; dropped: number },
  { at, holding }: { at: number; holding: boolean },
): TapBuffer {
  const added = came.events.map(
    (event, index): ShownEvent => ({
      id: buffer.seen + index,
      event,
      text: JSON.stringify(event) ?? 'null',
    }),
  );
  const total = added.length + came.dropped;
  return {
    events: holding ? buffer.events : newest([...buffer.events, ...added]),
    waiting: holding ? newest([...buffer.waiting, ...added]) : buffer.waiting,
    unseen: holding ? buffer.unseen + added.length : buffer.unseen,
    seen: buffer.seen + added.length,
    dropped: buffer.dropped + came.dropped,
    marks: [...buffer.marks.filter((mark) => mark.at > at - RATE_MS), { at, count: total }],
  };
}

/** The list goes on with what has waited. */
export const released = (buffer: TapBuffer): TapBuffer =>
  buffer.unseen === 0
    ? buffer
    : { ...buffer, events: newest([...buffer.events, ...buffer.waiting]), waiting: [], unseen: 0 };

export const cleared = (buffer: TapBuffer): TapBuffer => ({ ...buffer, events: [], waiting: [], unseen: 0 });

/** Events a second that pass on the node, with those that were left out. */
export function rateOf({ marks }: TapBuffer, at: number, startedAt: number): number {
  const inWindow = marks.filter((mark) => mark.at > at - RATE_MS);
  const count = inWindow.reduce((sum, mark) => sum + mark.count, 0);
  const windowMs = Math.min(RATE_MS, Math.max(SECOND_MS, at - startedAt));
  return (count * SECOND_MS) / windowMs;
}
