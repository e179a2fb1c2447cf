/** A worker as `test/run.ts` sees it: a process that is started, given files, and replaced. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { FileResult, RunFile } from './messages.ts';
import { descendantsOf, endProcess } from './processes.ts';

/** What the file's worker printed, beside the result. */
export interface Ran extends FileResult {
  output: string;
}

/** Modules of test files are never unloaded, and starting a child process copies the page tables. */
const MAX_RSS = 1.5 * 1024 ** 3;

export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #limitMs: number;
  #output = '';
  #isWorn = false;
  #isGone = false;

  constructor({ env, limitMs }: { env: NodeJS.ProcessEnv; limitMs: number }) {
    this.#limitMs = limitMs;
    this.#child = fork(join(import.meta.dirname, 'worker.ts'), {
      env,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.#output += chunk.toString('utf8')));
    this.#child.once('exit', () => (this.#isGone = true));
  }

  /** Whether the next file needs another worker. */
  get isWorn(): boolean {
    return this.#isGone || this.#isWorn;
  }

  async run(file: string): Promise<Ran> {
    this.#output = '';
    const startedAt = performance.now();
    const result = await this.#resultOf(file);
    const complete = typeof result === 'string' ? failedFile(file, result, startedAt) : result;
    this.#isWorn = complete.isDirty || complete.rss > MAX_RSS;
    if (complete.isDirty) this.kill();
    await new Promise(setImmediate); // what was printed last may still be in the pipe
    return { ...complete, output: this.#output };
  }

  /** The result, or why there is none. */
  #resultOf(file: string): Promise<FileResult | string> {
    const child = this.#child;
    return new Promise((resolve) => {
      const settle = (result: FileResult | string) => {
        clearTimeout(limit);
        child.off('message', settle).off('exit', onExit);
        resolve(result);
      };
      const onExit = (code: number | null, signal: string | null) =>
        settle(`ended its worker (${signal ?? `exit code ${code}`})`);
      const limit = setTimeout(() => {
        this.kill();
        settle(`still ran after ${this.#limitMs / 60_000} minutes`);
      }, this.#limitMs);
      child.on('message', settle).on('exit', onExit);
      const message: RunFile = { file };
      child.send(message, (error) => error && settle(`found no worker: ${error.message}`));
    });
  }

  /** Lets the worker close what it shares between files, and waits for its end. */
  async end(): Promise<void> {
    if (this.#isGone) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.disconnect();
    const limit = setTimeout(() => this.kill(), 10_000);
    await ended;
    clearTimeout(limit);
  }

  /** With everything that it has started: nobody else would end that. */
  kill(): void {
    const pid = this.#child.pid ?? 0;
    const pids = [...descendantsOf(pid), pid];
    this.#isGone = true;
    for (const one of pids) endProcess(one);
  }
}

function failedFile(file: string, failure: string, startedAt: number): FileResult {
  return {
    file,
    passed: 0,
    failures: [failure],
    skipped: [],
    wallMs: performance.now() - startedAt,
    cpu: { own: 0, children: 0 },
    isDirty: true,
    rss: 0,
  };
}
