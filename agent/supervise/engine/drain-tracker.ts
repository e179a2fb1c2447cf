import type { Clock } from '../../../reconcilers/loops/clock.ts';
import type { DrainReport, PipelineEntry, PipelineReport } from '../../../schemas/agent/protocol.ts';
import { Drain } from './drain.ts';
import type { EngineProcess } from './engine-process.ts';

export interface DrainTrackerOptions {
  clock: Clock;
  /** What is reported has changed. */
  onProgress: () => void;
  /** For the log of the pipeline and that of the agent. */
  onLine: (line: string) => void;
}

/** The drain of a pipeline's engine that ends, and the last one that left events undelivered. */
export class DrainTracker {
  readonly #options: DrainTrackerOptions;
  #drain: Drain | undefined;
  #lastReport: DrainReport | null = null;

  constructor(options: DrainTrackerOptions) {
    this.#options = options;
  }

  /** While the engine delivers what it holds before it ends. */
  get progress(): PipelineReport['draining'] {
    return this.#drain?.progress ?? null;
  }

  /** The last stop that left events undelivered. */
  get lastReport(): DrainReport | null {
    return this.#lastReport;
  }

  /** SIGTERM, after a read of what the engine still holds. `metricsPort` is undefined for one that was not up yet. */
  begin(engine: EngineProcess, entry: PipelineEntry, metricsPort: number | undefined): void {
    const { clock, onProgress } = this.#options;
    const drain = new Drain({ entry, metricsPort, clock, onProgress });
    this.#drain = drain;
    drain.begin(() => engine.signal('SIGTERM'));
  }

  /** The engine has ended. `forced`: it was killed, or ended by a signal. */
  end(forced: boolean): void {
    const outcome = this.#drain?.end(forced, new Date(this.#options.clock.now()));
    this.#drain = undefined;
    if (!outcome) return;
    if (outcome.report) this.#lastReport = outcome.report;
    for (const line of outcome.lines) this.#options.onLine(line);
  }
}
