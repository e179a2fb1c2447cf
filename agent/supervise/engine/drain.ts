/**
 * The time between SIGTERM and the end of an engine, in which it delivers what it holds, and what was left undelivered
 * then. The engine's exporter is asked right before and while it answers; most engines stop it early.
 */
import type { Clock } from '../../../reconcilers/loops/clock.ts';
import type { DrainReport, PipelineEntry, PipelineReport } from '../../../schemas/agent/protocol.ts';
import { LIMITS } from '../../limits.ts';
import { request } from '../../link/http.ts';
import { readUndelivered, type SinkEvents } from '../../report/undelivered-events.ts';

/** Between the engine's own limit and SIGKILL. */
const KILL_AFTER_MS = 5_000;
const DEFAULT_SECONDS = LIMITS.gracefulStopMs / 1000 - KILL_AFTER_MS / 1000;
/** An engine that hangs is stopped no later than this. */
const FIRST_READ_MS = 500;
const READ_EVERY_MS = 1_000;
/** A drain that takes long is reported every so many reads. */
const REPORT_EVERY = 5;
const MAX_BYTES = 8 * 1024 * 1024;
/** An engine measures its limit from a moment later than the signal, and ends a moment earlier than seen. */
const LIMIT_TOLERANCE_MS = 250;
const MOST_SINKS = 100;

/** Seconds that an engine gets to deliver; what is out of bounds counts as absent. */
export function drainSecondsOf({ drainSeconds }: Pick<PipelineEntry, 'drainSeconds'>): number {
  const fits = drainSeconds !== undefined && drainSeconds >= 1 && drainSeconds <= LIMITS.drainSeconds;
  return fits ? Math.floor(drainSeconds) : DEFAULT_SECONDS;
}

/** When an engine is killed that was asked to end. */
export const killAfterMs = (entry: Pick<PipelineEntry, 'drainSeconds'>): number =>
  drainSecondsOf(entry) * 1000 + KILL_AFTER_MS;

export interface DrainParts {
  entry: Pick<PipelineEntry, 'version' | 'drainSeconds'>;
  /** Undefined: it was not up yet, and holds nothing. */
  metricsPort: number | undefined;
  clock: Clock;
  /** What is reported has changed. */
  onProgress: () => void;
}

export interface DrainOutcome {
  /** Null where nothing was left. */
  report: DrainReport | null;
  /** For the pipeline's log. */
  lines: string[];
}

export class Drain {
  readonly #parts: DrainParts;
  readonly #startedAt: number;
  #termAt: number | undefined;
  /** The newest answer of the exporter. */
  #held: SinkEvents[] | undefined;
  #reads = 0;
  #ended = false;
  #cancel = () => {};

  constructor(parts: DrainParts) {
    this.#parts = parts;
    this.#startedAt = parts.clock.monotonic();
  }

  /** Reads what the engine holds, then calls `terminate`: at once where there is nothing to read. */
  begin(terminate: () => void): void {
    const start = () => {
      if (this.#ended || this.#termAt !== undefined) return;
      this.#termAt = this.#parts.clock.monotonic();
      terminate();
      this.#schedule();
    };
    if (this.#parts.metricsPort === undefined) start();
    else void this.#read().then(start);
  }

  get progress(): NonNullable<PipelineReport['draining']> {
    const { entry, clock } = this.#parts;
    const left = drainSecondsOf(entry) * 1000 - (clock.monotonic() - (this.#termAt ?? this.#startedAt));
    return {
      version: entry.version,
      secondsLeft: Math.max(0, Math.round(left / 1000)),
      undeliveredEvents: this.#held && sum(this.#held, 'lostEvents') + sum(this.#held, 'keptEvents'),
    };
  }

  /** `forced`: it was killed, or ended by a signal. An engine that ends in time has delivered everything. */
  end(forced: boolean, endedAt: Date): DrainOutcome {
    this.#ended = true;
    this.#cancel();
    const { entry, clock } = this.#parts;
    const tookMs = clock.monotonic() - (this.#termAt ?? this.#startedAt);
    const outOfTime = tookMs >= drainSecondsOf(entry) * 1000 - LIMIT_TOLERANCE_MS;
    if (!forced && !outOfTime) return { report: null, lines: [] };
    const seconds = Math.round(tookMs / 1000);
    if (this.#held === undefined) {
      // One that was never up has taken nothing in.
      if (this.#parts.metricsPort === undefined) return { report: null, lines: [] };
      const line = `headgate-agent: version ${entry.version} did not end by itself within ${seconds} s; its metrics did not answer, so it is not known how many events were lost`;
      return { report: null, lines: [line] };
    }
    const lostEvents = sum(this.#held, 'lostEvents');
    const keptEvents = sum(this.#held, 'keptEvents');
    if (lostEvents + keptEvents === 0) return { report: null, lines: [] };
    const report: DrainReport = {
      version: entry.version,
      endedAt: endedAt.toISOString(),
      lostEvents,
      keptEvents,
      sinks: this.#held.slice(0, MOST_SINKS),
    };
    return { report, lines: linesOf(report, seconds) };
  }

  #schedule(): void {
    if (this.#ended || this.#parts.metricsPort === undefined) return;
    this.#cancel = this.#parts.clock.after(READ_EVERY_MS, () => {
      void this.#read().then(() => {
        if (this.#ended) return;
        if (this.#reads % REPORT_EVERY === 2) this.#parts.onProgress();
        this.#schedule();
      });
    });
  }

  async #read(): Promise<void> {
    this.#reads += 1;
    try {
      const url = `http://127.0.0.1:${this.#parts.metricsPort}/metrics`;
      const answer = await request(url, { method: 'GET', timeoutMs: FIRST_READ_MS, maxBytes: MAX_BYTES });
      // An exporter that has lost its sources may still answer, with nothing.
      if (answer.status === 200 && answer.text.includes('vector_component_'))
        this.#held = readUndelivered(answer.text);
    } catch {
      // The last answer counts.
    }
  }
}

function sum(sinks: readonly SinkEvents[], name: 'lostEvents' | 'keptEvents'): number {
  return sinks.reduce((total, sink) => total + sink[name], 0);
}

function linesOf({ version, lostEvents, keptEvents, sinks }: DrainReport, seconds: number): string[] {
  const named = (name: 'lostEvents' | 'keptEvents') =>
    sinks
      .filter((sink) => sink[name] > 0)
      .slice(0, 5)
      .map((sink) => `"${sink.componentId}" ${sink[name]}`)
      .join(', ');
  const lines: string[] = [];
  if (lostEvents > 0)
    lines.push(
      `headgate-agent: up to ${lostEvents} events were lost: version ${version} was stopped and did not deliver them within ${seconds} s, and they were in memory only (${named('lostEvents')})`,
    );
  if (keptEvents > 0)
    lines.push(
      `headgate-agent: ${keptEvents} events of version ${version} are kept in a disk buffer, which the next engine delivers (${named('keptEvents')})`,
    );
  return lines;
}
