import type { Clock } from '../../../reconcilers/loops/clock.ts';
import type { PipelineEntry } from '../../../schemas/agent/protocol.ts';
import type { Logger } from '../../log.ts';
import { EngineDiagnosis } from '../../report/engine-diagnosis.ts';
import { LogRing } from '../../report/log-ring.ts';
import type { CheckResult, ConfigChecks } from '../engine/config-check.ts';
import { killAfterMs } from '../engine/drain.ts';
import { DrainTracker } from '../engine/drain-tracker.ts';
import type { PortCounter } from '../engine/engine-ports.ts';
import type { EngineExit, EngineProcess } from '../engine/engine-process.ts';
import { removeFile } from '../files/atomic-files.ts';
import type { Certificates } from '../files/certificates.ts';
import type { DataDirectory } from '../files/data-directory.ts';
import { describeWriteError, writePipelineFiles } from '../files/pipeline-files.ts';
import { NamedTimers } from './named-timers.ts';
import { PipelineEngine, StartFailure } from './pipeline-engine.ts';
import { PipelineErrors } from './pipeline-errors.ts';
import {
  type Effect,
  type Event,
  INITIAL,
  type State,
  statusOf,
  step,
  type TimerEvent,
} from './pipeline-transitions.ts';

export interface PipelineRunnerParts {
  directory: DataDirectory;
  certificates: Certificates;
  checks: ConfigChecks;
  ports: PortCounter;
  /** Name or path of the engine's executable. */
  engineBin: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Logger;
  /** The status or the restart counter is another than before. */
  onChange: () => void;
  /** The engine has written a line, which is in `logs` now. */
  onLine: () => void;
}

/** Carries out the effects of one pipeline's state machine and reports their outcome to it. */
export class PipelineRunner {
  readonly id: string;
  readonly logs = new LogRing();
  readonly engine: PipelineEngine;
  readonly errors = new PipelineErrors();
  readonly drains: DrainTracker;
  state: State = INITIAL;
  wanted: PipelineEntry;
  /** What the engine was started with; it lags behind what is wanted while that cannot be written. */
  running: PipelineEntry | undefined;
  process: EngineProcess | undefined;
  /** Of the engine that was started last. Its lines may still arrive shortly after its end. */
  diagnosis = new EngineDiagnosis();
  /** The config files stay when the engine is stopped for good. */
  keepFiles = false;
  readonly #parts: PipelineRunnerParts;
  readonly #timers: NamedTimers<TimerEvent>;
  #attempt = 0;
  #cancelCheck = () => {};

  constructor(wanted: PipelineEntry, parts: PipelineRunnerParts) {
    this.id = wanted.pipelineId;
    this.wanted = wanted;
    this.#parts = parts;
    this.engine = new PipelineEngine({ ...parts, pipelineId: this.id });
    this.#timers = new NamedTimers(parts.clock);
    this.drains = new DrainTracker({
      clock: parts.clock,
      onProgress: parts.onChange,
      onLine: (line) => {
        this.logs.push(line);
        parts.onLine();
        parts.log.warn(line.replace('headgate-agent: ', ''), { pipeline: this.id });
      },
    });
  }

  get #status() {
    return statusOf(this.state);
  }

  /** What the next engine is started with: while the wanted config is refused, the one that ran before. */
  get target(): PipelineEntry {
    return this.state.refusals > 0 && this.running ? this.running : this.wanted;
  }

  dispatch(event: Event): void {
    const before = { status: this.#status, restarts: this.state.restarts };
    const { state, effects } = step(this.state, event);
    this.state = state;
    if (this.#status !== before.status || state.restarts !== before.restarts) {
      this.#parts.log.info('pipeline status', {
        pipeline: this.id,
        status: this.#status,
        restarts: state.restarts,
      });
      this.#parts.onChange();
    }
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    switch (effect.do) {
      case 'allocatePorts':
        this.engine.allocatePorts();
        return;
      case 'check':
        this.#check();
        return;
      case 'cancelCheck':
        this.#cancelCheck();
        return;
      case 'prepare':
        this.#prepare();
        return;
      case 'spawn':
        this.#spawn().catch((error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error);
          const isWhole = error instanceof StartFailure;
          this.#startFailed(isWhole ? reason : `start of engine for pipeline failed: ${reason}`);
        });
        return;
      case 'terminate':
        this.#terminate();
        return;
      case 'kill':
        this.#parts.log.warn('engine did not end in time and is killed', { pipeline: this.id });
        this.process?.signal('SIGKILL');
        return;
      case 'sweep':
        this.process?.signal('SIGKILL');
        this.process = undefined;
        return;
      case 'removeFiles':
        this.#attempt += 1;
        this.running = undefined;
        if (this.keepFiles) return;
        removeFile(this.#parts.directory.config(this.id));
        removeFile(this.#parts.directory.sidecar(this.id));
        return;
      case 'timer': {
        const ms = effect.event === 'killDue' && this.running ? killAfterMs(this.running) : effect.ms;
        this.#timers.set(effect.event, ms, () => this.dispatch({ type: effect.event }));
        return;
      }
      case 'cancelTimer':
        this.#timers.cancel(effect.event);
        return;
      case 'cancelTimers':
        this.#timers.cancelAll();
        return;
    }
  }

  #check(): void {
    const { directory, certificates, checks } = this.#parts;
    const entry = this.wanted;
    this.#cancelCheck();
    this.#cancelCheck = checks.start(
      {
        ...{ directory, entry, ports: this.engine.ports },
        certificateFiles: () => certificates.plan(entry).write,
        enginePid: () => this.process?.pid,
      },
      (result) => this.#checked(entry, result),
    );
  }

  #checked(entry: PipelineEntry, result: CheckResult): void {
    const { log, onChange } = this.#parts;
    const before = this.errors.refusal;
    this.errors.refusal = result.answer === 'refused' ? result.error : undefined;
    this.errors.unwritten = result.answer === 'unwritten' ? this.#logged(result.error) : undefined;
    if (result.answer === 'unknown')
      log.info('the engine cannot check configs', { pipeline: this.id, reason: result.reason });
    if (this.errors.refusal !== undefined && this.errors.refusal !== before)
      log.error('the engine refuses the new version, the old one goes on running', {
        pipeline: this.id,
        version: entry.version,
        running: this.running?.version,
        reason: this.errors.refusal,
      });
    this.dispatch({ type: 'checked', answer: result.answer === 'unknown' ? 'accepted' : result.answer });
    if (this.errors.refusal !== before || this.errors.unwritten !== undefined) onChange();
  }

  #terminate(): void {
    if (!this.process || !this.running) return;
    const metricsPort = this.state.was === 'RUNNING' ? this.engine.metricsPort : undefined;
    this.drains.begin(this.process, this.running, metricsPort);
  }

  #prepare(): void {
    const { directory, certificates } = this.#parts;
    const entry = this.target;
    const plan = certificates.plan(entry);
    try {
      writePipelineFiles(directory, entry, this.engine.ports, plan.write);
    } catch (error) {
      this.errors.unwritten = this.#logged(describeWriteError(directory, this.id, error));
      this.dispatch({ type: 'prepareFailed' });
      return;
    }
    this.errors.unwritten = undefined;
    certificates.wrote(plan);
    this.errors.warnings = plan.refused;
    for (const refusal of plan.refused) this.#parts.log.error(refusal, { pipeline: this.id });
    this.dispatch({ type: 'prepared' });
  }

  async #spawn(): Promise<void> {
    this.#attempt += 1;
    const attempt = this.#attempt;
    const ports = await this.engine.freePorts().catch(startFailure);
    // Since then the pipeline may have been removed or changed, which makes a later attempt the right one.
    if (attempt !== this.#attempt || this.state.phase !== 'starting' || this.state.alive) return;
    if (ports instanceof StartFailure) throw ports;
    const entry = this.target;
    const engine = this.engine.start(entry, ports, {
      onLine: (line, from, diagnosis) => this.#line(line, from, diagnosis),
      onExit: (exit) => this.#exited(exit),
      onError: (message) => this.#startFailed(message),
      onSecretsRefused: (names) => {
        for (const name of names)
          this.errors.warnings.push(
            `secret ${JSON.stringify(name)} not passed on: its name must be SVC_SECRET_<NAME>`,
          );
      },
    });
    if (!engine) return;
    if (this.running?.checksum !== entry.checksum) this.errors.lastExit = undefined;
    this.errors.startError = undefined;
    this.diagnosis = engine.diagnosis;
    this.process = engine.process;
    this.running = entry;
    this.#parts.log.info('engine started', {
      pipeline: this.id,
      pid: engine.process.pid,
      metricsPort: this.engine.ports.metrics,
    });
    this.dispatch({ type: 'spawned' });
  }

  #startFailed(message: string): void {
    this.errors.startError = this.#logged(message);
    this.dispatch({ type: 'spawnFailed' });
  }

  #line(line: string, from: 'stdout' | 'stderr', diagnosis: EngineDiagnosis): void {
    this.logs.push(line);
    this.#parts.onLine();
    diagnosis.add(line, from);
  }

  #exited({ code, signal }: EngineExit): void {
    const ranMs = this.#parts.clock.monotonic() - this.engine.startedAt;
    const expected = this.state.phase === 'stopping';
    this.drains.end(signal !== null);
    if (!expected) {
      const text = signal ? `engine ended by ${signal}` : `engine exited with code ${code}`;
      this.errors.lastExit = { text, diagnosis: this.diagnosis };
      this.#parts.log.warn('engine ended', {
        pipeline: this.id,
        code: code ?? undefined,
        signal: signal ?? undefined,
      });
    }
    this.dispatch({ type: 'exited', ranMs });
  }

  /** Logs it; returns it without secrets. */
  #logged(problem: string): string {
    const text = this.engine.redact(problem);
    this.#parts.log.error(text, { pipeline: this.id });
    return text;
  }
}

function startFailure(error: unknown): StartFailure {
  if (error instanceof StartFailure) return error;
  throw error;
}
