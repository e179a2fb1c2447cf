import type { Clock } from '../../reconcilers/loops/clock.ts';
import { type EngineProcess, startEngine } from '../supervise/engine/engine-process.ts';
import { EVENT_LINE_BYTES, type ReadEvent, readEvent } from './tap-event.ts';
import type { TapTarget } from './tap-target.ts';

export interface TapOrder {
  engine: TapTarget;
  /** Already looked at by `componentKeyError`. */
  componentKey: string;
  /** A sink has no output: it is tapped at its inputs. */
  sink: boolean;
  /** Events of an interval of 500 ms. */
  limit: number;
  durationMs: number;
  clock: Clock;
}

export interface TapEnd {
  /** Null where a signal ended it. */
  code: number | null;
  /** What the engine wrote about it, without secrets; empty where it wrote nothing. */
  complaint: string;
}

export interface TapHandlers {
  /** Whether a line is to be read at all: reading costs more than leaving it out. All are where this is left out. */
  admit?: () => boolean;
  onEvent: (event: ReadEvent) => void;
  /** Nothing follows. */
  onEnd: (end: TapEnd) => void;
}

/** Where the engine has ended under a `tap`, that is known this much later. */
export const END_SETTLES_MS = 500;
/** A `tap` that does not end by itself is killed this much later. */
const OVERTIME_MS = 5_000;
/** The rest of the output is there this long after the end. */
const CLOSE_MS = 1_000;
const COMPLAINT_CHARS = 500;

/**
 * Runs the engine's `tap` in a process group of its own. It ends with its time, with its engine, or by `stop`, after
 * which neither handler is called.
 */
export class TapProcess {
  /** Settles when the process is gone. */
  readonly gone: Promise<void>;
  readonly #handlers: TapHandlers;
  readonly #cancelLimit: () => void;
  #process: EngineProcess | undefined;
  #exit: { code: number | null } | undefined;
  #complaint = '';
  #over = false;

  constructor(order: TapOrder, handlers: TapHandlers) {
    const { engine, clock, durationMs } = order;
    this.#handlers = handlers;
    let settle = () => {};
    this.gone = new Promise((done) => {
      settle = done;
    });
    const closed = () => {
      settle();
      this.#end(this.#exit?.code ?? null);
    };
    this.#cancelLimit = clock.after(durationMs + OVERTIME_MS, () => this.#kill());
    this.#process = startEngine(
      {
        executable: engine.executable,
        args: tapArguments(order),
        env: engine.env,
        cwd: '/',
        stdoutLineBytes: EVENT_LINE_BYTES,
      },
      {
        onLine: (line, cut, from) => {
          if (from === 'stderr') this.#complain(engine.blank(line));
          else if (!this.#over && (handlers.admit?.() ?? true))
            this.#take(readEvent(line, cut, engine.wrapped, engine.blank));
        },
        onExit: ({ code }) => {
          this.#exit = { code };
          // What it may have forked would hold the output open. Later the pid may be somebody else's.
          this.#kill();
          this.#process = undefined;
          // What has left the group may hold the output open all the same.
          clock.after(CLOSE_MS, closed);
        },
        onClose: closed,
        onError: (error) => {
          this.#complaint = `the engine could not be started: ${error.message}`;
          queueMicrotask(closed);
        },
      },
    );
  }

  /** Settles as `gone` does. */
  stop(): Promise<void> {
    this.#over = true;
    this.#cancelLimit();
    this.#kill();
    return this.gone;
  }

  #kill(): void {
    this.#process?.signal('SIGKILL');
  }

  #take(event: ReadEvent | undefined): void {
    if (event) this.#handlers.onEvent(event);
  }

  /** The line that names an error, or else the last one. */
  #complain(line: string): void {
    if (!/error|fail|couldn't|cannot/i.test(this.#complaint))
      this.#complaint = line.slice(0, COMPLAINT_CHARS);
  }

  #end(code: number | null): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancelLimit();
    this.#handlers.onEnd({ code, complaint: this.#complaint });
  }
}

function tapArguments({ engine, componentKey, sink, limit, durationMs }: TapOrder): string[] {
  return [
    'tap',
    sink ? '--inputs-of' : '--outputs-of',
    componentKey,
    ...['--format', 'json', '--limit', String(limit), '--interval', '500'],
    ...['--duration-ms', String(durationMs), '--url', engine.url],
    ...['--quiet', '--no-reconnect'],
  ];
}
