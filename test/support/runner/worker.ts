/** The program of a worker: runs the files that `test/run.ts` sends, one at a time, and answers the result of each. */
import { findLeaks, takeState } from './leaks.ts';
import type { FileResult, RunFile } from './messages.ts';
import { cpuOf, descendantsOf, endProcess } from './processes.ts';
import { runFile } from './run-file.ts';
import { closeAll, enterWorker } from './warm.ts';

/** Errors that no case was running for. */
let strayErrors: string[] = [];

async function run(file: string): Promise<FileResult> {
  const before = takeState();
  const startedAt = performance.now();
  const cpuBefore = cpuOf(process.pid);
  const outcome = await runFile(file);
  const leaks = await findLeaks(before);
  outcome.failures.push(...leaks.map((leak) => `left behind ${leak}`));
  outcome.failures.push(...strayErrors.map((error) => `threw outside of a case: ${error}`));
  strayErrors = [];
  const cpu = cpuOf(process.pid);
  return {
    ...outcome,
    file,
    isDirty: leaks.length > 0,
    wallMs: performance.now() - startedAt,
    cpu: { own: cpu.own - cpuBefore.own, children: cpu.children - cpuBefore.children },
    rss: process.memoryUsage.rss(),
  };
}

enterWorker();
// While Mocha runs, its own listener fails the case; an unhandled rejection becomes an uncaught exception.
process.on('uncaughtException', (error) => {
  if (process.listenerCount('uncaughtException') === 1) strayErrors.push(String(error.stack ?? error));
});
process.on('unhandledRejection', (reason) => {
  throw reason;
});
process.on('message', async ({ file }: RunFile) => {
  const result = await run(file);
  process.send?.(result);
});
process.on('disconnect', async () => {
  await closeAll();
  // The run was ended in the middle of a file: nobody else would end what the file has started.
  for (const pid of descendantsOf(process.pid)) endProcess(pid);
  process.exit();
});
