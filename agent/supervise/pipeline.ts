import type { Clock } from '../../reconcilers/engine/clock.ts';
import type {
  DrainReport,
  PipelineEntry,
  PipelineReport,
  RefusedVersion,
} from '../../schemas/agent/protocol.ts';
import type { Logger } from '../log.ts';
import { componentAddress } from '../report/component-address.ts';
import { EngineDiagnosis } from '../report/engine-diagnosis.ts';
import type { EngineComponent } from '../report/engine-log.ts';
import { LogRing } from '../report/log-ring.ts';
import { type Redactor, redactor } from '../report/redact.ts';
import type { Certificates } from './certificates.ts';
import type { CheckResult, ConfigChecks } from './config-check.ts';
import type { DataDirectory } from './directories.ts';
import { Drain, killAfterMs } from './drain.ts';
import { engineEnvironment } from './environment.ts';
import { findExecutable } from './executable.ts';
import { removeFile } from './files.ts';
import { describeWriteError, writePipelineFiles, writeSidecar } from './pipeline-files.ts';
import { type EnginePorts, type PortCounter, PortError } from './ports.ts';
import { type EngineExit, type EngineProcess, startEngine } from './process.ts';
import { METRICS_EXPORTER } from './sidecar.ts';
import { type Effect, type Event, INITIAL, type State, statusOf, step } from './state.ts';

export interface PipelineParts {
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
  onLine: (pipeline: Pipeline) => void;
}

/** One pipeline on this node: carries out what the state machine asks and tells it how that went. */
export class Pipeline {
  readonly logs = new LogRing();
  readonly #parts: PipelineParts;
  #state: State = INITIAL;
  #wanted: PipelineEntry;
  /** What the engine was started with; it lags behind what is wanted while that cannot be written. */
  #running: PipelineEntry | undefined;
  /** Zeros until it is first started. */
  #ports: EnginePorts = { metrics: 0, api: 0 };
  #process: EngineProcess | undefined;
  #startedAt = 0;
  #attempt = 0;
  #redact: Redactor = redactor([]);
  /** What could not be written; gone once it is. */
  #unwritten: string | undefined;
  /** What hinders the next start; gone with it. */
  #problem: string | undefined;
  /** Why the engine refused to build what is wanted; gone once it builds it, or something else is wanted. */
  #refusal: string | undefined;
  #cancelCheck = () => {};
  /** How the engine last ended unasked; kept until other content runs. */
  #lastExit: { text: string; diagnosis: EngineDiagnosis } | undefined;
  /** Of the engine that was started last. Its lines may still arrive shortly after its end. */
  #diagnosis = new EngineDiagnosis();
  #warnings: string[] = [];
  #drain: Drain | undefined;
  #lastDrain: DrainReport | null = null;
  readonly #timers = new Map<string, () => void>();
  #keepFiles = false;

  constructor(wanted: PipelineEntry, parts: PipelineParts) {
    this.#wanted = wanted;
    this.#parts = parts;
  }

  get id(): string {
    return this.#wanted.pipelineId;
  }

  get status() {
    return statusOf(this.#state);
  }

  get restarts(): number {
    return this.#state.restarts;
  }

  get ended(): boolean {
    return this.#state.phase === 'idle';
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Seconds since the engine was started; 0 when there is none. */
  get uptimeSeconds(): number {
    return this.#process ? Math.floor((this.#parts.clock.monotonic() - this.#startedAt) / 1000) : 0;
  }

  get metricsPort(): number | undefined {
    return inRange(this.#ports.metrics);
  }

  get apiPort(): number | undefined {
    return inRange(this.#ports.api);
  }

  /** Version and checksum of what runs; of what is wanted where nothing runs, or where that is being started. */
  get current(): PipelineEntry {
    const { phase, next, alive } = this.#state;
    const replacing = phase === 'stopping' ? next === 'start' : phase === 'starting' && !alive;
    return replacing ? this.#target : (this.#running ?? this.#wanted);
  }

  /** What the next engine is started with: while the wanted config is refused, the one that ran before. */
  get #target(): PipelineEntry {
    return this.#state.refusals > 0 && this.#running ? this.#running : this.#wanted;
  }

  /** The wanted version, where the engine of this node does not build it and an older one is kept. */
  get refused(): RefusedVersion | undefined {
    if (this.#refusal === undefined) return undefined;
    const { version, checksum } = this.#wanted;
    return { version, checksum: checksum.slice(0, 128), error: this.#refusal };
  }

  /** What an engine of this pipeline runs with or may be started with again. */
  get inUse(): PipelineEntry | undefined {
    return this.ended ? undefined : this.#running;
  }

  /** Why the engine ended or could not start, and which certificate files or secrets were refused. */
  get lastError(): string | null {
    const exit = this.#lastExit;
    const said = exit?.diagnosis.cause;
    const ended = exit && said ? `${exit.text}: ${said}` : exit?.text;
    const text = [this.#refusalText, this.#unwritten, this.#problem, ended, ...this.#warnings]
      .filter((part) => part !== undefined)
      .join('; ');
    return text === '' ? null : text.slice(0, 4096);
  }

  get #refusalText(): string | undefined {
    const { refused } = this;
    if (!refused) return undefined;
    // A version number stays where only secrets, the log level or certificate files are others.
    const same = this.#running === undefined || this.#running.version === refused.version;
    const kept = same ? 'what ran before' : `version ${this.#running?.version}`;
    const goesOn = this.#state.alive ? 'goes on running' : 'is kept';
    return `version ${refused.version} refused by the engine of this node, ${kept} ${goesOn}: ${refused.error}`;
  }

  /** While the engine delivers what it holds before it ends. */
  get draining(): PipelineReport['draining'] {
    return this.#drain?.progress ?? null;
  }

  /** The last stop that left events undelivered. */
  get lastDrain(): DrainReport | null {
    return this.#lastDrain;
  }

  /** What of the running engine does not run. */
  get degraded(): string | null {
    return this.#process ? this.#diagnosis.degraded : null;
  }

  /** What the engine warned of since it was started. */
  get warnings(): string[] {
    return this.#process ? this.#diagnosis.warnings : [];
  }

  want(entry: PipelineEntry): void {
    const changed = this.ended || this.#leaving || entry.checksum !== this.#wanted.checksum;
    this.#wanted = entry;
    const same = this.#running?.checksum === entry.checksum;
    if (changed) {
      this.#refusal = undefined;
      this.#dispatch({ type: same ? 'reverted' : 'wanted' });
    }
    // The same content under a newer version number is taken over as it runs.
    if (same && this.#running) this.#running = entry;
  }

  /** Stops the engine. The config files go with an undeployed pipeline and stay when it is the agent that ends. */
  remove({ keepFiles = false } = {}): void {
    this.#keepFiles = keepFiles;
    this.#dispatch({ type: 'unwanted' });
  }

  killNow(): void {
    this.#process?.signal('SIGKILL');
  }

  get #leaving(): boolean {
    return this.#state.phase === 'stopping' && this.#state.next === 'end';
  }

  #dispatch(event: Event): void {
    const before = { status: this.status, restarts: this.#state.restarts };
    const { state, effects } = step(this.#state, event);
    this.#state = state;
    if (this.status !== before.status || state.restarts !== before.restarts) {
      this.#parts.log.info('pipeline status', {
        pipeline: this.id,
        status: this.status,
        restarts: state.restarts,
      });
      this.#parts.onChange();
    }
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    switch (effect.do) {
      case 'allocatePorts':
        this.#ports = this.#parts.ports.allocate();
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
          this.#fail(
            `start of engine for pipeline failed: ${error instanceof Error ? error.message : String(error)}`,
          );
          this.#dispatch({ type: 'spawnFailed' });
        });
        return;
      case 'terminate':
        this.#terminate();
        return;
      case 'kill':
        this.#parts.log.warn('engine did not end in time and is killed', { pipeline: this.id });
        this.#process?.signal('SIGKILL');
        return;
      case 'sweep':
        this.#process?.signal('SIGKILL');
        this.#process = undefined;
        return;
      case 'removeFiles':
        this.#attempt += 1;
        this.#running = undefined;
        if (this.#keepFiles) return;
        removeFile(this.#parts.directory.config(this.id));
        removeFile(this.#parts.directory.sidecar(this.id));
        return;
      case 'timer': {
        this.#timers.get(effect.event)?.();
        const fire = () => this.#dispatch({ type: effect.event });
        const ms = effect.event === 'killDue' && this.#running ? killAfterMs(this.#running) : effect.ms;
        this.#timers.set(effect.event, this.#parts.clock.after(ms, fire));
        return;
      }
      case 'cancelTimer':
        this.#timers.get(effect.event)?.();
        this.#timers.delete(effect.event);
        return;
      case 'cancelTimers':
        for (const cancelTimer of this.#timers.values()) cancelTimer();
        this.#timers.clear();
        return;
    }
  }

  #check(): void {
    const { directory, certificates, checks } = this.#parts;
    const entry = this.#wanted;
    this.#cancelCheck();
    this.#cancelCheck = checks.start(
      {
        ...{ directory, entry, ports: this.#ports },
        certificateFiles: () => certificates.plan(entry).write,
        enginePid: () => this.#process?.pid,
      },
      (result) => this.#checked(entry, result),
    );
  }

  #checked(entry: PipelineEntry, result: CheckResult): void {
    const { log, onChange } = this.#parts;
    const before = this.#refusal;
    this.#refusal = result.answer === 'refused' ? result.error : undefined;
    this.#unwritten = result.answer === 'unwritten' ? this.#told(result.error) : undefined;
    if (result.answer === 'unknown')
      log.info('the engine cannot check configs', { pipeline: this.id, reason: result.reason });
    if (this.#refusal !== undefined && this.#refusal !== before)
      log.error('the engine refuses the new version, the old one goes on running', {
        pipeline: this.id,
        version: entry.version,
        running: this.#running?.version,
        reason: this.#refusal,
      });
    this.#dispatch({ type: 'checked', answer: result.answer === 'unknown' ? 'accepted' : result.answer });
    if (this.#refusal !== before || this.#unwritten !== undefined) onChange();
  }

  /** SIGTERM, after a look at what the engine still holds. */
  #terminate(): void {
    const child = this.#process;
    if (!child || !this.#running) return;
    const drain = new Drain({
      entry: this.#running,
      metricsPort: this.#state.was === 'RUNNING' ? this.metricsPort : undefined,
      clock: this.#parts.clock,
      onProgress: this.#parts.onChange,
    });
    this.#drain = drain;
    drain.begin(() => child.signal('SIGTERM'));
  }

  #drained(forced: boolean): void {
    const outcome = this.#drain?.end(forced, new Date(this.#parts.clock.now()));
    this.#drain = undefined;
    if (!outcome) return;
    if (outcome.report) this.#lastDrain = outcome.report;
    for (const line of outcome.lines) {
      this.logs.push(line);
      this.#parts.onLine(this);
      this.#parts.log.warn(line.replace('headgate-agent: ', ''), { pipeline: this.id });
    }
  }

  #prepare(): void {
    const { directory, certificates } = this.#parts;
    const entry = this.#target;
    const plan = certificates.plan(entry);
    try {
      writePipelineFiles(directory, entry, this.#ports, plan.write);
    } catch (error) {
      this.#unwritten = this.#told(describeWriteError(directory, this.id, error));
      this.#dispatch({ type: 'prepareFailed' });
      return;
    }
    this.#unwritten = undefined;
    certificates.wrote(plan);
    this.#warnings = plan.refused;
    for (const refusal of plan.refused) this.#parts.log.error(refusal, { pipeline: this.id });
    this.#dispatch({ type: 'prepared' });
  }

  async #spawn(): Promise<void> {
    this.#attempt += 1;
    const attempt = this.#attempt;
    const ports = await this.#parts.ports.ensureFree(this.#ports).catch(portError);
    // Since then the pipeline may have been removed or changed, which makes a later attempt the right one.
    if (attempt !== this.#attempt || this.#state.phase !== 'starting' || this.#state.alive) return;
    const { directory, engineBin, env, clock, log } = this.#parts;
    const executable = findExecutable(engineBin, env);
    const problem = ports instanceof PortError ? ports.message : this.#moveTo(ports);
    if (problem !== undefined || !executable) {
      this.#fail(
        problem ??
          `start of engine for pipeline failed: executable not found: ${engineBin}: set SVC_ENGINE_BIN`,
      );
      this.#dispatch({ type: 'spawnFailed' });
      return;
    }
    const entry = this.#target;
    const diagnosis = new EngineDiagnosis((component, message) => this.#addressOf(entry, component, message));
    const environment = engineEnvironment(entry, env, directory.certs);
    for (const name of environment.refused)
      this.#warnings.push(`secret ${JSON.stringify(name)} not passed on: its name must be SVC_SECRET_<NAME>`);
    const redact = redactor(Object.values(entry.secrets));
    this.#redact = redact;
    this.#startedAt = clock.monotonic();
    const child = startEngine(
      {
        executable,
        args: ['--config', directory.config(this.id), '--config', directory.sidecar(this.id)],
        env: environment.env,
        cwd: directory.engineData(this.id),
      },
      {
        onLine: (line, cut, from) => this.#line(redact(line, cut), from, diagnosis),
        onExit: (exit) => this.#exited(exit),
        onError: (error) => {
          this.#fail(`start of engine for pipeline failed: ${error.message}`);
          this.#dispatch({ type: 'spawnFailed' });
        },
      },
    );
    if (!child) return;
    if (this.#running?.checksum !== entry.checksum) this.#lastExit = undefined;
    this.#problem = undefined;
    this.#diagnosis = diagnosis;
    this.#process = child;
    this.#running = entry;
    log.info('engine started', { pipeline: this.id, pid: child.pid, metricsPort: this.#ports.metrics });
    this.#dispatch({ type: 'spawned' });
  }

  /** Tells the engine of ports that are not those it had; answers why that cannot be written. */
  #moveTo(ports: EnginePorts): string | undefined {
    const { directory, log } = this.#parts;
    const taken = this.#ports;
    if (ports.metrics === taken.metrics) return undefined;
    try {
      writeSidecar(directory, this.#target, ports);
    } catch (error) {
      return describeWriteError(directory, this.id, error);
    }
    this.#ports = ports;
    const { metrics: metricsPort, api: apiPort } = ports;
    log.warn('port taken, the next free ones are used', {
      pipeline: this.id,
      taken: taken.metrics,
      metricsPort,
      apiPort,
    });
    return undefined;
  }

  #line(line: string, from: 'stdout' | 'stderr', diagnosis: EngineDiagnosis): void {
    this.logs.push(line);
    this.#parts.onLine(this);
    diagnosis.add(line, from);
  }

  /** The sidecar's exporter is in no config of the pipeline's. */
  #addressOf({ configYaml }: PipelineEntry, component: EngineComponent, message: string): string | undefined {
    if (component.id === METRICS_EXPORTER) return `127.0.0.1:${this.#ports.metrics}`;
    return componentAddress(configYaml, component, message);
  }

  #exited({ code, signal }: EngineExit): void {
    const ranMs = this.#parts.clock.monotonic() - this.#startedAt;
    const expected = this.#state.phase === 'stopping';
    this.#drained(signal !== null);
    if (!expected) {
      const text = signal ? `engine ended by ${signal}` : `engine exited with code ${code}`;
      this.#lastExit = { text, diagnosis: this.#diagnosis };
      this.#parts.log.warn('engine ended', {
        pipeline: this.id,
        code: code ?? undefined,
        signal: signal ?? undefined,
      });
    }
    this.#dispatch({ type: 'exited', ranMs });
  }

  #fail(problem: string): void {
    this.#problem = this.#told(problem);
  }

  /** Logs it; answers it without secrets. */
  #told(problem: string): string {
    const text = this.#redact(problem);
    this.#parts.log.error(text, { pipeline: this.id });
    return text;
  }
}

function portError(error: unknown): PortError {
  if (error instanceof PortError) return error;
  throw error;
}

const inRange = (port: number) => (port > 0 && port <= 65_535 ? port : undefined);
