import { component, type Sink } from '../component.ts';
import { defaulted, mapOf, optional, table, type Values } from '../config/options.ts';
import { refusal, unavailable } from '../config/refusals.ts';
import { either, integer, number, refined, text, variants } from '../config/shape.ts';
import { type HttpTarget, sendRequest } from './http-client.ts';
import { CREDENTIALS, credentialsOf } from './http-credentials.ts';
import { PAYLOAD, payloadOf } from './http-payload.ts';
import { HttpWriter, type HttpWriterOptions } from './http-writer.ts';
import type { RetryOptions } from './retry-policy.ts';

/** The others carry no body where requests are made by `fetch`. */
const METHODS = ['delete', 'options', 'patch', 'post', 'put'] as const;
const HEALTHCHECK_TIMEOUT_MS = 10_000;
/** Timers take no more. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** With names in lower case. */
const headers = refined(mapOf(text), (map, { path }): Record<string, string> => {
  const read: Record<string, string> = {};
  for (const [name, value] of map) {
    if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value)) {
      throw refusal(`the header \`${name.slice(0, 100)}\` must be a text that HTTP can carry`, path);
    }
    if (`${name}${value}`.includes('{{')) {
      throw unavailable('templates in headers', path);
    }
    read[name.toLowerCase()] = value;
  }
  return read;
});

const BATCH = {
  max_events: optional(integer({ minimum: 1 }), 'How many events a request holds at most.', {
    unit: 'events',
    examples: [500],
  }),
  max_bytes: defaulted(
    integer({ minimum: 1 }),
    10_000_000,
    "The size of a request's events, before they are encoded.",
    {
      unit: 'bytes',
    },
  ),
  timeout_secs: defaulted(number({ minimum: 0.001 }), 1, 'How long events wait for others.', {
    unit: 'seconds',
  }),
};

const concurrency = either(
  variants({ adaptive: 'As many as the receiver takes well.', none: 'One.' }),
  integer({ minimum: 1 }),
);

const REQUEST = {
  headers: defaulted(headers, {}, 'Headers of each request.', { examples: [{ 'X-Tenant': 'shop' }] }),
  timeout_secs: defaulted(number({ minimum: 1 }), 60, 'How long a request may take.', { unit: 'seconds' }),
  concurrency: defaulted(concurrency, 'adaptive', 'How many requests may be under way.'),
  retry_attempts: optional(number({ minimum: 0 }), 'How often to try again. Without it, there is no end.'),
  retry_initial_backoff_secs: defaulted(number({ minimum: 1 }), 1, 'The wait before the first retry.', {
    unit: 'seconds',
    advanced: true,
  }),
  retry_max_duration_secs: defaulted(number({ minimum: 1 }), 30, 'The longest wait between retries.', {
    unit: 'seconds',
    advanced: true,
  }),
  retry_jitter_mode: defaulted(
    variants({ Full: 'Waits a random part of the time.', None: 'Waits for the whole time.' }),
    'Full',
    'Whether retries are spread.',
    { advanced: true },
  ),
};

export const httpSink = component({
  title: 'HTTP',
  about: 'Sends events in batches to an HTTP server, and tries again while it asks for that or is away.',
  options: {
    ...CREDENTIALS,
    method: defaulted(variants(METHODS, ['get', 'head', 'trace']), 'post', 'The method of the requests.'),
    ...PAYLOAD,
    batch: defaulted(table(BATCH, { ignoresUnknown: true }), {}, 'When a request is full.'),
    headers: defaulted(headers, {}, 'Headers of each request.', {
      deprecated: 'Use `request.headers` instead.',
      advanced: true,
    }),
    request: defaulted(
      table(REQUEST, {
        lacking: ['adaptive_concurrency', 'rate_limit_num', 'rate_limit_duration_secs'],
        ignoresUnknown: true,
      }),
      {},
      'How requests are made, and made again.',
    ),
  },
  lacking: ['tls', 'authorization_config', 'retry_strategy'],
  configure(values, { logSchema }, path): Sink {
    const credentials = credentialsOf(values, path);
    const { url, authorization } =
      'error' in credentials ? { url: '', authorization: undefined } : credentials;
    const payload = payloadOf(values, logSchema.message, path);
    const { request } = values;
    const sent = { ...values.headers, ...request.headers };
    if (authorization && sent.authorization !== undefined) {
      throw refusal('Authorization header can not be used with defined auth options', path);
    }
    const auth: Record<string, string> = authorization ? { authorization } : {};
    const target: HttpTarget = {
      url,
      method: values.method.toUpperCase(),
      timeoutMs: timer(request.timeout_secs),
      headers: {
        ...(payload.contentType && { 'content-type': payload.contentType }),
        ...(payload.contentEncoding && { 'content-encoding': payload.contentEncoding }),
        ...sent,
        ...auth,
      },
    };
    const writer: HttpWriterOptions = {
      target,
      payload,
      batch: batchOf(values.batch),
      retry: retryOf(request),
      concurrency: request.concurrency === 'none' ? 1 : request.concurrency,
    };
    return {
      accepts: ['log', 'metric'],
      resources: [],
      check: () => ('error' in credentials ? [credentials.error] : []),
      checkHealth: (uri) => checkHealth({ url: uri, headers: auth }),
      start: async (context) => new HttpWriter(writer, context),
    };
  },
});

async function checkHealth({ url, headers }: Pick<HttpTarget, 'url' | 'headers'>): Promise<void> {
  const answer = await sendRequest(
    { method: 'HEAD', url, headers, timeoutMs: HEALTHCHECK_TIMEOUT_MS },
    undefined,
  );
  if ('error' in answer) throw new Error(answer.error);
  if ('timedOut' in answer) throw new Error('timed out');
  if (answer.status !== 200) throw new Error(`Unexpected status: ${answer.status}`);
}

function batchOf(batch: Values<typeof BATCH>): HttpWriterOptions['batch'] {
  return {
    maxEvents: batch.max_events ?? Number.MAX_SAFE_INTEGER,
    maxBytes: batch.max_bytes,
    timeoutMs: timer(batch.timeout_secs),
  };
}

function retryOf(request: Values<typeof REQUEST>): RetryOptions {
  return {
    attempts: request.retry_attempts ?? Number.MAX_SAFE_INTEGER,
    initialMs: timer(request.retry_initial_backoff_secs),
    maxMs: timer(request.retry_max_duration_secs),
    jitter: request.retry_jitter_mode === 'Full',
  };
}

function timer(seconds: number): number {
  return Math.min(seconds * 1000, MAX_TIMER_MS);
}
