import type { Clock } from '../../reconcilers/loops/clock.ts';
import { LIMITS } from '../limits.ts';
import type { ReadEvent } from './tap-event.ts';

/** Of one tap, while they wait for their turn. */
const MOST_EVENTS = LIMITS.tapEventsPerSecond;
const MOST_CHARS = 512 * 1024;

/** The newest events of a live tap, not too many a second, and how many were left out. */
export class TapBuffer {
  readonly #clock: Clock;
  #texts: string[] = [];
  #chars = 0;
  #dropped = 0;
  #secondAt = Number.NEGATIVE_INFINITY;
  #inSecond = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#texts.length;
  }

  /** Whether there is room in this second for one more event, which is counted as left out otherwise. */
  admit(): boolean {
    const now = this.#clock.monotonic();
    if (now - this.#secondAt >= 1_000) {
      this.#secondAt = now;
      this.#inSecond = 0;
    }
    this.#inSecond += 1;
    if (this.#inSecond <= LIMITS.tapEventsPerSecond) return true;
    this.#dropped += 1;
    return false;
  }

  add({ text }: ReadEvent): void {
    this.#texts.push(text);
    this.#chars += text.length;
    while (this.#texts.length > MOST_EVENTS || this.#chars > MOST_CHARS) {
      this.#chars -= this.#texts.shift()?.length ?? 0;
      this.#dropped += 1;
    }
  }

  countDropped(events: number): void {
    this.#dropped += events;
  }

  /** The oldest events as JSON, as many as one delivery takes, and what was left out before or among them. */
  take(): { texts: string[]; dropped: number } {
    const texts = this.#texts.splice(0, LIMITS.tapBatchEvents);
    for (const text of texts) this.#chars -= text.length;
    const dropped = this.#dropped;
    this.#dropped = 0;
    return { texts, dropped };
  }
}
