/**
 * Sends batches of samples to a store, one after the other in their order. While the store is away, batches wait; of too many,
 * the oldest are dropped, counted and logged. Nothing else waits for it.
 */
import type { Clock } from '../../../../../reconcilers/loops/clock.ts';
import { messageOf } from '../../../../platform/operation/errors.ts';
import type { Logger } from '../../../../platform/runtime/logger.ts';
import { readBounded } from './read-bounded.ts';
import { REMOTE_WRITE_HEADERS } from './remote-write.ts';

export interface WriteQueue {
  /** `body` holds `samples` samples. */
  push(body: Uint8Array, samples: number): void;
  /** Number of samples that wait, and that were dropped or refused since the start. */
  sizes(): { waiting: number; dropped: number };
  /** Sends what waits, for a few seconds at most. */
  stop(): Promise<void>;
}

export interface WriteQueueOptions {
  url: string;
  headers: Readonly<Record<string, string>>;
  clock: Clock;
  log: Logger;
  /** Of waiting bodies; 64 MiB by default. */
  maxBytes?: number;
  /** For one request, in milliseconds. */
  timeoutMs?: number;
}

const MAX_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
const STOP_MS = 5_000;
const MAX_REPLY_BYTES = 64 * 1024;
/** Of what a store says of a refusal. */
const MAX_REASON = 300;

interface Batch {
  body: Uint8Array;
  samples: number;
}

export function createWriteQueue(options: WriteQueueOptions): WriteQueue {
  const { url, clock, log, maxBytes = MAX_BYTES, timeoutMs = TIMEOUT_MS } = options;
  const headers = { ...options.headers, ...REMOTE_WRITE_HEADERS };
  const waiting: Batch[] = [];
  let bytes = 0;
  let samples = 0;
  let dropped = 0;
  let pauseMs = FIRST_PAUSE_MS;
  let isFailing = false;
  let isFull = false;
  let sending: Promise<void> | null = null;
  let cancelPause: (() => void) | null = null;
  let stopped = false;
  const aborted = new AbortController();

  function remove(batch: Batch): void {
    bytes -= batch.body.length;
    samples -= batch.samples;
  }

  function start(): void {
    if (sending || cancelPause || waiting.length === 0) return;
    sending = sendAll().finally(() => {
      sending = null;
      if (!stopped) start();
    });
  }

  async function sendAll(): Promise<void> {
    for (let batch = waiting[0]; batch; batch = waiting[0]) {
      const outcome = await send(batch);
      if (outcome === 'again') return;
      waiting.shift();
      remove(batch);
      if (outcome === 'refused') dropped += batch.samples;
    }
  }

  async function send({ body }: Batch): Promise<'sent' | 'refused' | 'again'> {
    try {
      const { request } = await import('undici');
      const answer = await request(url, {
        ...{ method: 'POST', headers, body, headersTimeout: timeoutMs, bodyTimeout: timeoutMs },
        signal: aborted.signal,
      });
      // Its status says all that matters.
      const reply = await readBounded(answer.body, MAX_REPLY_BYTES).catch(() => '');
      const text = reply.slice(0, MAX_REASON).trim();
      const { statusCode: status } = answer;
      if (status < 300) {
        recovered();
        return 'sent';
      }
      if (isFinal(status)) {
        log.warn({ status, reason: text }, 'the metrics store refused samples, which are dropped');
        return 'refused';
      }
      retry(`it answered ${status}${text ? `: ${text}` : ''}`, Number(answer.headers['retry-after']));
    } catch (error) {
      if (!aborted.signal.aborted) retry(messageOf(error));
    }
    return 'again';
  }

  function recovered(): void {
    if (isFailing) log.info({ waiting: samples, dropped }, 'the metrics store takes samples again');
    isFailing = false;
    isFull = false;
    pauseMs = FIRST_PAUSE_MS;
  }

  function retry(reason: string, afterSeconds = Number.NaN): void {
    if (!isFailing)
      log.warn(
        { reason },
        'the metrics store takes no samples; they wait. Look at HEADGATE_METRICS_WRITE_URL',
      );
    isFailing = true;
    if (stopped) return;
    const pause = Number.isFinite(afterSeconds) ? Math.min(afterSeconds * 1_000, LONGEST_PAUSE_MS) : pauseMs;
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    cancelPause = clock.after(pause, () => {
      cancelPause = null;
      start();
    });
  }

  return {
    push(body, count) {
      if (stopped) return;
      waiting.push({ body, samples: count });
      bytes += body.length;
      samples += count;
      while (bytes > maxBytes && waiting.length > 2) {
        // The first one may be on its way.
        const [oldest] = waiting.splice(1, 1);
        if (oldest) remove(oldest);
        dropped += oldest?.samples ?? 0;
        if (!isFull)
          log.warn(
            { waiting: samples },
            'too many samples wait for the metrics store; the oldest are dropped',
          );
        isFull = true;
      }
      start();
    },
    sizes: () => ({ waiting: samples, dropped }),
    async stop() {
      stopped = true;
      cancelPause?.();
      cancelPause = null;
      const cancel = clock.after(STOP_MS, () => aborted.abort());
      await (sending ?? sendAll());
      cancel();
      aborted.abort();
    },
  };
}

/** What another try would not change. A token or an address may be put right at the store; 429 asks to wait. */
const isFinal = (status: number): boolean =>
  status >= 400 && status < 500 && ![401, 403, 404, 408, 429].includes(status);
