import { backoff, jitter } from '../../reconcilers/loops/backoff.ts';
import type { Clock } from '../../reconcilers/loops/clock.ts';
import { LIMITS } from '../limits.ts';
import type { TapStart } from '../link/observe-request.ts';
import type { Logger } from '../log.ts';
import { type Deliver, type Delivery, isRefusal } from './delivery.ts';
import { RecentIds } from './recent-ids.ts';
import { TapBuffer } from './tap-buffer.ts';
import { END_SETTLES_MS, type TapEnd, TapProcess } from './tap-process.ts';
import { componentKeyError, resolveTapTarget, type TapTargetParts } from './tap-target.ts';

export interface LiveTapsOptions {
  engines: TapTargetParts;
  clock: Clock;
  log: Logger;
  deliver: Deliver;
}

interface Tap {
  start: TapStart;
  buffer: TapBuffer;
  /** Undefined once it has ended: what is left of it is its last events and the news. */
  process: TapProcess | undefined;
  enginePid: number | undefined;
  /** On the monotonic clock. */
  startedAt: number;
  ended: string | undefined;
}

const AT_ONCE = 10;
/** Includes taps that have ended and whose end is not delivered yet. */
const MOST_KEPT = 50;
const REMEMBERED = 1_000;
/** A little over 500 ms: the controller takes 120 deliveries of a node in a minute. */
const PERIOD_MS = 505;
/** Failed deliveries in a row before a tap that has ended is forgotten. */
const MOST_FAILURES = 10;
const REASON_CHARS = 1_024;
const pause = backoff({ firstMs: 1_000, capMs: 10_000 });

/** Long-running taps that users watch. One delivery is in flight at a time; taps take turns. */
export class LiveTaps {
  readonly #options: LiveTapsOptions;
  readonly #seen = new RecentIds(REMEMBERED);
  /** By request id, in the order of their turns. */
  readonly #taps = new Map<string, Tap>();
  #cancel: (() => void) | undefined;
  #sending = false;
  #failures = 0;
  #nextAt = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(options: LiveTapsOptions) {
    this.#options = options;
  }

  start(start: TapStart): void {
    const { engines, clock, log } = this.#options;
    if (this.#stopped || this.#taps.size >= MOST_KEPT || !this.#seen.add(start.requestId)) return;
    const running = [...this.#taps.values()].filter(({ process }) => process !== undefined).length;
    const engine = resolveTapTarget(start.pipelineId, engines);
    const refusal =
      typeof engine === 'string'
        ? engine
        : (componentKeyError(start.componentId) ??
          (running >= AT_ONCE ? `this node has ${AT_ONCE} live taps already: end one of them` : undefined));
    const tap: Tap = {
      start,
      buffer: new TapBuffer(clock),
      process: undefined,
      enginePid: undefined,
      startedAt: clock.monotonic(),
      ended: refusal,
    };
    this.#taps.set(start.requestId, tap);
    if (typeof engine !== 'string' && refusal === undefined) {
      tap.enginePid = engine.pid;
      tap.process = new TapProcess(
        {
          engine,
          componentKey: start.componentId,
          sink: start.sink ?? false,
          limit: LIMITS.tapEventsPerSecond,
          durationMs: LIMITS.tapMs,
          clock,
        },
        {
          admit: () => tap.buffer.admit(),
          onEvent: (event) => {
            tap.buffer.add(event);
            this.#arm();
          },
          onEnd: (end) => clock.after(END_SETTLES_MS, () => this.#settle(tap, end)),
        },
      );
      log.debug('live tap started', { request: start.requestId, pipeline: start.pipelineId });
    }
    this.#arm();
  }

  /** Nobody looks on any more; the controller knows it. */
  cancel(requestId: string): void {
    void this.#taps.get(requestId)?.process?.stop();
    this.#taps.delete(requestId);
  }

  /** Pipelines have changed: a tap ends with the engine that it listens to. */
  check(): void {
    for (const tap of this.#taps.values()) {
      if (!tap.process) continue;
      const gone = this.#engineGone(tap);
      if (gone) this.#end(tap, gone);
    }
  }

  /** Settles when no process is left. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    const ends = [...this.#taps.values()].map(({ process }) => process?.stop());
    this.#taps.clear();
    await Promise.all(ends);
  }

  #engineGone({ start, enginePid }: Tap): string | undefined {
    const pipeline = this.#options.engines.find(start.pipelineId);
    if (!pipeline || pipeline.status === 'STOPPED') return 'the pipeline does not run on this node any more';
    if (pipeline.status === 'CRASHED') return 'the engine of the pipeline crashed';
    if (pipeline.pid !== enginePid || pipeline.status !== 'RUNNING') return 'the pipeline was restarted';
    return undefined;
  }

  #whyEnded(tap: Tap, { code, complaint }: TapEnd): string {
    const gone = this.#engineGone(tap);
    if (gone) return gone;
    const ranMs = this.#options.clock.monotonic() - tap.startedAt;
    if (ranMs >= LIMITS.tapMs) return `a live tap ends after ${LIMITS.tapMs / 60_000} minutes`;
    if (code === 0 && !complaint) return 'the engine of the pipeline has ended';
    return `the engine ended it${complaint && `: ${complaint}`}`;
  }

  #settle(tap: Tap, end: TapEnd): void {
    if (tap.process && !this.#stopped) this.#end(tap, this.#whyEnded(tap, end));
  }

  #end(tap: Tap, reason: string): void {
    void tap.process?.stop();
    tap.process = undefined;
    tap.ended = reason.slice(0, REASON_CHARS);
    this.#options.log.debug('live tap ended', { request: tap.start.requestId, reason: tap.ended });
    this.#arm();
  }

  #arm(): void {
    if (this.#cancel || this.#sending || this.#stopped || !this.#due()) return;
    const { clock } = this.#options;
    this.#cancel = clock.after(Math.max(0, this.#nextAt - clock.monotonic()), () => {
      this.#cancel = undefined;
      void this.#send();
    });
  }

  /** The one whose turn it is, of those that have something to say. */
  #due(): Tap | undefined {
    for (const tap of this.#taps.values()) {
      if (tap.ended !== undefined || tap.buffer.size > 0) return tap;
    }
    return undefined;
  }

  async #send(): Promise<void> {
    const tap = this.#due();
    if (!tap) return;
    const { requestId, pipelineId, componentId } = tap.start;
    const batch = tap.buffer.take();
    const last = batch.texts.length === 0;
    const head = JSON.stringify({ requestId, pipelineId, componentId }).slice(0, -1);
    const body = last
      ? `${head},"status":"stopped","reason":${JSON.stringify(tap.ended)}}`
      : `${head},"events":[${batch.texts.join(',')}],"dropped":${batch.dropped}}`;
    this.#sending = true;
    const outcome = await this.#deliver(body);
    this.#sending = false;
    const { clock } = this.#options;
    this.#nextAt = clock.monotonic() + PERIOD_MS;
    // To the end of the line.
    if (this.#taps.delete(requestId)) this.#taps.set(requestId, tap);
    if (outcome.accepted) {
      this.#failures = 0;
      if (last) this.#taps.delete(requestId);
    } else this.#failed(tap, outcome, batch.texts.length + batch.dropped);
    this.#arm();
  }

  #failed(tap: Tap, outcome: Delivery & { accepted: false }, events: number): void {
    const { requestId } = tap.start;
    // Events are not sent twice; the next delivery counts these as dropped.
    tap.buffer.countDropped(events);
    if (isRefusal(outcome.status)) {
      this.#options.log.debug('the controller refused a live tap', { reason: outcome.reason });
      // It is not active there, or an older controller: nobody looks on.
      if (outcome.status === 403 || outcome.status === 404 || tap.ended !== undefined) this.cancel(requestId);
      return;
    }
    this.#failures += 1;
    if (this.#failures === 1)
      this.#options.log.warn('events of live taps not delivered', { reason: outcome.reason });
    if (this.#failures >= MOST_FAILURES && tap.ended !== undefined) this.#taps.delete(requestId);
    this.#nextAt += Math.max(jitter(pause(this.#failures)), outcome.retryAfterMs ?? 0);
  }

  /** A fault of our own must not end the deliveries: it is one more failure. */
  async #deliver(body: string): Promise<Delivery> {
    try {
      return await this.#options.deliver('tap-events', body);
    } catch (error) {
      return { accepted: false, reason: String(error), status: undefined, retryAfterMs: undefined };
    }
  }
}
