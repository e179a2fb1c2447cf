import { promisify } from 'node:util';
import type { OptionReader } from '../config/option-reader.ts';
import { type Encode, readEncoding } from './encoding.ts';
import type { EventGroup } from './event-batcher.ts';

/** Makes the body of a request. */
export interface Payload {
  contentType: string | undefined;
  contentEncoding: string | undefined;
  build(group: EventGroup): Promise<Buffer<ArrayBuffer>>;
}

type Framing = { method: 'bytes' } | { method: 'delimited'; delimiter: string };
type Kind = 'json' | 'text';

const COMPRESSIONS = ['gzip', 'none'] as const;

/** Reads `encoding`, `framing`, `compression` and the payload's wrapper. */
export function readPayload(options: OptionReader, messageKey: string): Payload {
  const encode = readEncoding(options, messageKey);
  const codec = options.nested('encoding').string('codec');
  const kind: Kind = codec === 'text' ? 'text' : 'json';
  const framing = readFraming(options) ?? defaultFraming(codec);
  const compression = readCompression(options);
  const wrap = readWrapper(options, kind, framing);
  return {
    contentType: contentTypeOf(kind, framing),
    contentEncoding: compression === 'none' ? undefined : compression,
    build: (group) => {
      const body = Buffer.from(frame(linesOf(group, encode), kind, framing, wrap));
      return compression === 'none' ? Promise.resolve(body) : gzip(body);
    },
  };
}

/** JSON events travel as one array, others a line each. */
function defaultFraming(codec: string | undefined): Framing {
  return { method: 'delimited', delimiter: codec === 'json' ? ',' : '\n' };
}

function readFraming(options: OptionReader): Framing | undefined {
  if (!options.has('framing')) return undefined;
  const framing = options.nested('framing');
  framing.unsupported('length_delimited', 'max_frame_length');
  const method = framing.oneOf('method', ['bytes', 'character_delimited', 'newline_delimited']);
  let read: Framing = method === 'bytes' ? { method } : { method: 'delimited', delimiter: '\n' };
  if (method === 'character_delimited') {
    const details = framing.nested('character_delimited');
    const delimiter = details.requiredString('delimiter');
    if (delimiter.length !== 1 || delimiter.charCodeAt(0) > 127) {
      details.fail('`delimiter` must be one ASCII character');
    }
    details.finish();
    read = { method: 'delimited', delimiter };
  }
  framing.finish();
  return read;
}

function readCompression(options: OptionReader): (typeof COMPRESSIONS)[number] {
  if (typeof options.raw('compression') === 'string') return options.oneOf('compression', COMPRESSIONS);
  const compression = options.nested('compression');
  const algorithm = compression.oneOf('algorithm', COMPRESSIONS, 'none');
  compression.unsupported('level');
  compression.finish();
  return algorithm;
}

function readWrapper(
  options: OptionReader,
  kind: Kind,
  framing: Framing,
): { prefix: string; suffix: string } {
  const wrap = {
    prefix: options.string('payload_prefix') ?? '',
    suffix: options.string('payload_suffix') ?? '',
  };
  if (!isJsonArray(kind, framing)) return wrap;
  try {
    JSON.parse(`${wrap.prefix}{}${wrap.suffix}`);
  } catch {
    options.fail('Payload prefix and suffix wrapper must produce a valid JSON object.');
  }
  return wrap;
}

function contentTypeOf(kind: Kind, framing: Framing): string | undefined {
  if (kind === 'text') return 'text/plain';
  if (isJsonArray(kind, framing)) return 'application/json';
  return framing.method === 'delimited' && framing.delimiter === '\n' ? 'application/x-ndjson' : undefined;
}

function isJsonArray(kind: Kind, framing: Framing): boolean {
  return kind === 'json' && framing.method === 'delimited' && framing.delimiter === ',';
}

function linesOf(group: EventGroup, encode: Encode): string[] {
  return group.parts.flatMap((batch) => batch.events.map((_event, index) => encode(batch, index)));
}

function frame(
  lines: string[],
  kind: Kind,
  framing: Framing,
  wrap: { prefix: string; suffix: string },
): string {
  if (framing.method === 'bytes') return lines.join('');
  const text = lines.join(framing.delimiter);
  if (isJsonArray(kind, framing)) return `${wrap.prefix}[${text}]${wrap.suffix}`;
  // Every frame has its delimiter, but for the last of JSON lines.
  return kind === 'json' && framing.delimiter === '\n' ? text : text + framing.delimiter;
}

async function gzip(body: Buffer): Promise<Buffer<ArrayBuffer>> {
  const zlib = await import('node:zlib');
  return promisify(zlib.gzip)(body);
}
