/** Runs the system's git through a small process that starts it (`git-starter.ts`). */
import { type ChildProcess, fork } from 'node:child_process';
import { messageOf } from '../../../platform/operation/errors.ts';
import { RepositoryError } from '../repository-error.ts';
import type { GitEnd, GitProcessOptions } from './git-process.ts';
import type { FromStarter, ToStarter } from './git-starter.ts';

export type { GitEnd } from './git-process.ts';

export interface GitRun extends Omit<GitProcessOptions, 'args'> {
  signal: AbortSignal;
}

/** @throws RepositoryError when git cannot be run at all; the signal's reason after an abort */
export async function runGit(args: readonly string[], { signal, ...run }: GitRun): Promise<GitEnd> {
  signal.throwIfAborted();
  if (!starter || starter.gone) starter = new Starter();
  const end = await starter.run({ args, ...run }, signal);
  signal.throwIfAborted();
  if (end.code === 127)
    throw new RepositoryError('program', 'git was not found; install it on the controller (package git)');
  return end;
}

let starter: Starter | undefined;

interface Waiting {
  resolve(end: GitEnd): void;
  reject(error: RepositoryError): void;
}

/** The client of `git-starter.ts`, which is forked for the first git of this process. */
class Starter {
  gone = false;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;

  constructor() {
    this.#child = fork(new URL('./git-starter.ts', import.meta.url), {
      // It needs nothing from the controller's environment, and must not see its secrets.
      env: {},
      execArgv: ['--disable-warning=ExperimentalWarning'],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message: FromStarter) => this.#receive(message));
    this.#child.on('error', (error) => this.#fail(messageOf(error)));
    this.#child.on('exit', () => this.#fail('the process that starts it has ended; try again'));
    this.#keepAlive();
  }

  run(ask: GitProcessOptions, signal: AbortSignal): Promise<GitEnd> {
    const id = this.#nextId++;
    const stop = () => this.#send({ id, ask: null });
    signal.addEventListener('abort', stop, { once: true });
    return new Promise<GitEnd>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#keepAlive();
      this.#send({ id, ask });
    }).finally(() => {
      signal.removeEventListener('abort', stop);
      this.#waiting.delete(id);
      this.#keepAlive();
    });
  }

  #send(message: ToStarter): void {
    // If it could not be started or has just ended, an event reports that.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  #receive(message: FromStarter): void {
    const waiting = this.#waiting.get(message.id);
    if ('end' in message) waiting?.resolve(message.end);
    else waiting?.reject(cannotRun(message.problem));
  }

  #fail(why: string): void {
    this.gone = true;
    for (const waiting of this.#waiting.values()) waiting.reject(cannotRun(why));
  }

  /** Keeps this process alive while git runs, and only then. */
  #keepAlive(): void {
    const ends = [this.#child, this.#child.channel];
    for (const end of ends) this.#waiting.size > 0 ? end?.ref() : end?.unref();
  }
}

const cannotRun = (why: string) => new RepositoryError('program', `git cannot be run: ${why}`);
