/** One watching of a component: started by hand, ended by the reader, the node or the clock, whichever comes first. */
import type { TapEnded, TapEvents } from '../../../../../schemas/api/fleet/samples.ts';
import { cleared, EMPTY_TAP, released, type TapBuffer, withEvents } from './tap-buffer.ts';

export interface Tap {
  tapId: string;
  nodeName: string;
  /** It ends by itself then. */
  endsAt: Date;
}

export type TapPhase =
  | { kind: 'idle' }
  | { kind: 'starting' }
  | { kind: 'open'; tap: Tap }
  /** The browser tries again by itself; the controller waits for it a while. */
  | { kind: 'lost'; tap: Tap }
  | { kind: 'ended'; reason: string }
  | { kind: 'failed'; error: unknown };

export interface LiveState extends TapBuffer {
  phase: TapPhase;
  paused: boolean;
  /** By `performance.now()`. */
  startedAt: number;
}

/** What an event stream of the browser has that is used here. */
export interface TapStream {
  readonly readyState: number;
  addEventListener(type: string, listener: (event: Event) => void): void;
  close(): void;
}

interface Calls {
  start: () => Promise<Tap>;
  /** Never rejects: the controller ends what nobody watches. */
  stop: (tapId: string) => void;
  open: (tapId: string) => TapStream;
}

/** A page that nobody looks at for so long watches no longer. */
export const HIDDEN_MS = 60_000;
/** `EventSource.CLOSED`: the browser has given up. */
const CLOSED = 2;

export class LiveTap {
  readonly #calls: Calls;
  readonly #listeners = new Set<() => void>();
  #state: LiveState = { ...EMPTY_TAP, phase: { kind: 'idle' }, paused: false, startedAt: 0 };
  #stream: TapStream | null = null;
  #tapId: string | null = null;
  /** Which start this is: an answer to an earlier one is of no use. */
  #run = 0;
  #following = true;
  #hiddenTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  getState = (): LiveState => this.#state;

  async start(): Promise<void> {
    this.leave();
    this.#run += 1;
    const run = this.#run;
    this.#following = true;
    this.#set({ ...EMPTY_TAP, phase: { kind: 'starting' }, paused: false });
    try {
      const tap = await this.#calls.start();
      if (run === this.#run) this.#watch(tap);
      else this.#calls.stop(tap.tapId);
    } catch (error) {
      if (run === this.#run) this.#set({ phase: { kind: 'failed', error } });
    }
  }

  /** Nothing where it does not run. */
  stop(reason: string): void {
    const { kind } = this.#state.phase;
    if (kind !== 'starting' && kind !== 'open' && kind !== 'lost') return;
    this.leave();
    this.#set({ phase: { kind: 'ended', reason } });
  }

  /** Ends it without a word: nobody is there to read one. */
  leave(): void {
    this.#run += 1;
    if (this.#tapId !== null) this.#calls.stop(this.#tapId);
    this.#close();
  }

  pause(paused: boolean): void {
    this.#set({ paused });
    this.#release();
  }

  /** Whether the reader is at the newest event; elsewhere the list stands still under his eyes. */
  follow(following: boolean): void {
    this.#following = following;
    this.#release();
  }

  clear(): void {
    this.#set(cleared(this.#state));
  }

  /** A hidden page may come back; after a while it is taken for left. */
  hide(hidden: boolean): void {
    clearTimeout(this.#hiddenTimer);
    if (!hidden) return;
    this.#hiddenTimer = setTimeout(
      () => this.stop('It was stopped, since this page was out of sight for a minute.'),
      HIDDEN_MS,
    );
  }

  #watch(tap: Tap): void {
    const stream = this.#calls.open(tap.tapId);
    this.#stream = stream;
    this.#tapId = tap.tapId;
    // It is live once its stream is: what passes before goes by unseen.
    this.#set({ startedAt: performance.now() });
    const isCurrent = (): boolean => this.#stream === stream;
    stream.addEventListener('open', () => isCurrent() && this.#set({ phase: { kind: 'open', tap } }));
    stream.addEventListener('events', (message) => {
      const came = isCurrent() ? eventsIn(message) : null;
      if (!came) return;
      const holding = this.#state.paused || !this.#following;
      this.#set(withEvents(this.#state, came, { at: performance.now(), holding }));
    });
    stream.addEventListener('ended', (message) => {
      if (!isCurrent()) return;
      this.#close();
      this.#set({ phase: { kind: 'ended', reason: reasonIn(message) } });
    });
    stream.addEventListener('error', () => {
      if (!isCurrent()) return;
      if (stream.readyState !== CLOSED) return this.#set({ phase: { kind: 'lost', tap } });
      // The tap may be there still: a page that is being left loses its streams first of all.
      this.leave();
      this.#set({
        phase: { kind: 'ended', reason: 'The connection has broken, and the tap has ended.' },
      });
    });
  }

  #close(): void {
    this.#stream?.close();
    this.#stream = null;
    this.#tapId = null;
    clearTimeout(this.#hiddenTimer);
  }

  #release(): void {
    if (this.#following && !this.#state.paused) this.#set(released(this.#state));
  }

  #set(change: Partial<LiveState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

function eventsIn(message: Event): TapEvents | null {
  const data = parsed<Partial<TapEvents>>(message);
  if (!Array.isArray(data?.events)) return null;
  return { events: data.events, dropped: typeof data.dropped === 'number' ? data.dropped : 0 };
}

const reasonIn = (message: Event): string =>
  parsed<Partial<TapEnded>>(message)?.reason ?? 'The tap has ended.';

function parsed<T>(message: Event): T | null {
  const data: unknown = Reflect.get(message, 'data');
  if (typeof data !== 'string') return null;
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}
