import type { Clock } from '../../reconcilers/loops/clock.ts';
import type { PipelineEntry } from '../../schemas/agent/protocol.ts';
import { ID } from '../limits.ts';
import type { Logger } from '../log.ts';
import { ConfigChecks } from './engine/config-check.ts';
import { PortCounter } from './engine/engine-ports.ts';
import { Certificates } from './files/certificates.ts';
import type { DataDirectory } from './files/data-directory.ts';
import { Pipeline } from './lifecycle/pipeline.ts';

export interface SupervisorOptions {
  directory: DataDirectory;
  portBase: number;
  engineBin: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Logger;
  /** Some pipeline's status is another than before. */
  onChange: () => void;
  /** An engine has written a line. */
  onLine: (pipeline: Pipeline) => void;
}

/** All pipelines of this node: makes what runs here equal to what the controller lists. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #certificates: Certificates;
  readonly #checks: ConfigChecks;
  readonly #ports: PortCounter;
  readonly #pipelines = new Map<string, Pipeline>();
  #orphansRemoved = false;
  #ending = false;
  #endedListeners: (() => void)[] = [];

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#certificates = new Certificates(options.directory.certs);
    this.#checks = new ConfigChecks(options);
    this.#ports = new PortCounter(options.portBase);
  }

  /** Pipelines that run, start, failed, or were stopped and not yet reported as such. */
  list(): Pipeline[] {
    return [...this.#pipelines.values()];
  }

  find(pipelineId: string): Pipeline | undefined {
    return this.#pipelines.get(pipelineId);
  }

  get runningCount(): number {
    return this.list().filter((pipeline) => pipeline.status === 'RUNNING').length;
  }

  /**
   * Takes over a whole, well-formed list. A pipeline that is absent is stopped; an entry whose id could not be a file
   * name is refused alone.
   */
  apply(entries: readonly PipelineEntry[]): void {
    if (this.#ending) return;
    const accepted = entries.filter((entry) => {
      if (ID.test(entry.pipelineId)) return true;
      this.#options.log.error(
        'pipeline refused: its id must be 1 to 64 letters, digits, dashes and underscores',
        {
          id: entry.pipelineId.slice(0, 80),
        },
      );
      return false;
    });
    const wanted = new Set(accepted.map((entry) => entry.pipelineId));
    for (const pipeline of this.#pipelines.values()) {
      if (!wanted.has(pipeline.id)) pipeline.remove();
    }
    this.#certificates.claim(accepted, this.#inUse());
    for (const entry of accepted) this.#want(entry);
    this.#removeOrphans(wanted);
  }

  #want(entry: PipelineEntry): void {
    const known = this.#pipelines.get(entry.pipelineId);
    if (known) {
      known.want(entry);
      return;
    }
    const { directory, engineBin, env, clock, log, onLine } = this.#options;
    const pipeline = new Pipeline(entry, {
      directory,
      certificates: this.#certificates,
      checks: this.#checks,
      ports: this.#ports,
      engineBin,
      env,
      clock,
      log,
      onChange: () => this.#changed(),
      onLine,
    });
    this.#pipelines.set(entry.pipelineId, pipeline);
    pipeline.want(entry);
  }

  #inUse(): PipelineEntry[] {
    return this.list().flatMap(({ inUse }) => inUse ?? []);
  }

  #changed(): void {
    this.#certificates.release(this.#inUse());
    this.#options.onChange();
    if (this.list().some((pipeline) => !pipeline.ended)) return;
    for (const listener of this.#endedListeners.splice(0)) listener();
  }

  #removeOrphans(wanted: ReadonlySet<string>): void {
    if (this.#orphansRemoved) return;
    this.#orphansRemoved = true;
    const removed = this.#options.directory.removeOrphans(wanted);
    if (removed.length > 0)
      this.#options.log.info('files of earlier runs removed', { count: removed.length });
  }

  /** The controller knows that these have stopped: they need no further mention. */
  forget(pipelines: Iterable<Pipeline>): void {
    for (const pipeline of pipelines) {
      if (pipeline.ended && this.#pipelines.get(pipeline.id) === pipeline)
        this.#pipelines.delete(pipeline.id);
    }
  }

  /** Stops every engine and starts none any more. Resolves when all have ended, at most the longest drain and a moment later. */
  async stopAll(): Promise<void> {
    this.#ending = true;
    const all = this.list();
    const ended = new Promise<void>((done) => this.#endedListeners.push(done));
    for (const pipeline of all) pipeline.remove({ keepFiles: true });
    if (all.every((pipeline) => pipeline.ended)) return;
    await ended;
  }

  killAll(): void {
    for (const pipeline of this.#pipelines.values()) pipeline.killNow();
  }
}
