import type { Globals, Source } from '../component.ts';
import { type Address, addressText, parseAddress } from '../config/globals.ts';
import type { OptionReader } from '../config/option-reader.ts';
import { type Decode, jsonDecoder, readDecoding, textDecoder } from './decoding.ts';
import { type Framing, LINES, readFraming } from './framing.ts';
import { HttpReceiver, segmentsOf } from './http-receiver.ts';

const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'] as const;
const ENCODINGS = ['binary', 'json', 'ndjson', 'text'] as const;

export interface HttpServerOptions {
  address: Address;
  method: (typeof METHODS)[number];
  /** The names between the slashes. */
  path: string[];
  strictPath: boolean;
  /** Names of fields; empty adds none. */
  pathKey: string;
  hostKey: string;
  /** Names or patterns with `*`. */
  headers: string[];
  queryParameters: string[];
  responseCode: number;
  framing: Framing;
  decode: Decode;
  /** The whole value of the `authorization` header. */
  authorization: string | undefined;
}

/** `http_server`: takes events by HTTP requests, and answers when they are on their way to the next component. */
export function configureHttpServer(options: OptionReader, globals: Globals): Source {
  options.unsupported('tls', 'keepalive', 'log_namespace');
  const read: HttpServerOptions = {
    address: parseAddress(options.requiredString('address'), options.path),
    method: options.oneOf('method', METHODS, 'POST'),
    path: segmentsOf(options.string('path') ?? '/'),
    strictPath: options.boolean('strict_path', true),
    pathKey: options.string('path_key') ?? 'path',
    hostKey: options.string('host_key') ?? '',
    headers: options.strings('headers') ?? [],
    queryParameters: options.strings('query_parameters') ?? [],
    responseCode: options.integer('response_code', 200, 200),
    ...readCodec(options, globals),
    authorization: readAuthorization(options),
  };
  if (read.responseCode > 599) options.fail('`response_code` must be a status between 200 and 599');
  options.finish();
  return {
    output: 'log',
    resources: read.address.port === 0 ? [] : [`tcp ${addressText(read.address)}`],
    run: (context) => new HttpReceiver(read, context).run(),
  };
}

/** `encoding` is the older way to say what `framing` and `decoding` say. */
function readCodec(options: OptionReader, globals: Globals): { framing: Framing; decode: Decode } {
  const message = globals.logSchema.message;
  if (!options.has('encoding')) {
    return { framing: readFraming(options) ?? LINES, decode: readDecoding(options, message) };
  }
  if (options.has('framing') || options.has('decoding')) {
    options.fail(
      'Using `encoding` is deprecated and does not have any effect when `decoding` or `framing` is provided. Configure `framing` and `decoding` instead.',
    );
  }
  const encoding = options.oneOf('encoding', ENCODINGS);
  return {
    framing: encoding === 'text' || encoding === 'ndjson' ? LINES : { method: 'bytes' },
    decode: encoding === 'json' || encoding === 'ndjson' ? jsonDecoder() : textDecoder(message),
  };
}

function readAuthorization(options: OptionReader): string | undefined {
  if (!options.has('auth')) return undefined;
  const auth = options.nested('auth');
  auth.oneOf('strategy', ['basic'], 'basic');
  const credentials = `${auth.requiredString('username')}:${auth.requiredString('password')}`;
  auth.finish();
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}
