/**
 * Reads log lines for one view: the newest at first, newer ones when a notification arrives, what is
 * older when it is asked. One request at a time in each direction.
 */
import type { LogPage } from '../../../../schemas/api/fleet/logs.ts';
import { EMPTY_BUFFER, isAfter, type LogBuffer, newestOnly, withNewer, withOlder } from './log-buffer.ts';

export type FetchLogs = (cursor: string | undefined, limit: number) => Promise<LogPage>;

export interface FeedState extends LogBuffer {
  /** False until the first page has come. */
  loaded: boolean;
  /** Lines that came since the reader left the end. */
  unseen: number;
  loadingOlder: boolean;
  /** Why the last look at the newest lines failed; null when it went through. */
  failure: unknown;
  /** Why the last read of older lines failed. */
  olderFailure: unknown;
  /** Milliseconds since the epoch of the last look that went through. */
  freshAt: number;
}

const FIRST_PAGE = 200;
const LATER_PAGE = 1_000;
/** Further behind than this, the view restarts with the newest lines. */
const MAX_CATCH_UP_PAGES = 5;
/** A filter that little meets gives pages without a line; after so many the reader says whether to go on. */
const MAX_EMPTY_PAGES = 10;
/** Milliseconds: between two looks at the newest lines, however fast they come; after the first failure; at most. */
const PACE = { restMs: 1_000, retryMs: 2_000, maxRetryMs: 30_000 };

const INITIAL: FeedState = {
  ...EMPTY_BUFFER,
  loaded: false,
  unseen: 0,
  loadingOlder: false,
  failure: null,
  olderFailure: null,
  freshAt: 0,
};

export class LogFeed {
  readonly #fetch: FetchLogs;
  readonly #pace: typeof PACE;
  readonly #listeners = new Set<() => void>();
  #state = INITIAL;
  #following = true;
  #running = false;
  #looking = false;
  #again = false;
  #restarting = false;
  #lookedAt = 0;
  #retryMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(fetch: FetchLogs, pace = PACE) {
    this.#fetch = fetch;
    this.#pace = pace;
    this.#retryMs = pace.retryMs;
  }

  /** Both are handed on without their feed, so they hold it themselves. */
  readonly getState = (): FeedState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  start(): void {
    this.#running = true;
    this.#schedule(0);
  }

  stop(): void {
    this.#running = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Something may be newer: looks as soon as it has rested. */
  nudge(): void {
    if (!this.#running) return;
    if (this.#looking) this.#again = true;
    else this.#schedule(Math.max(0, this.#lookedAt + this.#pace.restMs - Date.now()));
  }

  /** Whether the reader is at the newest line; coming back there shows what was left out meanwhile. */
  follow(following: boolean): void {
    if (this.#following === following) return;
    this.#following = following;
    if (!following) return;
    if (this.#state.unseen > 0) this.#set({ unseen: 0 });
    if (this.#state.behind) this.restart();
  }

  /** Restarts with the newest lines; the present lines stay visible until they have come. */
  restart(): void {
    this.#following = true;
    this.#restarting = true;
    this.#lookedAt = 0;
    this.nudge();
  }

  async loadOlder(): Promise<void> {
    if (this.#state.older === null || this.#state.loadingOlder) return;
    this.#set({ loadingOlder: true, olderFailure: null });
    try {
      for (let empty = 0; empty < MAX_EMPTY_PAGES; empty += 1) {
        const older: string | null = this.#state.older;
        if (older === null) break;
        const page = await this.#fetch(older, LATER_PAGE);
        // Restarted meanwhile: the page belongs to lines that are gone.
        if (!this.#running || this.#state.older !== older) break;
        this.#set(withOlder(this.#state, page));
        if (page.lines.length > 0) break;
      }
    } catch (error) {
      this.#set({ olderFailure: error });
    } finally {
      this.#set({ loadingOlder: false });
    }
  }

  #set(change: Partial<FeedState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), ms);
  }

  async #look(): Promise<void> {
    this.#looking = true;
    this.#lookedAt = Date.now();
    try {
      if (!(this.#state.behind && !this.#following)) await this.#takeNewer();
      this.#retryMs = this.#pace.retryMs;
      const first = !this.#state.loaded;
      this.#set({ failure: null, loaded: true, freshAt: Date.now() });
      if (first && this.#state.lines.length === 0) void this.loadOlder();
    } catch (error) {
      this.#set({ failure: error });
    }
    this.#looking = false;
    if (!this.#running) return;
    if (this.#state.failure !== null) {
      this.#schedule(this.#retryMs);
      this.#retryMs = Math.min(this.#retryMs * 2, this.#pace.maxRetryMs);
    } else if (this.#again) this.#schedule(this.#pace.restMs);
    this.#again = false;
  }

  async #takeNewer(): Promise<void> {
    const restart = this.#restarting || this.#state.lines.length === 0;
    const pages = await this.#newerPages();
    // Nothing matches yet: how far back that was looked for is kept.
    if (this.#state.loaded && !this.#restarting && pages.list.every(({ lines }) => lines.length === 0))
      return;
    const start = restart || !pages.joined ? this.#beginning(pages.list, restart) : this.#state;
    if (!start) return;
    if (restart) this.#restarting = false;
    let buffer: LogBuffer = start;
    let added = 0;
    for (const page of pages.list.toReversed()) {
      const taken = withNewer(buffer, page, this.#following);
      buffer = taken.buffer;
      added += taken.added;
    }
    const unseen = this.#following ? 0 : this.#state.unseen + added;
    this.#set({ lines: buffer.lines, older: buffer.older, behind: buffer.behind, unseen });
  }

  /** Newest first, back to the newest line that is known; not `joined` when that was too far away. */
  async #newerPages(): Promise<{ list: LogPage[]; joined: boolean }> {
    const known = this.#restarting ? undefined : this.#state.lines.at(-1)?.seq;
    const list: LogPage[] = [];
    let cursor: string | undefined;
    while (list.length < MAX_CATCH_UP_PAGES) {
      const page = await this.#fetch(cursor, cursor === undefined ? FIRST_PAGE : LATER_PAGE);
      list.push(page);
      // A filtered page may hold no line and still have looked at many: its cursor tells how far.
      if (known === undefined || page.nextCursor === null || !isAfter(page.nextCursor, known))
        return { list, joined: true };
      cursor = page.nextCursor;
    }
    return { list, joined: false };
  }

  /** Where lines in between are missing, a reader keeps his place and only learns that there is more. */
  #beginning(pages: readonly LogPage[], restart: boolean): LogBuffer | null {
    const oldest = pages.at(-1);
    if (!oldest) return null;
    if (this.#following || restart) return newestOnly(oldest);
    const added = pages.reduce((sum, page) => sum + page.lines.length, 0);
    this.#set({ behind: true, unseen: this.#state.unseen + added });
    return null;
  }
}
