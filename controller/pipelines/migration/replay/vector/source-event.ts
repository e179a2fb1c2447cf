/** The event that a source of Vector makes of a line, for the sources that read text or records. vector.dev/docs/reference. */
import { isRecord } from '../../../../platform/text/is-record.ts';
import { parseJsonRecord } from '../../../../platform/text/json-record.ts';
import type { TypedEvent } from '../../../engine/index.ts';
import type { TranslatedComponent } from '../../translation.ts';

export interface SourceLine {
  line: string;
  /** The tag of its event, for sources whose events bring it. */
  tag: string;
  /** Milliseconds since 1970. */
  now: number;
}

/** The event; a program that the event still goes through, where the source itself parses; or why it is not known here. */
export type SourceEvent = { event: TypedEvent; program: string | null } | { unknown: string };

/** The sender is known by its address. */
const HOST = '127.0.0.1';
const RECORDS: ReadonlySet<string> = new Set(['fluent']);
const SYSLOG = '. |= parse_syslog!(string!(.message))';

export function sourceEvent(
  { componentType: type, config }: TranslatedComponent,
  { line, tag, now }: SourceLine,
): SourceEvent {
  /** What the source adds; fields of the event's own stay where it only fills in. */
  const made = (fields: Record<string, unknown>, program: string | null = null): SourceEvent => {
    const added = { source_type: type, timestamp: new Date(now).toISOString() };
    const host = fields.host === undefined && type !== 'http_server' ? { host: HOST } : {};
    const times = fields.timestamp === undefined ? ['timestamp'] : [];
    return { event: { event: { ...added, ...host, ...fields }, times, meta: {} }, program };
  };
  if (RECORDS.has(type)) {
    const record = parseJsonRecord(line);
    return record ? made({ tag, ...record }) : { unknown: 'the line is no JSON object' };
  }
  switch (type) {
    case 'file':
      return made({ message: line, file: pathOf(config) });
    case 'socket':
    case 'stdin':
    case 'exec':
    case 'file_descriptor':
      return decoded(config, line, made);
    case 'http_server':
      return decoded(config, line, (fields) => made(ofRequest(config, fields, tag)));
    case 'syslog':
      return made({ message: line, source_ip: '127.0.0.1' }, SYSLOG);
    default:
      return { unknown: `a source of type ${type} reads no text here` };
  }
}

function decoded(
  config: Record<string, unknown>,
  line: string,
  made: (fields: Record<string, unknown>, program?: string | null) => SourceEvent,
): SourceEvent {
  const codec = isRecord(config.decoding) ? config.decoding.codec : undefined;
  if (codec === undefined || codec === 'bytes') return made({ message: line });
  if (codec === 'json') {
    const record = parseJsonRecord(line);
    return record ? made(record) : { unknown: 'the line is no JSON object' };
  }
  if (codec === 'syslog') return made({ message: line }, SYSLOG);
  return { unknown: `the codec ${String(codec)} runs in the engine only` };
}

/** The address replaces a field of its name; the path only fills in. */
const ofRequest = (config: Record<string, unknown>, fields: Record<string, unknown>, tag: string) => ({
  [textOf(config.path_key) ?? 'path']: `/${tag.replaceAll('.', '/')}`,
  ...fields,
  ...(textOf(config.host_key) === null ? {} : { [String(config.host_key)]: HOST }),
});

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** A pattern stands for one of its files. */
function pathOf({ include }: Record<string, unknown>): string {
  const first: unknown = Array.isArray(include) ? include[0] : include;
  return typeof first === 'string' ? first.replaceAll('**', 'any').replaceAll('*', 'any') : '/any';
}
