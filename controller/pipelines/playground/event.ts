/** A test event, as somebody types it. */
import { MAX_EVENT_BYTES } from '../../../schemas/api/engine.ts';
import { badRequest, type DomainError, messageOf } from '../../platform/operation/errors.ts';

const EXAMPLE = 'write one object, for example {"message": "hello", "status": 200}';
/** VRL reads no deeper. */
const MAX_DEPTH = 64;

/** Refuses what is not the JSON of one object, with the place where it goes wrong. */
export function checkEvent(text: string): void {
  if (Buffer.byteLength(text) > MAX_EVENT_BYTES) {
    throw badRequest(`input is larger than ${MAX_EVENT_BYTES / 1024} KiB; leave fields out of the event`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw notJson(text, messageOf(error));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const kind = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
    throw at(text, text.search(/\S/), `input is ${kind} and not an object`);
  }
  if (isDeeper(value, MAX_DEPTH)) throw badRequest(`input is nested more than ${MAX_DEPTH} levels deep`);
}

function notJson(text: string, message: string): DomainError {
  const reason = message.replace(
    / in JSON at position.*$|, (?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/s,
    '',
  );
  return at(text, faultOffset(text), `input is not JSON: ${reason.slice(0, 200)}`);
}

/** Where the text stops being the beginning of some JSON. The parser itself does not always say. */
function faultOffset(text: string): number {
  if (mayGoOn(text)) return text.length;
  let [good, bad] = [0, text.length];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (mayGoOn(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return bad - 1;
}

/** Whether a text is JSON, or lacks no more than its end. */
function mayGoOn(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const message = messageOf(error);
    const at = /at position (\d+)/.exec(message);
    return at
      ? Number(at[1]) >= text.length || message.startsWith('Unterminated')
      : /end of JSON/.test(message);
  }
}

function at(text: string, offset: number, problem: string): DomainError {
  const before = text.slice(0, Math.max(0, offset));
  const line = before.split('\n').length;
  const column = before.length - before.lastIndexOf('\n');
  return badRequest(`${problem} (line ${line}, column ${column}); ${EXAMPLE}`, { line, column });
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}
