import type { Clock } from '../../../reconcilers/loops/clock.ts';
import { LIMITS } from '../../limits.ts';
import type { Logger } from '../../log.ts';
import { redactor } from '../../report/redact.ts';
import { type Candidate, type CandidateFiles, writeCandidate } from '../lifecycle/candidate-config.ts';
import { componentBlock, portsIn } from './config-text.ts';
import { engineEnvironment } from './engine-environment.ts';
import { findExecutable } from './engine-executable.ts';
import { type EngineExit, type EngineProcess, startEngine } from './engine-process.ts';
import { listeningPorts } from './listening-ports.ts';
import { type Finding, joinFindings, parseReport } from './validate-report.ts';

export type CheckResult =
  | { answer: 'accepted' }
  /** The engine would not start with it. */
  | { answer: 'refused'; error: string }
  /** The engine cannot tell; the change goes on as if nobody had asked. */
  | { answer: 'unknown'; reason: string }
  | { answer: 'unwritten'; error: string };

export interface ConfigCheckParts {
  engineBin: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Logger;
}

export interface CheckOrder extends Omit<CandidateFiles, 'certificateFiles'> {
  /** Read when the check begins. */
  certificateFiles: () => CandidateFiles['certificateFiles'];
  /** The engine that runs, if one does: its ports are in use for a good reason. */
  enginePid: () => number | undefined;
}

/** Exit code of an engine that refuses a config. */
const EXIT_CONFIG = 78;
/** The rest of the output is there this long after the end. */
const CLOSE_MS = 1_000;
const REPORT_LINES = 2_000;
/** An engine that did not answer this often in a row has no `validate`: it is not asked for a while. */
const SILENT_CHECKS = 2;
const SILENCE_MS = 60_000;

/**
 * Has the engine build configs before they replace what runs: `validate` with everything but the health checks. A few
 * at a time, so that a change of many pipelines does not take the machine away from the engines that run.
 */
export class ConfigChecks {
  readonly #parts: ConfigCheckParts;
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #silent = 0;
  #silentUntil = 0;

  constructor(parts: ConfigCheckParts) {
    this.#parts = parts;
  }

  /** Calls `done` once, never before it returns. The answer cancels it: the engine is killed and `done` not called. */
  start(order: CheckOrder, done: (result: CheckResult) => void): () => void {
    let cancelled = false;
    let kill = () => {};
    const begin = () => {
      this.#running += 1;
      const finish = (result: CheckResult) => {
        this.#running -= 1;
        this.#waiting.shift()?.();
        if (!cancelled) done(result);
      };
      try {
        kill = this.#run(order, finish);
      } catch (error) {
        finish({ answer: 'unknown', reason: error instanceof Error ? error.message : String(error) });
      }
    };
    const next = () => {
      if (this.#running < LIMITS.configChecks.atOnce) begin();
      else this.#waiting.push(begin);
    };
    queueMicrotask(() => {
      if (!cancelled) next();
    });
    return () => {
      cancelled = true;
      const place = this.#waiting.indexOf(begin);
      if (place !== -1) this.#waiting.splice(place, 1);
      kill();
    };
  }

  #run(order: CheckOrder, done: (result: CheckResult) => void): () => void {
    const { engineBin, env, clock } = this.#parts;
    const later = (result: CheckResult) => {
      queueMicrotask(() => done(result));
      return () => {};
    };
    if (clock.monotonic() < this.#silentUntil)
      return later({ answer: 'unknown', reason: 'it did not answer' });
    const executable = findExecutable(engineBin, env);
    // Nothing could be started in place of what runs.
    if (!executable)
      return later({ answer: 'refused', error: `executable not found: ${engineBin}: set SVC_ENGINE_BIN` });
    let candidate: Candidate;
    try {
      candidate = writeCandidate({ ...order, certificateFiles: order.certificateFiles() });
    } catch (error) {
      return later({ answer: 'unwritten', error: error instanceof Error ? error.message : String(error) });
    }
    return this.#validate(executable, candidate, order, done);
  }

  #validate(
    executable: string,
    candidate: Candidate,
    order: CheckOrder,
    done: (result: CheckResult) => void,
  ): () => void {
    const { env, clock, log } = this.#parts;
    const { entry, directory } = order;
    const redact = redactor(Object.values(entry.secrets));
    const output: Record<'stdout' | 'stderr', string[]> = { stdout: [], stderr: [] };
    const startedAt = clock.monotonic();
    let exit: EngineExit | undefined;
    let timedOut = false;
    let over = false;
    let engine: EngineProcess | undefined;
    const end = (result: () => CheckResult) => {
      if (over) return;
      over = true;
      cancelLimit();
      candidate.remove();
      const answer = result();
      const ms = Math.round(clock.monotonic() - startedAt);
      log.debug('config checked', { pipeline: entry.pipelineId, version: entry.version, ...answer, ms });
      done(answer);
    };
    const ended = () => end(() => this.#read(exit, timedOut, output, candidate, order));
    const cancelLimit = clock.after(LIMITS.configChecks.timeoutMs, () => {
      timedOut = true;
      engine?.signal('SIGKILL');
      clock.after(CLOSE_MS, ended);
    });
    engine = startEngine(
      {
        executable,
        args: ['validate', '--skip-healthchecks', candidate.config, candidate.sidecar],
        env: engineEnvironment(entry, env, candidate.certificates).env,
        // Paths in a config may be relative to it.
        cwd: directory.engineData(entry.pipelineId),
      },
      {
        onLine: (line, cut, from) => {
          if (output[from].length < REPORT_LINES) output[from].push(redact(line, cut));
        },
        onExit: (how) => {
          exit = how;
          // What it may have forked would hold the output open.
          engine?.signal('SIGKILL');
          engine = undefined;
          clock.after(CLOSE_MS, ended);
        },
        onClose: ended,
        onError: (error) => queueMicrotask(() => end(() => ({ answer: 'unknown', reason: error.message }))),
      },
    );
    return () => {
      engine?.signal('SIGKILL');
      candidate.remove();
    };
  }

  #read(
    exit: EngineExit | undefined,
    timedOut: boolean,
    output: Record<'stdout' | 'stderr', string[]>,
    candidate: Candidate,
    order: CheckOrder,
  ): CheckResult {
    if (timedOut) this.#silent += 1;
    else if (exit?.signal === null) this.#silent = 0;
    if (this.#silent >= SILENT_CHECKS) this.#silentUntil = this.#parts.clock.monotonic() + SILENCE_MS;
    if (timedOut) return { answer: 'unknown', reason: 'it did not answer in time' };
    if (exit?.code === 0) return { answer: 'accepted' };
    if (exit?.code !== EXIT_CONFIG)
      return { answer: 'unknown', reason: exit?.signal ?? `it exited with code ${exit?.code}` };
    const findings = parseReport(output.stdout, output.stderr);
    const faults = findings.filter((finding) => !isExcused(finding, order));
    if (findings.length > 0 && faults.length === 0) return { answer: 'accepted' };
    const text =
      joinFindings(faults) || [...output.stdout, ...output.stderr].slice(-5).join(' ').slice(0, 1_000);
    return { answer: 'refused', error: candidate.translate(text) || `it exited with code ${EXIT_CONFIG}` };
  }
}

/** A finding that only this check has, and not the engine that is started once the old one has ended. */
export function isExcused(finding: Finding, order: Pick<CheckOrder, 'entry' | 'enginePid'>): boolean {
  const block = finding.component && componentBlock(order.entry.configYaml, finding.component);
  // `validate` asks no secrets backend: the component was built with the reference in place of its value.
  if (
    finding.text.includes('SECRET[') ||
    (finding.component && (block ?? order.entry.configYaml).includes('SECRET['))
  )
    return true;
  if (/failed to lock buffer\.lock/.test(finding.text)) return true;
  if (!/Address already in use|os error 98\b/.test(finding.text)) return false;
  const pid = order.enginePid();
  const held = pid === undefined ? undefined : listeningPorts(pid);
  // No engine runs, or the system does not say what it holds.
  if (!held) return pid !== undefined;
  const ports = portsIn(block ?? '');
  // Without a port in the config it is the default of its type.
  return ports.length === 0 || ports.some((port) => held.has(port));
}
