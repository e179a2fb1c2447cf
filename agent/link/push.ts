import { backoff, jitter } from '../../reconcilers/loops/backoff.ts';
import type { Clock } from '../../reconcilers/loops/clock.ts';
import { LIMITS } from '../limits.ts';
import type { Logger } from '../log.ts';
import { route } from './http.ts';
import { type KnownPushMessage, parsePushMessage } from './push-message.ts';
import { SseParser } from './sse-parser.ts';

export interface PushOptions {
  /** `<SVC_URL>/api/agent/push`, which is used until the controller names another and when that one fails. */
  fallbackUrl: string;
  token: string;
  clock: Clock;
  log: Logger;
  onMessage: (message: KnownPushMessage) => void;
  /** Connected again after a drop: something may have been missed. */
  onReconnect: () => void;
  random?: () => number;
}

/** A server that says nothing for this long is gone: it sends a comment every 30 s. */
const SILENCE_MS = 75_000;
const CONNECT_MS = 15_000;
/** A connection that lasted less counts as failed. */
const SHORT_LIVED_MS = 10_000;

const delay = backoff({ firstMs: LIMITS.pushBackoffMs.first, capMs: LIMITS.pushBackoffMs.cap });

/** Milliseconds until the next try after so many failures; never the same for two, so that a fleet comes back spread. */
export function reconnectDelay(failures: number, random: () => number = Math.random): number {
  return jitter(delay(failures), random);
}

/** The stream that says *look again*. It only makes things faster: everything it brings, the next poll brings too. */
export class PushChannel {
  readonly #options: PushOptions;
  #primaryUrl: string;
  #url: string;
  #failures = 0;
  #failuresAtUrl = 0;
  #connected = false;
  #reconnects = 0;
  #stopped = false;
  #abort: AbortController | undefined;
  #cancelWait: (() => void) | undefined;
  #lastByteAt = 0;

  constructor(options: PushOptions) {
    this.#options = options;
    this.#primaryUrl = options.fallbackUrl;
    this.#url = options.fallbackUrl;
  }

  get connected(): boolean {
    return this.#connected;
  }

  get reconnects(): number {
    return this.#reconnects;
  }

  /** The address that the controller wants. The node token never goes from https to http. */
  setPrimaryUrl(url: string | undefined): void {
    const { fallbackUrl, log } = this.#options;
    let wanted = url ?? fallbackUrl;
    if (!isAllowed(wanted, fallbackUrl)) {
      log.warn('push address refused: it must be http or https, and https where SVC_URL is');
      wanted = fallbackUrl;
    }
    if (wanted === this.#primaryUrl) return;
    this.#primaryUrl = wanted;
    this.#url = wanted;
    this.#failuresAtUrl = 0;
    this.#abort?.abort();
  }

  start(): void {
    void this.#run();
  }

  stop(): void {
    this.#stopped = true;
    this.#abort?.abort();
    this.#cancelWait?.();
  }

  async #run(): Promise<void> {
    const { clock, log, random } = this.#options;
    while (!this.#stopped) {
      const startedAt = clock.monotonic();
      const reason = await this.#connect();
      this.#connected = false;
      if (this.#stopped) return;
      const short = clock.monotonic() - startedAt < SHORT_LIVED_MS;
      this.#failures = short ? this.#failures + 1 : 1;
      this.#failuresAtUrl = short ? this.#failuresAtUrl + 1 : 0;
      this.#changeUrl();
      const waitMs = reconnectDelay(this.#failures, random);
      log.debug('push channel dropped', { reason, retryMs: Math.round(waitMs) });
      await new Promise<void>((done) => {
        const cancel = clock.after(waitMs, done);
        this.#cancelWait = () => {
          cancel();
          done();
        };
      });
      this.#reconnects += 1;
    }
  }

  /** Three short-lived connections in a row: the other address is tried, and back again in the same way. */
  #changeUrl(): void {
    if (this.#failuresAtUrl < LIMITS.pushFailuresBeforeFallback) return;
    this.#failuresAtUrl = 0;
    const { fallbackUrl, log } = this.#options;
    if (this.#primaryUrl === fallbackUrl) return;
    this.#url = this.#url === fallbackUrl ? this.#primaryUrl : fallbackUrl;
    log.warn('push channel changes its address', { url: this.#url });
  }

  /** Resolves, with the reason, when the connection has ended. */
  async #connect(): Promise<string> {
    const { clock, token } = this.#options;
    const abort = new AbortController();
    this.#abort = abort;
    const cancelConnect = clock.after(CONNECT_MS, () => abort.abort());
    let cancelWatch: (() => void) | undefined;
    try {
      const response = await fetch(this.#url, {
        headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
        signal: abort.signal,
        redirect: 'manual',
        ...route(this.#url),
      });
      cancelConnect();
      if (response.status !== 200 || !response.body) {
        await response.body?.cancel();
        return `status ${response.status}`;
      }
      cancelWatch = this.#watchSilence(abort);
      await this.#read(response.body);
      return 'closed by the server';
    } catch (error) {
      return error instanceof Error ? error.message.slice(0, 200) : 'failed';
    } finally {
      cancelConnect();
      cancelWatch?.();
      abort.abort();
    }
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const { clock, onMessage, onReconnect, log } = this.#options;
    this.#connected = true;
    if (this.#reconnects > 0) onReconnect();
    const parser = new SseParser(LIMITS.pushMessageBytes, (raw) => {
      const message = parsePushMessage(raw.data);
      if (message) onMessage(message);
      else log.debug('push message ignored', { type: raw.event.slice(0, 40) });
    });
    for await (const chunk of body) {
      this.#lastByteAt = clock.monotonic();
      parser.push(chunk);
      if (this.#stopped) return;
    }
  }

  /** Counts bytes, not messages: the comments that keep a proxy awake keep us content too. */
  #watchSilence(abort: AbortController): () => void {
    const { clock } = this.#options;
    this.#lastByteAt = clock.monotonic();
    let cancel = () => {};
    const check = () => {
      const left = this.#lastByteAt + SILENCE_MS - clock.monotonic();
      if (left <= 0) abort.abort(new Error('silent for too long'));
      else cancel = clock.after(left, check);
    };
    check();
    return () => cancel();
  }
}

function isAllowed(url: string, fallbackUrl: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol } = new URL(url);
  return protocol === 'https:' || (protocol === 'http:' && fallbackUrl.startsWith('http:'));
}
