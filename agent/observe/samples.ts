import type { Clock } from '../../reconcilers/loops/clock.ts';
import type { SampleRequest, SampleResult } from '../../schemas/agent/protocol.ts';
import { LIMITS } from '../limits.ts';
import { inferSchema } from './event-schema.ts';
import { RecentIds } from './recent-ids.ts';
import type { SampleOutbox } from './sample-outbox.ts';
import { inPlace, type ReadEvent } from './tap-event.ts';
import { END_SETTLES_MS, type TapEnd, TapProcess } from './tap-process.ts';
import { componentKeyError, resolveTapTarget, type TapTargetParts } from './tap-target.ts';

export interface SamplesOptions {
  engines: TapTargetParts;
  outbox: SampleOutbox;
  clock: Clock;
}

interface Task {
  request: SampleRequest;
  componentKey: string;
  /** On the monotonic clock. */
  expiresAt: number;
}

const AT_ONCE = 4;
const MOST_WAITING = 2_000;
const REMEMBERED = 1_000;
/** How long a component is listened to: shorter where many wait, so that all get their turn before the request is over. */
const LISTEN_MS = 15_000;
const LEAST_LISTEN_MS = 2_000;
const ALL_LISTEN_MS = LIMITS.sampleRequestMs - 20_000;
/** Bytes of the events of one component. */
const RESULT_BYTES = 2 * 1024 * 1024;
const ERROR_CHARS = 1_024;

/** One-shot taps: a few events of each component that a request names, once a request. */
export class Samples {
  readonly #options: SamplesOptions;
  readonly #seen = new RecentIds(REMEMBERED);
  readonly #running = new Set<TapProcess>();
  #waiting: Task[] = [];
  #stopped = false;

  constructor(options: SamplesOptions) {
    this.#options = options;
  }

  take(request: SampleRequest): void {
    const { engines, clock } = this.#options;
    // What finds no room is not remembered either: the next poll brings it again.
    if (this.#stopped || this.#waiting.length + request.componentKeys.length > MOST_WAITING) return;
    if (!this.#seen.add(request.requestId)) return;
    const expiresAt = clock.monotonic() + LIMITS.sampleRequestMs;
    const engine = resolveTapTarget(request.pipelineId, engines);
    for (const componentKey of request.componentKeys) {
      const task = { request, componentKey, expiresAt };
      const refusal = typeof engine === 'string' ? engine : componentKeyError(componentKey);
      if (refusal) this.#finish(task, [], refusal);
      else this.#waiting.push(task);
    }
    this.#next();
  }

  /** Settles when no process is left. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting = [];
    await Promise.all([...this.#running].map((tap) => tap.stop()));
  }

  #next(): void {
    const now = this.#options.clock.monotonic();
    while (this.#running.size < AT_ONCE) {
      const rounds = Math.ceil((this.#waiting.length + this.#running.size) / AT_ONCE);
      const task = this.#waiting.shift();
      if (!task) return;
      const listenMs = Math.max(LEAST_LISTEN_MS, Math.min(LISTEN_MS, Math.floor(ALL_LISTEN_MS / rounds)));
      if (task.expiresAt > now + listenMs) this.#run(task, listenMs);
    }
  }

  #run(task: Task, listenMs: number): void {
    const { request, componentKey } = task;
    const { engines, clock } = this.#options;
    const engine = resolveTapTarget(request.pipelineId, engines);
    if (typeof engine === 'string') {
      this.#finish(task, [], engine);
      return;
    }
    const events: ReadEvent[] = [];
    let bytes = 0;
    const startedAt = clock.monotonic();
    const done = (error?: string) => {
      this.#finish(task, events, error);
      void tap.stop().then(() => {
        this.#running.delete(tap);
        this.#next();
      });
    };
    const nothing = (end: TapEnd, early: boolean) => {
      const now = resolveTapTarget(request.pipelineId, engines);
      const gone = typeof now === 'string' || now.pid !== engine.pid || (early && end.code === 0);
      done(gone ? 'the engine ended while it was listened to' : whyNothing(end, listenMs));
    };
    const tap = new TapProcess(
      {
        engine,
        componentKey,
        sink: request.sinkKeys?.includes(componentKey) ?? false,
        limit: request.limit,
        durationMs: listenMs,
        clock,
      },
      {
        onEvent: (read) => {
          bytes += Buffer.byteLength(read.text);
          events.push(bytes <= RESULT_BYTES ? read : inPlace('left out: the events before it are large'));
          if (events.length >= request.limit) done();
        },
        onEnd: (end) => {
          if (events.length > 0) {
            done();
            return;
          }
          const early = clock.monotonic() - startedAt < listenMs;
          clock.after(END_SETTLES_MS, () => {
            if (!this.#stopped) nothing(end, early);
          });
        },
      },
    );
    this.#running.add(tap);
  }

  #finish({ request, componentKey, expiresAt }: Task, events: readonly ReadEvent[], error?: string): void {
    const result: SampleResult = {
      requestId: request.requestId,
      componentKey,
      events: events.map(({ event }) => event),
      schema: inferSchema(events.filter(({ whole }) => whole).map(({ event }) => event)),
      error: error?.slice(0, ERROR_CHARS) ?? null,
    };
    this.#options.outbox.add(result, expiresAt);
  }
}

/** Why there is no event, as users read it. */
export function whyNothing({ code, complaint }: TapEnd, listenMs: number): string {
  if (code === 0) return `no event came by within ${Math.round(listenMs / 1000)} seconds`;
  if (code === null) return complaint || 'the engine did not answer in time';
  if (/unrecognized subcommand|unexpected argument|invalid subcommand/i.test(complaint))
    return `the engine of this node does not know tap, or not these options of it: ${complaint}`;
  return `tap failed with code ${code}${complaint && `: ${complaint}`}`;
}
