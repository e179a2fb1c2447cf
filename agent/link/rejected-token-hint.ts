import type { Clock } from '../../reconcilers/loops/clock.ts';
import type { Logger } from '../log.ts';

const PERIOD_MS = 60_000;

/** Logs what to do about a node token that the controller refuses, once a minute at most. */
export class RejectedTokenHint {
  readonly #tokenFile: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(tokenFile: string, clock: Clock, log: Logger) {
    this.#tokenFile = tokenFile;
    this.#clock = clock;
    this.#log = log;
  }

  /** `status`: of any answer that was no success; undefined where none came. */
  note(status: number | undefined): void {
    const now = this.#clock.monotonic();
    if (status !== 401 || now < this.#loggedAt + PERIOD_MS) return;
    this.#loggedAt = now;
    this.#log.error(
      'the controller refuses this node: if it was revoked, delete node-token and start again with a new SVC_TOKEN',
      { file: this.#tokenFile },
    );
  }
}
