import { LIMITS } from '../limits.ts';

/** Puts something harmless in the place of secret values. */
export type Blank = (text: string) => string;

const MOST_DEPTH = 64;
const KINDS = new Set(['log', 'metric', 'trace']);

/** Bytes of a line of `tap`: what the longest event may take in UTF-8, its wrapper, and the spaces of a wordy engine. */
export const EVENT_LINE_BYTES = LIMITS.samples.eventChars * 3 + 4_096;

/** An event that may leave the node; `whole` tells one from a text in its place. */
export interface ReadEvent {
  event: unknown;
  /** The event as JSON. */
  text: string;
  whole: boolean;
}

/**
 * One line of the engine's `tap`. `wrapped` where the engine puts each event under the name of its kind. Undefined for
 * what is no event.
 */
export function readEvent(line: string, cut: boolean, wrapped: boolean, blank: Blank): ReadEvent | undefined {
  if (cut) return inPlace(`an event of more than ${EVENT_LINE_BYTES} bytes was left out`);
  let event: unknown;
  let text: string;
  const found = { secrets: 0 };
  try {
    const value: unknown = JSON.parse(line);
    event = clean(wrapped ? unwrap(value) : value, blank, found, 0);
    text = JSON.stringify(event);
  } catch {
    // What is no JSON is a message of the engine, or nested so deep that nobody would read it.
    return undefined;
  }
  // A number of many digits loses some when it is read, so that the secret is not found in it.
  if (found.secrets === 0 && blank(line) !== line)
    return inPlace('an event with the value of a secret was left out');
  if (text.length <= LIMITS.samples.eventChars) return { event, text, whole: true };
  return inPlace(
    `an event of ${text.length} characters was left out: ${LIMITS.samples.eventChars} are shown at most`,
  );
}

export function inPlace(message: string): ReadEvent {
  return { event: message, text: JSON.stringify(message), whole: false };
}

function unwrap(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const [entry, ...others] = Object.entries(value);
  return entry && others.length === 0 && KINDS.has(entry[0]) && typeof entry[1] === 'object'
    ? entry[1]
    : value;
}

/** Without secrets, and without the characters that databases refuse. */
function clean(value: unknown, blank: Blank, found: { secrets: number }, depth: number): unknown {
  if (typeof value === 'string') return cleanText(value, blank, found);
  if (typeof value === 'number') {
    const text = String(value);
    return blank(text) === text ? value : cleanText(text, blank, found);
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MOST_DEPTH) return '…';
  if (Array.isArray(value)) return value.map((item) => clean(item, blank, found, depth + 1));
  // Makes an own property even of `__proto__`.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      cleanText(key, blank, found),
      clean(item, blank, found, depth + 1),
    ]),
  );
}

function cleanText(text: string, blank: Blank, found: { secrets: number }): string {
  const blanked = blank(text);
  if (blanked !== text) found.secrets += 1;
  return blanked.replaceAll('\0', '\uFFFD').toWellFormed();
}
