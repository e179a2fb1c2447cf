/** Asks a store that answers PromQL by the HTTP API of Prometheus (`/api/v1/query_range`, `/api/v1/query`). */
import { messageOf, unavailable } from '../../../../platform/operation/errors.ts';
import type { Logger } from '../../../../platform/runtime/logger.ts';
import type { Window } from '../../series/window.ts';
import { readBounded } from './read-bounded.ts';

export interface QueryClient {
  /** A value per step of the window, null where the store has none. @throws DomainError UNAVAILABLE */
  range(query: string, window: Window): Promise<RangeSeries[]>;
  /** @throws DomainError UNAVAILABLE */
  at(query: string, time: number): Promise<{ labels: Record<string, string>; value: number }[]>;
}

export interface RangeSeries {
  labels: Record<string, string>;
  values: (number | null)[];
}

export interface QueryClientOptions {
  url: string;
  headers: Readonly<Record<string, string>>;
  log: Logger;
  /** For one request, in milliseconds. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 20_000;
/** Of an answer: a hundred series of some hundred steps take a few. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_REASON = 300;

interface Answer {
  data?: {
    result?: { metric: Record<string, string>; values?: [number, string][]; value?: [number, string] }[];
  };
}
type Result = NonNullable<NonNullable<Answer['data']>['result']>;

export function createQueryClient(options: QueryClientOptions): QueryClient {
  const { log, timeoutMs = TIMEOUT_MS } = options;
  const base = options.url.replace(/\/+$/, '');
  let isFailing = false;

  async function ask(path: string, form: Record<string, string>): Promise<Result> {
    try {
      const { request } = await import('undici');
      const answer = await request(`${base}/api/v1/${path}`, {
        method: 'POST',
        headers: { ...options.headers, 'Content-Type': 'application/x-www-form-urlencoded' },
        // VictoriaMetrics would move the window to steps of its cache.
        body: new URLSearchParams({ ...form, nocache: '1' }).toString(),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await readBounded(answer.body, MAX_BYTES);
      if (answer.statusCode !== 200)
        throw new Error(`it answered ${answer.statusCode}: ${text.slice(0, MAX_REASON).trim()}`);
      const { data } = JSON.parse(text) as Answer;
      if (!data?.result) throw new Error('its answer is not that of Prometheus');
      if (isFailing) log.info('the metrics store answers again');
      isFailing = false;
      return data.result;
    } catch (error) {
      if (!isFailing)
        log.warn(
          { reason: messageOf(error) },
          'the metrics store cannot be asked. Look at HEADGATE_METRICS_READ_URL',
        );
      isFailing = true;
      throw unavailable(
        'The metrics store does not answer; try again, and tell your administrator if it lasts',
      );
    }
  }

  return {
    async range(query, { from, to, stepSeconds, steps }) {
      // The value at the end of a step is that of the step.
      const form = {
        query,
        start: `${from / 1_000 + stepSeconds}`,
        end: `${to / 1_000}`,
        step: `${stepSeconds}`,
      };
      return (await ask('query_range', form)).map(({ metric, values = [] }) => {
        const inSteps = new Array<number | null>(steps).fill(null);
        for (const [seconds, text] of values) {
          const value = Number(text);
          const step = Math.round((seconds - from / 1_000) / stepSeconds) - 1;
          if (step >= 0 && step < steps && Number.isFinite(value)) inSteps[step] = value;
        }
        return { labels: metric, values: inSteps };
      });
    },
    async at(query, time) {
      const result = await ask('query', { query, time: `${time / 1_000}` });
      return result.map(({ metric, value }) => ({ labels: metric, value: Number(value?.[1]) }));
    },
  };
}
