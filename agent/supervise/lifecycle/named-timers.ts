import type { Clock } from '../../../reconcilers/loops/clock.ts';

/** At most one timer of each name. */
export class NamedTimers<Name extends string> {
  readonly #clock: Clock;
  readonly #cancels = new Map<Name, () => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Replaces the one of that name. */
  set(name: Name, ms: number, task: () => void): void {
    this.#cancels.get(name)?.();
    this.#cancels.set(name, this.#clock.after(ms, task));
  }

  cancel(name: Name): void {
    this.#cancels.get(name)?.();
    this.#cancels.delete(name);
  }

  cancelAll(): void {
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
  }
}
