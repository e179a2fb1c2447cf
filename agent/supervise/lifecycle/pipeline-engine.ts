import type { Clock } from '../../../reconcilers/loops/clock.ts';
import type { PipelineEntry } from '../../../schemas/agent/protocol.ts';
import type { Logger } from '../../log.ts';
import { componentAddress } from '../../report/component-address.ts';
import { EngineDiagnosis } from '../../report/engine-diagnosis.ts';
import type { EngineComponent } from '../../report/engine-log.ts';
import { type Redactor, redactor } from '../../report/redact.ts';
import { engineEnvironment } from '../engine/engine-environment.ts';
import { findExecutable } from '../engine/engine-executable.ts';
import { type EnginePorts, type PortCounter, PortError } from '../engine/engine-ports.ts';
import { type EngineExit, type EngineProcess, startEngine } from '../engine/engine-process.ts';
import { METRICS_EXPORTER } from '../engine/sidecar.ts';
import type { DataDirectory } from '../files/data-directory.ts';
import { describeWriteError, writeSidecar } from '../files/pipeline-files.ts';

export interface PipelineEngineParts {
  pipelineId: string;
  directory: DataDirectory;
  ports: PortCounter;
  /** Name or path of the engine's executable. */
  engineBin: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Logger;
}

export interface PipelineEngineHandlers {
  onLine(line: string, from: 'stdout' | 'stderr', diagnosis: EngineDiagnosis): void;
  onExit(exit: EngineExit): void;
  onError(message: string): void;
  /** Names of secrets that do not reach the engine. */
  onSecretsRefused(names: readonly string[]): void;
}

/** What keeps an engine from being started; the message is the whole of what the user sees. */
export class StartFailure extends Error {
  override name = 'StartFailure';
}

export interface StartedEngine {
  process: EngineProcess;
  diagnosis: EngineDiagnosis;
}

/** Starts the engines of one pipeline, one after the other, on ports that are free. */
export class PipelineEngine {
  readonly #parts: PipelineEngineParts;
  /** Zeros until it is first started. */
  ports: EnginePorts = { metrics: 0, api: 0 };
  /** On the monotonic clock. */
  startedAt = 0;
  /** For texts about the engine that was started last. */
  redact: Redactor = redactor([]);

  constructor(parts: PipelineEngineParts) {
    this.#parts = parts;
  }

  get metricsPort(): number | undefined {
    return inRange(this.ports.metrics);
  }

  get apiPort(): number | undefined {
    return inRange(this.ports.api);
  }

  allocatePorts(): void {
    this.ports = this.#parts.ports.allocate();
  }

  /** Ports that are free at this moment; throws StartFailure. */
  async freePorts(): Promise<EnginePorts> {
    try {
      return await this.#parts.ports.ensureFree(this.ports);
    } catch (error) {
      throw error instanceof PortError ? new StartFailure(error.message) : error;
    }
  }

  /** Undefined where no process could be made: `onError` says why. Throws StartFailure. */
  start(
    entry: PipelineEntry,
    ports: EnginePorts,
    handlers: PipelineEngineHandlers,
  ): StartedEngine | undefined {
    const { pipelineId, directory, engineBin, env, clock } = this.#parts;
    const executable = findExecutable(engineBin, env);
    this.#moveTo(entry, ports);
    if (!executable)
      throw new StartFailure(
        `start of engine for pipeline failed: executable not found: ${engineBin}: set SVC_ENGINE_BIN`,
      );
    const diagnosis = new EngineDiagnosis((component, message) => this.#addressOf(entry, component, message));
    const environment = engineEnvironment(entry, env, directory.certs);
    handlers.onSecretsRefused(environment.refused);
    const redact = redactor(Object.values(entry.secrets));
    this.redact = redact;
    this.startedAt = clock.monotonic();
    const process = startEngine(
      {
        executable,
        args: ['--config', directory.config(pipelineId), '--config', directory.sidecar(pipelineId)],
        env: environment.env,
        cwd: directory.engineData(pipelineId),
      },
      {
        onLine: (line, cut, from) => handlers.onLine(redact(line, cut), from, diagnosis),
        onExit: (exit) => handlers.onExit(exit),
        onError: (error) => handlers.onError(`start of engine for pipeline failed: ${error.message}`),
      },
    );
    return process && { process, diagnosis };
  }

  /** Writes the sidecar for ports that are not those that it was written for. Throws StartFailure. */
  #moveTo(entry: PipelineEntry, ports: EnginePorts): void {
    const { pipelineId, directory, log } = this.#parts;
    const taken = this.ports;
    if (ports.metrics === taken.metrics) return;
    try {
      writeSidecar(directory, entry, ports);
    } catch (error) {
      throw new StartFailure(describeWriteError(directory, pipelineId, error));
    }
    this.ports = ports;
    log.warn('port taken, the next free ones are used', {
      pipeline: pipelineId,
      taken: taken.metrics,
      metricsPort: ports.metrics,
      apiPort: ports.api,
    });
  }

  /** The sidecar's exporter is in no config of the pipeline's. */
  #addressOf({ configYaml }: PipelineEntry, component: EngineComponent, message: string): string | undefined {
    if (component.id === METRICS_EXPORTER) return `127.0.0.1:${this.ports.metrics}`;
    return componentAddress(configYaml, component, message);
  }
}

const inRange = (port: number) => (port > 0 && port <= 65_535 ? port : undefined);
