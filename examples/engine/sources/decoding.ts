import type { LogSchema } from '../component.ts';
import { isTable, type OptionReader } from '../config/option-reader.ts';
import type { LogEvent, Timestamp } from '../event.ts';

const CODECS = ['bytes', 'json'] as const;
/** Levels of nesting, as in Vector's parser. */
const MAX_DEPTH = 127;

/** Makes events of one frame. Throws DecodeError, whose text never quotes the frame. */
export type Decode = (frame: Buffer) => LogEvent[];

export class DecodeError extends Error {}

/** Reads `decoding: {codec}`. `bytes`, the default, takes a frame as a log's message. */
export function readDecoding(options: OptionReader, messageKey: string): Decode {
  const decoding = options.nested('decoding');
  const codec = decoding.oneOf('codec', CODECS, 'bytes');
  const json = decoding.nested('json');
  const lossy = json.boolean('lossy', true);
  json.finish();
  decoding.finish();
  return codec === 'json' ? jsonDecoder(lossy) : textDecoder(messageKey);
}

export function textDecoder(messageKey: string): Decode {
  return (frame) => [{ [messageKey]: frame.toString('utf8') }];
}

/** An array at the top gives an event for each of its objects; an empty frame gives none. */
export function jsonDecoder(lossy = true): Decode {
  const strict = new TextDecoder('utf-8', { fatal: true });
  return (frame) => {
    if (frame.length === 0) return [];
    let value: unknown;
    try {
      value = JSON.parse(lossy ? frame.toString('utf8') : strict.decode(frame));
    } catch {
      throw new DecodeError('Error parsing JSON: the text is not JSON');
    }
    if (isDeeper(value, MAX_DEPTH)) throw new DecodeError('Error parsing JSON: recursion limit exceeded');
    const items: unknown[] = Array.isArray(value) ? value : [value];
    const events = items.filter(isTable);
    if (events.length < items.length)
      throw new DecodeError('Attempted to convert non-Object JSON into an Event');
    return events;
  };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}

/** Sets a field that the event does not have; one that is null is had. */
export function insertMissing(event: LogEvent, name: string, value: unknown): void {
  if (!Object.hasOwn(event, name)) event[name] = value;
}

/** Adds what every event of a source has, where the event does not bring it itself. */
export function addSourceFields(event: LogEvent, keys: LogSchema, type: string, time: Timestamp): void {
  insertMissing(event, keys.sourceType, type);
  insertMissing(event, keys.timestamp, time);
}
