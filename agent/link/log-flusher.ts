import { backoff, jitter } from '../../reconcilers/loops/backoff.ts';
import type { Clock } from '../../reconcilers/loops/clock.ts';
import type { LogEntry, LogsRequest } from '../../schemas/agent/protocol.ts';
import { atMost } from '../at-most.ts';
import { LIMITS } from '../limits.ts';
import type { Logger } from '../log.ts';
import type { LogRing } from '../report/log-ring.ts';
import { parseLogsReply } from './answers.ts';
import { type Failure, request, requestFailure, statusFailure } from './http.ts';

/** Where lines come from: a pipeline. */
export interface LogSource {
  readonly id: string;
  readonly logs: LogRing;
  /** It writes no more, unless it is started again. */
  readonly ended: boolean;
}

export type LogsOutcome = { type: 'stored'; rejected: number } | ({ type: 'failed' } & Failure);

export interface LogFlusherOptions {
  intervalMs: number;
  clock: Clock;
  log: Logger;
  send: (entries: LogsRequest, timeoutMs: number) => Promise<LogsOutcome>;
  /** From 0 to 1, for the jitter. */
  random?: () => number;
}

interface Move {
  source: LogSource;
  next: number;
}

/** Characters of one request. One takes at most six bytes in JSON: well below the controller's body limit. */
const REQUEST_CHARS = 1024 * 1024;
/** A proxy may have a smaller limit: after a 413 requests shrink down to this. */
const LEAST_REQUEST_CHARS = 4 * LIMITS.logLineChars;
const TIMEOUT_MS = 10_000;
/** Sources that have ended and whose last lines could not be delivered yet. */
const ENDED_KEPT = 20;
const pause = backoff({ firstMs: 2_000, capMs: 30_000 });
/** An older controller does not know the endpoint, and one that refuses the token will not know it in a moment either. */
const slowPause = backoff({ firstMs: 10_000, capMs: 300_000 });

/**
 * Delivers the lines of all pipelines, each once and in order: it moves on only when the controller has stored them. A
 * line arms the timer, so that engines which write nothing cost nothing. One request is in flight at a time.
 */
export class LogFlusher {
  readonly #options: LogFlusherOptions;
  readonly #random: () => number;
  readonly #places = new WeakMap<LogRing, number>();
  /** Those with lines to deliver, the one that waits longest first. */
  readonly #waiting = new Set<LogSource>();
  #cancel: (() => void) | undefined;
  #sending: Promise<void> | undefined;
  #failures = 0;
  /** The controller takes no more lines of this node for a while. */
  #limited = false;
  #budget = REQUEST_CHARS;
  #stopped = false;

  constructor(options: LogFlusherOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
  }

  /** The source has new lines. */
  note(source: LogSource): void {
    this.#waiting.add(source);
    if (!this.#cancel && !this.#sending && !this.#stopped) this.#arm(this.#options.intervalMs);
  }

  /** Delivers what is there once more, and then nothing. Takes at most `timeoutMs`. */
  async stop(timeoutMs: number): Promise<void> {
    const { clock } = this.#options;
    this.#stopped = true;
    this.#cancel?.();
    const endsAt = clock.monotonic() + timeoutMs;
    await atMost(clock, timeoutMs, this.#sending);
    do {
      const leftMs = endsAt - clock.monotonic();
      if (this.#sending || this.#waiting.size === 0 || leftMs <= 0) return;
      this.#start(leftMs);
      await atMost(clock, leftMs, this.#sending);
    } while (this.#failures === 0);
  }

  #arm(ms: number): void {
    // Nodes that were started together drift apart.
    const waitMs = 0.9 * ms + 0.2 * ms * this.#random();
    this.#cancel = this.#options.clock.after(waitMs, () => {
      this.#cancel = undefined;
      this.#start(TIMEOUT_MS);
    });
  }

  #start(timeoutMs: number): void {
    this.#sending = this.#flush(timeoutMs).then((waitMs) => {
      this.#sending = undefined;
      if (this.#waiting.size > 0 && !this.#stopped) this.#arm(waitMs);
    });
  }

  /** Answers how long to wait before the next one. */
  async #flush(timeoutMs: number): Promise<number> {
    const { entries, moves } = this.#gather();
    const outcome = await this.#send(entries, timeoutMs);
    if (outcome.type === 'failed') return this.#failed(outcome);
    this.#delivered(moves, outcome.rejected);
    return this.#options.intervalMs;
  }

  /** A fault of our own must not end the deliveries: it is one more failure. */
  async #send(entries: LogsRequest, timeoutMs: number): Promise<LogsOutcome> {
    try {
      return await this.#options.send(entries, timeoutMs);
    } catch (error) {
      return { type: 'failed', reason: String(error), status: undefined, retryAfterMs: undefined };
    }
  }

  /** Of each pipeline a fair share; those that find no room are the first of the next request. */
  #gather(): { entries: LogEntry[]; moves: Move[] } {
    const entries: LogEntry[] = [];
    const moves: Move[] = [];
    let left = this.#budget;
    let linesLeft: number = LIMITS.logRequestLines;
    const share = Math.max(LIMITS.logLineChars, Math.floor(left / Math.max(1, this.#waiting.size)));
    for (const source of this.#waiting) {
      if (left < LIMITS.logLineChars || linesLeft < LIMITS.logRingLines) break;
      const from = this.#places.get(source.logs) ?? 0;
      const gone = source.logs.count - LIMITS.logRingLines > from;
      // One line of the entry tells what is missing.
      const most = gone ? LIMITS.logRingLines - 1 : LIMITS.logRingLines;
      const { lines, next, lost } = source.logs.since(from, Math.min(share, left), most);
      for (const line of lines) left -= line.length;
      if (lost > 0) lines.unshift(this.#lossNote(lost));
      linesLeft -= lines.length;
      if (lines.length > 0) entries.push({ pipelineId: source.id, lines });
      moves.push({ source, next });
    }
    return { entries, moves };
  }

  #lossNote(lost: number): string {
    const count = String(lost).replace(/\B(?=(\d{3})+$)/g, ',');
    if (this.#limited)
      return `… ${count} lines were left out: this node writes more log lines than the controller stores in an hour`;
    return this.#failures > 0
      ? `… ${count} lines were lost while the controller was away`
      : `… ${count} lines or more were left out: more than ${LIMITS.logRingLines} came between two deliveries`;
  }

  #delivered(moves: readonly Move[], rejected: number): void {
    const { log } = this.#options;
    if (this.#failures > 0) log.info('logs are delivered again');
    if (rejected > 0) log.debug('the controller refused log lines', { lines: rejected });
    this.#failures = 0;
    this.#limited = false;
    for (const { source, next } of moves) {
      this.#places.set(source.logs, next);
      this.#waiting.delete(source);
      if (source.logs.count > next) this.#waiting.add(source);
    }
  }

  /** Everything stays where it is; answers how long to wait before the next try. */
  #failed(outcome: LogsOutcome & { type: 'failed' }): number {
    const { status, reason } = outcome;
    if (this.#failures === 0) this.#options.log.warn('logs not delivered, kept for the next try', { reason });
    this.#failures += 1;
    if (status === 429) this.#limited = true;
    if (status === 413) this.#budget = Math.max(LEAST_REQUEST_CHARS, Math.floor(this.#budget / 2));
    const ended = [...this.#waiting].filter((source) => source.ended);
    for (const source of ended.slice(0, -ENDED_KEPT)) this.#waiting.delete(source);
    const refused = status === 401 || status === 404;
    const waitMs = jitter((refused ? slowPause : pause)(this.#failures), this.#random);
    return Math.max(waitMs, this.#options.intervalMs, (outcome.retryAfterMs ?? 0) / 0.9);
  }
}

export async function sendLogs(
  url: string,
  token: string,
  entries: LogsRequest,
  timeoutMs: number,
): Promise<LogsOutcome> {
  try {
    const answer = await request(`${url}/api/agent/logs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(entries),
      timeoutMs,
      maxBytes: 64 * 1024,
    });
    if (answer.status === 200) return { type: 'stored', rejected: parseLogsReply(answer.text).rejected };
    return { type: 'failed', ...statusFailure(answer) };
  } catch (error) {
    return { type: 'failed', ...requestFailure(error) };
  }
}
