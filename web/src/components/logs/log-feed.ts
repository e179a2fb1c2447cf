/**
 * Reads log lines for one view: the newest at first, what is newer when it is told that there is something, what is
 * older when it is asked. One request at a time in each direction.
 */
import type { LogPage } from '../../../../schemas/api/logs.ts';
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
/** Further behind than this, the view begins anew with the newest lines. */
const MAX_CATCH_UP_PAGES = 5;
/** Between two looks at the newest lines, however fast they come. */
const REST_MS = 1_000;
const RETRY_MIN_MS = 2_000;
const RETRY_MAX_MS = 30_000;

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
  readonly #listeners = new Set<() => void>();
  #state = INITIAL;
  #following = true;
  #running = false;
  #looking = false;
  #again = false;
  #anew = false;
  #lookedAt = 0;
  #retryMs = RETRY_MIN_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(fetch: FetchLogs) {
    this.#fetch = fetch;
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

  /** Something may be newer: looks within a second. */
  nudge(): void {
    if (!this.#running) return;
    if (this.#looking) this.#again = true;
    else this.#schedule(Math.max(0, this.#lookedAt + REST_MS - Date.now()));
  }

  /** Whether the reader is at the newest line; coming back there shows what was left out meanwhile. */
  follow(following: boolean): void {
    if (this.#following === following) return;
    this.#following = following;
    if (!following) return;
    if (this.#state.unseen > 0) this.#set({ unseen: 0 });
    if (this.#state.behind) this.restart();
  }

  /** Begins anew with the newest lines; what is there stays in sight until they have come. */
  restart(): void {
    this.#following = true;
    this.#anew = true;
    this.#lookedAt = 0;
    this.nudge();
  }

  async loadOlder(): Promise<void> {
    const { older, loadingOlder } = this.#state;
    if (older === null || loadingOlder) return;
    this.#set({ loadingOlder: true, olderFailure: null });
    try {
      const page = await this.#fetch(older, LATER_PAGE);
      // Begun anew meanwhile: the page belongs to lines that are gone.
      if (this.#state.older === older) this.#set(withOlder(this.#state, page));
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
      this.#retryMs = RETRY_MIN_MS;
      this.#set({ failure: null, loaded: true, freshAt: Date.now() });
    } catch (error) {
      this.#set({ failure: error });
    }
    this.#looking = false;
    if (!this.#running) return;
    if (this.#state.failure !== null) {
      this.#schedule(this.#retryMs);
      this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MAX_MS);
    } else if (this.#again) this.#schedule(REST_MS);
    this.#again = false;
  }

  async #takeNewer(): Promise<void> {
    const anew = this.#anew || this.#state.lines.length === 0;
    const pages = await this.#newerPages();
    const start = anew || !pages.joined ? this.#beginning(pages.list, anew) : this.#state;
    if (!start) return;
    if (anew) this.#anew = false;
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
    const known = this.#anew ? undefined : this.#state.lines.at(-1)?.seq;
    const list: LogPage[] = [];
    let cursor: string | undefined;
    while (list.length < MAX_CATCH_UP_PAGES) {
      const page = await this.#fetch(cursor, cursor === undefined ? FIRST_PAGE : LATER_PAGE);
      list.push(page);
      const oldest = page.lines.at(-1)?.seq;
      if (known === undefined || oldest === undefined || page.nextCursor === null || !isAfter(oldest, known))
        return { list, joined: true };
      cursor = page.nextCursor;
    }
    return { list, joined: false };
  }

  /** Where lines in between are missing, a reader keeps his place and only learns that there is more. */
  #beginning(pages: readonly LogPage[], anew: boolean): LogBuffer | null {
    const oldest = pages.at(-1);
    if (!oldest) return null;
    if (this.#following || anew) return newestOnly(oldest);
    const added = pages.reduce((sum, page) => sum + page.lines.length, 0);
    this.#set({ behind: true, unseen: this.#state.unseen + added });
    return null;
  }
}
