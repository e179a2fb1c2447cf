/**
 * A program: starts git for a controller, as a child process that stays small. Starting a process copies the page tables of its
 * parent, which blocks a controller of 600 MB for some 20 ms.
 */
import { type GitEnd, type GitProcessOptions, runProcess } from './git-process.ts';

export type ToStarter = { id: number; ask: GitProcessOptions } | { id: number; ask: null };
/** `problem`: why git could not be started. */
export type FromStarter = { id: number; end: GitEnd } | { id: number; problem: string };

const running = new Map<number, AbortController>();

process.on('message', ({ id, ask }: ToStarter) => {
  if (ask === null) {
    running.get(id)?.abort();
    return;
  }
  const ending = new AbortController();
  running.set(id, ending);
  runProcess(ask, ending.signal)
    .then(
      (end) => answer({ id, end }),
      (error: Error) => answer({ id, problem: error.message }),
    )
    .finally(() => running.delete(id));
});

// A signal for the controller's process group arrives here as well. Git ends when the controller aborts it, or is gone.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', () => {
  for (const ending of running.values()) ending.abort();
});

function answer(message: FromStarter): void {
  if (process.connected) process.send?.(message);
}
