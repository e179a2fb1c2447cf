/** Times of many events, looked at every millisecond or so. An event is a small number and has one time. */
import { clock } from './messages.ts';

/** Milliseconds that the wheel reaches ahead; a power of two. */
const SPAN = 65_536;
const NONE = -1;

export class Wheel {
  readonly dueAt: Float64Array;
  readonly #next: Int32Array;
  readonly #first = new Int32Array(SPAN).fill(NONE);
  readonly #begin = clock();
  #done = 0;

  constructor(events: number) {
    this.dueAt = new Float64Array(events);
    this.#next = new Int32Array(events).fill(NONE);
  }

  /** `event` must not be waiting already. At most a minute ahead. */
  at(event: number, due: number): void {
    this.dueAt[event] = due;
    const slot = Math.max(this.#done, Math.floor(due - this.#begin)) % SPAN;
    this.#next[event] = this.#first[slot]!;
    this.#first[slot] = event;
  }

  /** Calls `fire` for each event whose time has come. */
  turn(fire: (event: number) => void): void {
    const now = Math.floor(clock() - this.#begin);
    for (; this.#done < now; this.#done += 1) {
      const slot = this.#done % SPAN;
      let event = this.#first[slot]!;
      this.#first[slot] = NONE;
      while (event !== NONE) {
        const following = this.#next[event]!;
        fire(event);
        event = following;
      }
    }
  }
}
