import { component, type Source } from '../component.ts';
import { type Address, address, addressText } from '../config/address.ts';
import { defaulted, optional, required, tagged, type Values } from '../config/options.ts';
import { refusal } from '../config/refusals.ts';
import { flag, integer, list, sensitiveText, text, variants } from '../config/shape.ts';
import { type Decode, decoderOf, decoding, jsonDecoder, textDecoder } from './decoding.ts';
import { type Framing, framing, LINES } from './framing.ts';
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

const credentials = tagged(
  'strategy',
  {
    basic: {
      about: 'A name and a password with each request.',
      options: {
        username: required(text, 'The name.'),
        password: required(sensitiveText, 'The password.'),
      },
    },
  },
  { about: 'How clients say who they are.', fallback: 'basic', lackingCases: ['custom'] },
);

const OPTIONS = {
  address: required(address, 'The IP address and port to listen on.', {
    examples: ['0.0.0.0:80', '[::]:8080'],
  }),
  path: defaulted(text, '/', 'The path that events are sent to.', { examples: ['/events'] }),
  strict_path: defaulted(flag, true, 'Takes exactly this path, and not those below it.'),
  method: defaulted(variants(METHODS), 'POST', 'The method of the requests.'),
  encoding: optional(variants(ENCODINGS), 'What a body holds.', {
    deprecated: 'Use `framing` and `decoding` instead.',
    advanced: true,
  }),
  framing,
  decoding,
  headers: defaulted(list(text), [], 'Headers to put into events, as names or patterns with `*`.', {
    examples: [['User-Agent', 'X-*']],
  }),
  query_parameters: defaulted(
    list(text),
    [],
    'Parameters to put into events, as names or patterns with `*`.',
    {
      examples: [['application', 'source']],
    },
  ),
  path_key: defaulted(text, 'path', 'The field for the path of the request. An empty one adds none.'),
  host_key: defaulted(text, '', "The field for the sender's address. An empty one adds none.", {
    examples: ['hostname'],
  }),
  auth: optional(credentials, 'What clients must bring with each request.'),
  response_code: defaulted(
    integer({ minimum: 200, maximum: 599 }),
    200,
    'The status that says that events were taken.',
    { examples: [202] },
  ),
};

export const httpServer = component({
  title: 'HTTP Server',
  about: 'Takes events by HTTP requests, and answers when they are on their way to the next component.',
  options: OPTIONS,
  lacking: ['tls', 'keepalive', 'log_namespace'],
  ignoresUnknown: true,
  configure(values, { logSchema }, path): Source {
    const { auth } = values;
    const read: HttpServerOptions = {
      address: values.address,
      method: values.method,
      path: segmentsOf(values.path),
      strictPath: values.strict_path,
      pathKey: values.path_key,
      hostKey: values.host_key,
      headers: values.headers,
      queryParameters: values.query_parameters,
      responseCode: values.response_code,
      ...codecOf(values, logSchema.message, path),
      authorization: auth && `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`,
    };
    return {
      output: 'log',
      resources: read.address.port === 0 ? [] : [`tcp ${addressText(read.address)}`],
      run: (context) => new HttpReceiver(read, context).run(),
    };
  },
});

/** `encoding` is the older way to say what `framing` and `decoding` say. */
function codecOf(
  values: Values<typeof OPTIONS>,
  messageKey: string,
  path: string,
): { framing: Framing; decode: Decode } {
  const { encoding } = values;
  if (encoding === undefined) {
    return { framing: values.framing ?? LINES, decode: decoderOf(values.decoding, messageKey) };
  }
  if (values.framing || values.decoding) {
    throw refusal(
      'Using `encoding` is deprecated and does not have any effect when `decoding` or `framing` is provided. Configure `framing` and `decoding` instead.',
      path,
    );
  }
  return {
    framing: encoding === 'text' || encoding === 'ndjson' ? LINES : { method: 'bytes' },
    decode: encoding === 'json' || encoding === 'ndjson' ? jsonDecoder() : textDecoder(messageKey),
  };
}
