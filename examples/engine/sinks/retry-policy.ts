export interface RetryOptions {
  /** Tries after the first one. */
  attempts: number;
  initialMs: number;
  maxMs: number;
  /** A random part of each delay is waited, so that many senders do not come back at once. */
  jitter: boolean;
}

/** Delays that grow like the Fibonacci numbers, as Vector's do: 1, 2, 3, 5 … times the initial one. */
export class RetryDelays {
  readonly #options: RetryOptions;
  readonly #random: () => number;
  #left: number;
  #previous = 0;
  #current: number;

  constructor(options: RetryOptions, random: () => number = Math.random) {
    this.#options = options;
    this.#random = random;
    this.#left = options.attempts;
    this.#current = options.initialMs;
  }

  /** The time to wait before the next try, in ms; undefined when there shall be none. */
  next(): number | undefined {
    if (this.#left <= 0) return undefined;
    this.#left -= 1;
    const sum = Math.min(this.#previous + this.#current, this.#options.maxMs);
    this.#previous = this.#current;
    this.#current = sum;
    return this.#options.jitter ? Math.floor(this.#random() * sum) + 1 : sum;
  }
}

export type Verdict = 'delivered' | 'retry' | 'drop';

/** What an answer's status means: 408, 429 and server errors but 501 are worth another try. */
export function verdictOf(status: number): Verdict {
  if (status >= 200 && status < 300) return 'delivered';
  if (status === 408 || status === 429) return 'retry';
  return status >= 500 && status !== 501 ? 'retry' : 'drop';
}
