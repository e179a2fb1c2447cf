import type { Globals, Sink } from '../component.ts';
import { isTable, type OptionReader } from '../config/option-reader.ts';
import { type HttpTarget, sendRequest } from './http-client.ts';
import { readCredentials } from './http-credentials.ts';
import { readPayload } from './http-payload.ts';
import { HttpWriter, type HttpWriterOptions } from './http-writer.ts';
import type { RetryOptions } from './retry-policy.ts';

/** The others carry no body where requests are made by `fetch`. */
const METHODS = ['delete', 'options', 'patch', 'post', 'put'] as const;
const HEALTHCHECK_TIMEOUT_MS = 10_000;
/** Timers take no more. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** `http`: sends events in batches, and tries again while the receiver asks for it or is away. */
export function configureHttpSink(options: OptionReader, globals: Globals): Sink {
  options.unsupported('tls', 'authorization_config', 'retry_strategy');
  const { url, authorization } = readCredentials(options);
  const payload = readPayload(options, globals.logSchema.message);
  const method = options.oneOf('method', METHODS, 'post').toUpperCase();
  const batch = readBatch(options);
  const older = readHeaders(options);
  const request = options.nested('request');
  request.unsupported('adaptive_concurrency', 'rate_limit_num', 'rate_limit_duration_secs');
  const headers = { ...older, ...readHeaders(request) };
  const timeoutMs = timer(request.number('timeout_secs', 60, 1));
  const retry = readRetry(request);
  const concurrency = readConcurrency(request);
  request.finish();
  options.finish();
  if (authorization && headers.authorization !== undefined) {
    options.fail('Authorization header can not be used with defined auth options');
  }

  const auth: Record<string, string> = authorization ? { authorization } : {};
  const target: HttpTarget = {
    url,
    method,
    timeoutMs,
    headers: {
      ...(payload.contentType && { 'content-type': payload.contentType }),
      ...(payload.contentEncoding && { 'content-encoding': payload.contentEncoding }),
      ...headers,
      ...auth,
    },
  };
  const writer: HttpWriterOptions = { target, payload, batch, retry, concurrency };
  return {
    accepts: ['log', 'metric'],
    resources: [],
    checkHealth: (uri) => checkHealth({ url: uri, headers: auth }),
    start: async (context) => new HttpWriter(writer, context),
  };
}

async function checkHealth({ url, headers }: Pick<HttpTarget, 'url' | 'headers'>): Promise<void> {
  const answer = await sendRequest(
    { method: 'HEAD', url, headers, timeoutMs: HEALTHCHECK_TIMEOUT_MS },
    undefined,
  );
  if ('error' in answer) throw new Error(answer.error);
  if ('timedOut' in answer) throw new Error('timed out');
  if (answer.status !== 200) throw new Error(`Unexpected status: ${answer.status}`);
}

function readBatch(options: OptionReader): HttpWriterOptions['batch'] {
  const batch = options.nested('batch');
  const read = {
    maxEvents: batch.integer('max_events', Number.MAX_SAFE_INTEGER, 1),
    maxBytes: batch.integer('max_bytes', 10_000_000, 1),
    timeoutMs: timer(batch.number('timeout_secs', 1, 0.001)),
  };
  batch.finish();
  return read;
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Reads `headers` as a map with names in lower case. */
function readHeaders(options: OptionReader): Record<string, string> {
  const table = options.raw('headers') ?? {};
  if (!isTable(table)) options.fail('invalid type: expected a map of strings for `headers`');
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(table)) {
    if (!HEADER_NAME.test(name) || typeof value !== 'string' || !HEADER_VALUE.test(value)) {
      options.fail(`the header \`${name.slice(0, 100)}\` must be a text that HTTP can carry`);
    }
    if (`${name}${value}`.includes('{{')) {
      options.fail('templates in `headers` are not available in headgate-engine');
    }
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

function readRetry(request: OptionReader): RetryOptions {
  return {
    attempts: request.number('retry_attempts', Number.MAX_SAFE_INTEGER),
    initialMs: timer(request.number('retry_initial_backoff_secs', 1, 1)),
    maxMs: timer(request.number('retry_max_duration_secs', 30, 1)),
    jitter: request.oneOf('retry_jitter_mode', ['Full', 'None'], 'Full') === 'Full',
  };
}

function readConcurrency(request: OptionReader): HttpWriterOptions['concurrency'] {
  if (typeof request.raw('concurrency') === 'number') return request.integer('concurrency', 1, 1);
  return request.oneOf('concurrency', ['adaptive', 'none'], 'adaptive') === 'none' ? 1 : 'adaptive';
}

function timer(seconds: number): number {
  return Math.min(seconds * 1000, MAX_TIMER_MS);
}
