import type { LogSchema } from '../component.ts';
import { defaulted, optional, table, type Values } from '../config/options.ts';
import { flag, variants } from '../config/shape.ts';
import { isTable } from '../config/table.ts';
import type { LogEvent, Timestamp } from '../event.ts';

/** Levels of nesting, as in Vector's parser. */
const MAX_DEPTH = 127;

/** Makes events of one frame. Throws DecodeError, whose text never quotes the frame. */
export type Decode = (frame: Buffer) => LogEvent[];

export class DecodeError extends Error {}

const LACKING = ['avro', 'gelf', 'influxdb', 'native', 'native_json', 'otlp', 'protobuf', 'syslog', 'vrl'];

const OPTIONS = {
  codec: defaulted(
    variants({ bytes: "The frame is the event's message.", json: 'The frame is an event as JSON.' }, LACKING),
    'bytes',
    'What a frame holds.',
  ),
  json: defaulted(
    table(
      { lossy: defaulted(flag, true, 'Replaces bytes that are no UTF-8, instead of refusing the frame.') },
      { ignoresUnknown: true },
    ),
    {},
    'Details of the codec `json`.',
    { advanced: true },
  ),
};

export const decoding = optional(
  table(OPTIONS, { name: 'codecs::decoding::DeserializerConfig', lacking: LACKING, ignoresUnknown: true }),
  'How events are made of frames.',
);

/** Without options, a frame is taken as a log's message. */
export function decoderOf(options: Values<typeof OPTIONS> | undefined, messageKey: string): Decode {
  return options?.codec === 'json' ? jsonDecoder(options.json.lossy) : textDecoder(messageKey);
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
