/**
 * Runs a transform on events and returns what leaves it. Events that go through several transforms keep which of their fields are
 * times, and their metadata (`%`): the compiler at hand gives both back as plain JSON only when a program says so itself.
 */
import type { Vrl } from '../vrl/vrl-test.ts';
import { vrlView } from '../vrl/vrl-view.ts';
import { checkPrograms, Ended, left, type PlayedTransform } from './play-case.ts';
import type { Step } from './transform-step.ts';

export interface TypedEvent {
  event: Record<string, unknown>;
  /** Fields that hold a time, of which JSON has the text. Those inside of other fields are not known. */
  times: readonly string[];
  meta: Record<string, unknown>;
}

export interface EventRun {
  /** By the name of the output; null is the one without. */
  outputs: { port: string | null; events: TypedEvent[] }[];
  /** Why the event did not come, or came as it was. */
  note: string | null;
}

export type TransformRun =
  | { status: 'done'; events: EventRun[] }
  /** It cannot be run here. */
  | { status: 'unknown'; reason: string };

/** Carries what JSON has not. */
const CARRIER = 'headgate_replay';

const LOAD = `headgate_meta = object(del(.${CARRIER})) ?? {}\n% = headgate_meta\n`;
const STORE = `
headgate_event = get({"e": .}, ["e"]) ?? null
if is_object(headgate_event) {
  headgate_times = []
  for_each(object(headgate_event) ?? {}) -> |headgate_key, headgate_value| {
    if is_timestamp(headgate_value) { headgate_times = push(headgate_times, headgate_key) }
  }
  .${CARRIER} = {"times": headgate_times, "meta": %}
}
`;

export function runTransform(vrl: Vrl, played: PlayedTransform, events: readonly TypedEvent[]): TransformRun {
  try {
    checkPrograms(vrl, played.step);
    return { status: 'done', events: events.map((event) => runOne(vrl, played, event)) };
  } catch (error) {
    if (error instanceof Ended) return { status: 'unknown', reason: error.message };
    throw error;
  }
}

function runOne(vrl: Vrl, played: PlayedTransform, typed: TypedEvent): EventRun {
  const event = { ...typed.event, [CARRIER]: typed.meta };
  const step = withTypes(vrl, played.step, typed);
  const { outputs, notes } = left(vrl, { ...played, step }, [event], null);
  return {
    outputs: [...outputs].map(([port, made]) => ({
      port: port === '' ? null : port,
      events: made.map((one) => unwrapped(one, typed)),
    })),
    note: notes[0] ?? null,
  };
}

function withTypes(vrl: Vrl, step: Step, { times }: TypedEvent): Step {
  const load = LOAD + times.map(asTime).join('');
  switch (step.type) {
    case 'filter':
      return { ...step, condition: load + step.condition };
    case 'route':
      return {
        ...step,
        routes: step.routes.map(({ name, condition }) => ({ name, condition: load + condition })),
      };
    case 'remap': {
      const source = `${load}${step.source}\n${STORE}`;
      // A program whose event is always a list takes no field; the types of its events are lost.
      const isTaken = vrl.check(vrlView(source).text).errors.length === 0;
      return { ...step, source: isTaken ? source : `${load}${step.source}` };
    }
  }
}

/** The engine replaces `$` in programs; `$$` is one. */
function asTime(name: string): string {
  const field = `."${name.replaceAll(/["\\]/g, '\\$&').replaceAll('$', '$$$$')}"`;
  return `${field} = parse_timestamp(string(${field}) ?? "", "%+") ?? ${field}\n`;
}

function unwrapped(made: unknown, before: TypedEvent): TypedEvent {
  const { [CARRIER]: carried, ...event } = made as Record<string, unknown>;
  const { times, meta } = (carried ?? {}) as { times?: unknown; meta?: unknown };
  // As it came in: a condition changes nothing, nor does a program that failed.
  if (!Array.isArray(times))
    return { event, times: before.times.filter((name) => name in event), meta: before.meta };
  return { event, times: times as string[], meta: (meta ?? {}) as Record<string, unknown> };
}
