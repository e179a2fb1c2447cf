import { promisify } from 'node:util';
import { defaulted, optional, required, table, tagged, type Values } from '../config/options.ts';
import { refusal } from '../config/refusals.ts';
import { either, refined, text, variants } from '../config/shape.ts';
import { delimiter } from '../sources/framing.ts';
import { type Encode, encoderOf, encoding } from './encoding.ts';
import type { EventGroup } from './event-batcher.ts';

/** Makes the body of a request. */
export interface Payload {
  contentType: string | undefined;
  contentEncoding: string | undefined;
  build(group: EventGroup): Promise<Buffer<ArrayBuffer>>;
}

type Framing = { method: 'bytes' } | { method: 'delimited'; delimiter: string };
type Kind = 'json' | 'text';

const algorithm = variants({ gzip: 'By gzip.', none: 'As it is.' }, ['snappy', 'zlib', 'zstd']);
const compression = refined(
  either(
    algorithm,
    table({ algorithm: defaulted(algorithm, 'none', 'How to compress.') }, { lacking: ['level'] }),
    'vector::sinks::util::buffer::compression::Compression',
  ),
  (value) => (typeof value === 'string' ? value : value.algorithm),
);

const methods = tagged(
  'method',
  {
    bytes: { about: 'Nothing stands between events.', options: {} },
    newline_delimited: { about: 'Each event is a line.', options: {} },
    character_delimited: {
      about: 'A character stands between events.',
      options: {
        character_delimited: required(
          table(
            { delimiter: required(delimiter, 'The character.', { examples: [','] }) },
            { ignoresUnknown: true },
          ),
          'Details of this method.',
        ),
      },
    },
  },
  {
    about: 'What stands between events.',
    ignoresUnknown: true,
    lacking: ['length_delimited', 'max_frame_length'],
    lackingCases: ['length_delimited', 'varint_length_delimited'],
  },
);

const framing = refined(methods, (read): Framing => {
  if (read.method === 'bytes') return { method: 'bytes' };
  if (read.method === 'newline_delimited') return { method: 'delimited', delimiter: '\n' };
  return { method: 'delimited', delimiter: read.character_delimited.delimiter };
});

export const PAYLOAD = {
  encoding,
  framing: optional(
    framing,
    'What stands between the events of a request. JSON is sent as an array by itself.',
    {
      advanced: true,
    },
  ),
  payload_prefix: defaulted(text, '', 'What stands before the events of a request.', {
    examples: ['{"data":'],
    advanced: true,
  }),
  payload_suffix: defaulted(text, '', 'What stands after the events of a request.', {
    examples: ['}'],
    advanced: true,
  }),
  compression: defaulted(compression, 'none', 'How the body is compressed.'),
};

export function payloadOf(options: Values<typeof PAYLOAD>, messageKey: string, path: string): Payload {
  const encode = encoderOf(options.encoding, messageKey);
  const { codec } = options.encoding;
  const kind: Kind = codec === 'text' ? 'text' : 'json';
  const cut = options.framing ?? defaultFraming(codec);
  const wrap = { prefix: options.payload_prefix, suffix: options.payload_suffix };
  if (isJsonArray(kind, cut) && !isJson(`${wrap.prefix}{}${wrap.suffix}`)) {
    throw refusal('Payload prefix and suffix wrapper must produce a valid JSON object.', path);
  }
  return {
    contentType: contentTypeOf(kind, cut),
    contentEncoding: options.compression === 'none' ? undefined : options.compression,
    build: (group) => {
      const body = Buffer.from(frame(linesOf(group, encode), kind, cut, wrap));
      return options.compression === 'none' ? Promise.resolve(body) : gzip(body);
    },
  };
}

/** JSON events travel as one array, others a line each. */
function defaultFraming(codec: string): Framing {
  return { method: 'delimited', delimiter: codec === 'json' ? ',' : '\n' };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
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
