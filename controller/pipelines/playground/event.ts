/** Validates a test event that a user typed. */
import { MAX_EVENT_BYTES } from '../../../schemas/api/pipelines/engine.ts';
import { badRequest, type DomainError, messageOf } from '../../platform/operation/errors.ts';

const EXAMPLE = 'write one object, for example {"message": "hello", "status": 200}';
/** VRL reads no deeper. */
const MAX_DEPTH = 64;

/** Accepts the JSON of one object; the error names the position of the fault. */
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
    throw faultAt(text, text.search(/\S/), `input is ${kind} and not an object`);
  }
  if (isDeeper(value, MAX_DEPTH)) throw badRequest(`input is nested more than ${MAX_DEPTH} levels deep`);
}

function notJson(text: string, message: string): DomainError {
  const reason = message.replace(
    / in JSON at position.*$|, (?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/s,
    '',
  );
  return faultAt(text, faultOffset(text), `input is not JSON: ${reason.slice(0, 200)}`);
}

/** The offset where the text stops being a prefix of valid JSON. The parser does not always report it. */
function faultOffset(text: string): number {
  if (isJsonPrefix(text)) return text.length;
  let [good, bad] = [0, text.length];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isJsonPrefix(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return bad - 1;
}

/** Whether a text is JSON, or a beginning of JSON. */
function isJsonPrefix(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const message = messageOf(error);
    const position = /at position (\d+)/.exec(message);
    return position
      ? Number(position[1]) >= text.length || message.startsWith('Unterminated')
      : /end of JSON/.test(message);
  }
}

function faultAt(text: string, offset: number, problem: string): DomainError {
  const before = text.slice(0, Math.max(0, offset));
  const line = before.split('\n').length;
  const column = before.length - before.lastIndexOf('\n');
  return badRequest(`${problem} (line ${line}, column ${column}); ${EXAMPLE}`, { line, column });
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}
