import type { ChildProcess } from 'node:child_process';
import type { KeyObject } from 'node:crypto';
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../reconcilers/loops/clock.ts';
import type { Logger } from '../log.ts';
import { removeFile } from '../supervise/files/atomic-files.ts';
import { AGENT_VERSION } from '../version.ts';
import { download, UpdateError } from './download.ts';
import {
  confirm,
  failedOf,
  markPending,
  pendingOf,
  putBack,
  readSwap,
  removeHalfDownloads,
  replaceExecutable,
  type Swap,
  temporaryPath,
  undo,
} from './executable-swap.ts';
import type { SignedRelease } from './release-statement.ts';
import { digestOf, failureText, refusal, sameVersion, type UpdateOrder } from './update-order.ts';
import { checkAgent, checkSignature, checkVersion } from './verify.ts';
import { startWatchdog } from './watchdog.ts';

export interface UpdateParts {
  /** Where this agent was started from; undefined where it does not run as an executable of its own. */
  executable: string | undefined;
  inContainer: boolean;
  serviceUrl: string;
  /** Only what this key has signed is run; undefined asks for no signature. */
  publicKey: KeyObject | undefined;
  /** Lower versions are taken too. */
  allowDowngrade: boolean;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Logger;
  /** Stops all engines and lets go of everything. */
  stopAgent: () => Promise<void>;
  /** The error is another than before. */
  onError: () => void;
  /** `execve` unless given. */
  execute?: ExecuteFile;
}

/** Becomes the executable, under the same pid; returns only by throwing. */
export type ExecuteFile = (file: string, args: string[], env: NodeJS.ProcessEnv) => void;

const COMEBACK = 'the new version ended before its first poll';
/** So long, this process does not try a file again that failed. */
const REMEMBER_MS = 86_400_000;

/** Replaces the agent by another version, or restarts it, in place. One at a time; a failure changes nothing. */
export class Updates {
  readonly #parts: UpdateParts;
  readonly #failed = new Map<string, number>();
  readonly #abort = new AbortController();
  #error: string | null = null;
  #busy = false;
  /** The new file is in place and the engines are being stopped for it. */
  #isSwapped = false;
  #next: UpdateOrder | undefined;
  #confirmed = false;
  #cameBack = false;

  constructor(parts: UpdateParts) {
    this.#parts = parts;
    this.#readLastSwap();
  }

  /** Why the last update failed, for the heartbeat. */
  get error(): string | null {
    return this.#error;
  }

  /** Resolves when nothing more will come of it: it is done, refused, or has failed. */
  async update(order: UpdateOrder): Promise<void> {
    if (sameVersion(order.targetVersion, AGENT_VERSION) || this.#hasFailed(order)) return;
    if (this.#busy) {
      this.#next = order;
      return;
    }
    await this.#runExclusively(() => this.#attempt(order));
  }

  /**
   * Stops the engines and starts the executable again, under the same pid. Not before that has answered: where it is
   * gone or broken, the engines would be stopped and nobody could start them.
   */
  async restart(): Promise<void> {
    const { executable, log } = this.#parts;
    if (this.#busy) return log.warn('restart ignored: an update is under way');
    if (!executable || !this.#canExec()) return log.warn('restart ignored: this agent cannot restart itself');
    await this.#runExclusively(() => this.#restart(executable));
  }

  async #restart(executable: string): Promise<void> {
    const { env, log } = this.#parts;
    try {
      await checkAgent(executable, env);
    } catch (error) {
      if (!(error instanceof UpdateError)) throw error;
      log.error('restart refused: the executable of the agent is missing or broken; install it again', {
        file: executable,
        reason: error.message,
      });
      return;
    }
    log.info('restarting as the controller asks');
    await this.#replaceProcess(executable);
  }

  /** The controller asks for no update any more: one that has not begun is not begun. One that is under way carries on. */
  forgetNext(): void {
    this.#next = undefined;
  }

  /** Then what was ordered meanwhile. */
  async #runExclusively(work: () => Promise<void>): Promise<void> {
    this.#busy = true;
    try {
      await work();
    } finally {
      this.#busy = false;
    }
    const next = this.#next;
    this.#next = undefined;
    if (next) await this.update(next);
  }

  /** A poll has succeeded: the version that runs is the one to keep. */
  confirm(): void {
    const { executable } = this.#parts;
    if (this.#confirmed || this.#busy) return;
    this.#confirmed = true;
    if (executable) confirm(executable);
  }

  /** The controller has heard of the error. */
  reported(): void {
    const { executable } = this.#parts;
    if (executable && this.#cameBack) removeFile(failedOf(executable));
    this.#cameBack = false;
  }

  /**
   * Ends in order: a download is given up, a swap is undone at once, since the process may end with the last engine, and nobody
   * takes the end for that of a broken version.
   */
  stop(): void {
    this.#abort.abort();
    const { executable } = this.#parts;
    if (!executable) return;
    if (this.#isSwapped) this.#undo(executable);
    else if (!this.#confirmed && !this.#busy) removeFile(pendingOf(executable));
  }

  #undo(executable: string): void {
    this.#isSwapped = false;
    try {
      undo(executable);
    } catch (error) {
      // `.previous` stays, which the service manager puts back before the next start.
      this.#parts.log.error('the executable before the update cannot be put back', { reason: String(error) });
    }
  }

  async #attempt(order: UpdateOrder): Promise<void> {
    const { log } = this.#parts;
    const executable = this.#ready(order);
    if (executable === undefined) return;
    try {
      this.#setError(null);
      log.info('update begins', { from: AGENT_VERSION, to: order.targetVersion });
      const swap = await this.#swap(executable, order);
      log.info('update verified; the engines are stopped for it', { to: order.targetVersion });
      await this.#replaceProcess(executable, swap);
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      const reason = error instanceof Error ? error.message : String(error);
      this.#failed.set(keyOf(order), this.#parts.clock.monotonic() + REMEMBER_MS);
      const text = failureText(order.targetVersion, reason, 'failed');
      log.error(text);
      this.#setError(text);
    }
  }

  /** The executable to replace; undefined for an order that is refused. */
  #ready(order: UpdateOrder): string | undefined {
    try {
      return this.#accept(order);
    } catch (error) {
      if (!(error instanceof UpdateError)) throw error;
      const text = failureText(order.targetVersion, error.message, 'refused');
      // Each config answer may repeat the order.
      if (text !== this.#error) this.#parts.log.error(text);
      this.#setError(text);
      return undefined;
    }
  }

  /** Throws UpdateError for an order that is not begun. The signature covers the checksum that the file must have. */
  #accept(order: UpdateOrder): string {
    const { executable, inContainer, publicKey, allowDowngrade } = this.#parts;
    if (inContainer) throw new UpdateError('runs in a container: pull a new image');
    if (!executable || !this.#canExec())
      throw new UpdateError('this agent does not run as an executable of its own');
    const problem = refusal(order, AGENT_VERSION, { allowDowngrade });
    if (problem) throw new UpdateError(problem);
    if (publicKey) checkSignature(publicKey, releaseFor(order), order.signature);
    return executable;
  }

  async #swap(executable: string, order: UpdateOrder): Promise<Swap> {
    const { serviceUrl, clock, env } = this.#parts;
    const wanted = digestOf(order.checksum) ?? '';
    removeHalfDownloads(executable);
    const fresh = temporaryPath(executable, randomBytes(6).toString('hex'));
    const { signal } = this.#abort;
    const digest = await download(order.downloadUrl, { path: fresh, serviceUrl, clock, signal });
    try {
      if (digest.toString('hex') !== wanted)
        throw new UpdateError('the file is not the one that was announced: its SHA-256 differs');
      await checkVersion(fresh, order.targetVersion, env);
      signal.throwIfAborted();
      const swap = { to: order.targetVersion, digest: wanted, from: AGENT_VERSION };
      replaceExecutable(executable, fresh);
      return swap;
    } finally {
      removeFile(fresh);
    }
  }

  /**
   * Replaces the process by the file at the executable's path. Where that fails, the old file is put back, which reports why and
   * starts the engines again. Until the engines are stopped no `.pending` is written: a process that is killed in that time
   * must not count as a new version that failed.
   */
  async #replaceProcess(executable: string, swap?: Swap): Promise<void> {
    const { env, log, stopAgent, execute = execve } = this.#parts;
    this.#isSwapped = swap !== undefined;
    await stopAgent().catch((error: unknown) => log.error('not ended cleanly', { reason: String(error) }));
    // A signal came meanwhile and ends the process. `stop` has undone the swap.
    if (this.#abort.signal.aborted) return;
    this.#isSwapped = false;
    let watchdog: ChildProcess | null = null;
    try {
      if (swap) {
        markPending(executable, swap);
        watchdog = startWatchdog(executable, env);
      }
      execute(executable, [executable], { ...env });
    } catch (error) {
      watchdog?.kill('SIGKILL');
      const reason = `the new version cannot be started (${codeOf(error)})`;
      log.error(reason);
      if (swap) this.#putBack(executable, { ...swap, reason });
      this.#restartProcess(executable);
    }
  }

  #putBack(executable: string, swap: Swap): void {
    try {
      putBack(executable, swap);
    } catch (error) {
      // What is there is started again: without it no engine would run.
      this.#parts.log.error('the executable before the update cannot be put back', { reason: String(error) });
    }
  }

  /** The engines are stopped by now: what starts agents on this machine is the last resort. */
  #restartProcess(executable: string): void {
    const { env, log, execute = execve } = this.#parts;
    try {
      execute(executable, [executable], { ...env });
    } catch (error) {
      log.error('this agent cannot restart itself and ends', { reason: String(error) });
      process.exit(1);
    }
  }

  #canExec(): boolean {
    return this.#parts.execute !== undefined || typeof process.execve === 'function';
  }

  /** What an earlier process of this executable has left to tell. */
  #readLastSwap(): void {
    const { executable, clock, log } = this.#parts;
    if (!executable) return;
    const done = readSwap(pendingOf(executable));
    if (done && sameVersion(done.to, AGENT_VERSION)) log.info(`updated from ${done.from} to ${done.to}`);
    const failed = readSwap(failedOf(executable));
    if (!failed) return;
    if (sameVersion(failed.to, AGENT_VERSION)) return void removeFile(failedOf(executable));
    this.#cameBack = true;
    this.#error = failureText(failed.to, failed.reason || COMEBACK, 'failed');
    this.#failed.set(`${failed.to} ${failed.digest}`, clock.monotonic() + REMEMBER_MS);
    log.error(this.#error);
  }

  #hasFailed(order: UpdateOrder): boolean {
    return (this.#failed.get(keyOf(order)) ?? Number.NEGATIVE_INFINITY) > this.#parts.clock.monotonic();
  }

  #setError(error: string | null): void {
    if (error === this.#error) return;
    this.#error = error;
    if (error) this.#parts.onError();
  }
}

/** `ENOSPC` and the like. */
function codeOf(error: unknown): string {
  const { cause = error } = error as Error;
  return (cause as NodeJS.ErrnoException).code ?? String(error);
}

const keyOf = ({ targetVersion, checksum }: UpdateOrder) =>
  `${targetVersion} ${digestOf(checksum) ?? checksum.slice(0, 80)}`;

/** The file that an order announces, for this very machine. */
const releaseFor = ({ targetVersion, checksum }: UpdateOrder): SignedRelease => ({
  version: targetVersion,
  os: process.platform,
  arch: process.arch,
  sha256: digestOf(checksum) ?? '',
});

function execve(file: string, args: string[], env: NodeJS.ProcessEnv): void {
  process.execve?.(file, args, env);
}
