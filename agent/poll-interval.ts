import { LIMITS } from './limits.ts';
import type { Logger } from './log.ts';

/** The period between two polls: the agent's own setting until the controller sends another one. */
export class PollInterval {
  readonly #log: Logger;
  #ms: number;
  #ignored: number | undefined;

  constructor(ms: number, log: Logger) {
    this.#ms = ms;
    this.#log = log;
  }

  get ms(): number {
    return this.#ms;
  }

  /**
   * Takes over the controller's value in milliseconds, 500 at least. Answers whether it counts: a value over 1 h would
   * make the node look lost for as long, so it is ignored. It is logged once, since every config answer repeats it.
   */
  set(ms: number | undefined): boolean {
    if (ms === undefined || ms <= 0) return false;
    if (ms > LIMITS.longestPollMs) {
      if (ms !== this.#ignored)
        this.#log.warn('poll interval over 1 h from the controller ignored', { ms, interval: this.#ms });
      this.#ignored = ms;
      return false;
    }
    this.#ignored = undefined;
    this.#ms = Math.max(LIMITS.shortestPollMs, ms);
    return true;
  }
}
