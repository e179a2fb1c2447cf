import type {
  DrainReport,
  PipelineEntry,
  PipelineReport,
  RefusedVersion,
} from '../../../schemas/agent/protocol.ts';
import type { LogRing } from '../../report/log-ring.ts';
import { PipelineRunner, type PipelineRunnerParts } from './pipeline-runner.ts';
import { statusOf } from './pipeline-transitions.ts';

export interface PipelineParts extends Omit<PipelineRunnerParts, 'onLine'> {
  /** The engine has written a line, which is in `logs` now. */
  onLine: (pipeline: Pipeline) => void;
}

/** One pipeline on this node: what is wanted of it, and what is reported about it. */
export class Pipeline {
  readonly #runner: PipelineRunner;
  readonly #parts: PipelineParts;

  constructor(wanted: PipelineEntry, parts: PipelineParts) {
    this.#parts = parts;
    this.#runner = new PipelineRunner(wanted, { ...parts, onLine: () => parts.onLine(this) });
  }

  get logs(): LogRing {
    return this.#runner.logs;
  }

  get id(): string {
    return this.#runner.id;
  }

  get status() {
    return statusOf(this.#runner.state);
  }

  get restarts(): number {
    return this.#runner.state.restarts;
  }

  get ended(): boolean {
    return this.#runner.state.phase === 'idle';
  }

  get pid(): number | undefined {
    return this.#runner.process?.pid;
  }

  /** Seconds since the engine was started; 0 when there is none. */
  get uptimeSeconds(): number {
    return this.#runner.process
      ? Math.floor((this.#parts.clock.monotonic() - this.#runner.engine.startedAt) / 1000)
      : 0;
  }

  get metricsPort(): number | undefined {
    return this.#runner.engine.metricsPort;
  }

  get apiPort(): number | undefined {
    return this.#runner.engine.apiPort;
  }

  /** Version and checksum of what runs; of what is wanted where nothing runs, or where that is being started. */
  get current(): PipelineEntry {
    const { phase, next, alive } = this.#runner.state;
    const replacing = phase === 'stopping' ? next === 'start' : phase === 'starting' && !alive;
    return replacing ? this.#runner.target : (this.#runner.running ?? this.#runner.wanted);
  }

  get refused(): RefusedVersion | undefined {
    return this.#runner.errors.refused(this.#runner.wanted);
  }

  /** What an engine of this pipeline runs with or may be started with again. */
  get inUse(): PipelineEntry | undefined {
    return this.ended ? undefined : this.#runner.running;
  }

  get lastError(): string | null {
    return this.#runner.errors.text(this.#runner.wanted, this.#runner.running, this.#runner.state.alive);
  }

  /** While the engine delivers what it holds before it ends. */
  get draining(): PipelineReport['draining'] {
    return this.#runner.drains.progress;
  }

  /** The last stop that left events undelivered. */
  get lastDrain(): DrainReport | null {
    return this.#runner.drains.lastReport;
  }

  /** What of the running engine does not run. */
  get degraded(): string | null {
    return this.#runner.process ? this.#runner.diagnosis.degraded : null;
  }

  /** What the engine warned of since it was started. */
  get warnings(): string[] {
    return this.#runner.process ? this.#runner.diagnosis.warnings : [];
  }

  want(entry: PipelineEntry): void {
    const changed = this.ended || this.#leaving || entry.checksum !== this.#runner.wanted.checksum;
    this.#runner.wanted = entry;
    const same = this.#runner.running?.checksum === entry.checksum;
    if (changed) {
      const { errors } = this.#runner;
      const hadError = errors.refusal !== undefined || errors.unwritten !== undefined;
      errors.refusal = undefined;
      // Nothing is written where the engine already runs with what is wanted.
      errors.unwritten = undefined;
      this.#runner.dispatch({ type: same ? 'reverted' : 'wanted' });
      if (hadError) this.#parts.onChange();
    }
    // The same content under a newer version number is taken over as it runs.
    if (same && this.#runner.running) this.#runner.running = entry;
  }

  /** Stops the engine. The config files go with an undeployed pipeline and stay when it is the agent that ends. */
  remove({ keepFiles = false } = {}): void {
    this.#runner.keepFiles = keepFiles;
    this.#runner.dispatch({ type: 'unwanted' });
  }

  killNow(): void {
    this.#runner.process?.signal('SIGKILL');
  }

  get #leaving(): boolean {
    return this.#runner.state.phase === 'stopping' && this.#runner.state.next === 'end';
  }
}
