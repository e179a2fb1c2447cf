import type { Clock } from '../../reconcilers/loops/clock.ts';
import type { ConfigResponse } from '../../schemas/agent/protocol.ts';
import type { Logger } from '../log.ts';
import { stopOrphans } from './engine/orphaned-engines.ts';
import type { DataDirectory } from './files/data-directory.ts';
import type { Supervisor } from './supervisor.ts';

/** Applies the newest config, once engines of an earlier run have ended. */
export class DesiredState {
  readonly #supervisor: Supervisor;
  readonly #stopOrphans: () => Promise<void>;
  #newest: ConfigResponse | undefined;
  #orphansStopped: Promise<void> | undefined;
  #stopped = false;

  constructor(supervisor: Supervisor, directory: DataDirectory, clock: Clock, log: Logger) {
    this.#supervisor = supervisor;
    this.#stopOrphans = () => stopOrphans(directory, clock, log);
  }

  /** False where a newer config or the end of the agent came first. Polls do not wait for it: it may take 30 s. */
  async apply(config: ConfigResponse): Promise<boolean> {
    this.#newest = config;
    await this.stopOrphans();
    if (this.#stopped || config !== this.#newest) return false;
    this.#supervisor.apply(config.pipelines);
    return true;
  }

  /**
   * Engines that a killed agent left run on until the desired state is known: without the controller they could not be
   * started again, since their secrets are on no disk.
   */
  stopOrphans(): Promise<void> {
    this.#orphansStopped ??= this.#stopOrphans();
    return this.#orphansStopped;
  }

  /** Nothing is applied any more. */
  stop(): void {
    this.#stopped = true;
  }
}
