/** Runs the system's git, by a process that starts it for this one. */
import { type ChildProcess, fork } from 'node:child_process';
import { messageOf } from '../../../platform/operation/errors.ts';
import { RepositoryError } from '../repository-error.ts';
import type { GitEnd, GitProcessOptions } from './git-process.ts';
import type { FromStarter, ToStarter } from './git-starter.ts';

export type { GitEnd } from './git-process.ts';

export interface GitRun extends Omit<GitProcessOptions, 'args'> {
  signal: AbortSignal;
}

/** @throws RepositoryError where git cannot be run at all; the signal's reason where it was aborted. */
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

/** The other end of `git-starter.ts`, begun with the first git of this process. */
class Starter {
  gone = false;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;

  constructor() {
    this.#child = fork(new URL('./git-starter.ts', import.meta.url), {
      // It needs nothing of what the controller was started with, least of all its secrets.
      env: {},
      execArgv: ['--disable-warning=ExperimentalWarning'],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message: FromStarter) => this.#take(message));
    this.#child.on('error', (error) => this.#leave(messageOf(error)));
    this.#child.on('exit', () => this.#leave('the process that starts it has ended; try again'));
    this.#hold();
  }

  run(ask: GitProcessOptions, signal: AbortSignal): Promise<GitEnd> {
    const id = this.#nextId++;
    const stop = () => this.#send({ id, ask: null });
    signal.addEventListener('abort', stop, { once: true });
    return new Promise<GitEnd>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#hold();
      this.#send({ id, ask });
    }).finally(() => {
      signal.removeEventListener('abort', stop);
      this.#waiting.delete(id);
      this.#hold();
    });
  }

  #send(message: ToStarter): void {
    // Where it could not be started, and where it has just ended, an event says so.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  #take(message: FromStarter): void {
    const waiting = this.#waiting.get(message.id);
    if ('end' in message) waiting?.resolve(message.end);
    else waiting?.reject(cannotRun(message.problem));
  }

  #leave(why: string): void {
    this.gone = true;
    for (const waiting of this.#waiting.values()) waiting.reject(cannotRun(why));
  }

  /** This process lives on for the sake of it while git runs, and no longer. */
  #hold(): void {
    const ends = [this.#child, this.#child.channel];
    for (const end of ends) this.#waiting.size > 0 ? end?.ref() : end?.unref();
  }
}

const cannotRun = (why: string) => new RepositoryError('program', `git cannot be run: ${why}`);
