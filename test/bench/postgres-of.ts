/** The Postgres of a fleet, as seen from outside: it may be another process than before. */
import { readPidFile } from '../../controller/database/embedded/postmaster.ts';
import { until } from '../support/harness/until.ts';
import type { BenchFleet } from './fleet.ts';
import { processAndChildren } from './machine.ts';

export async function postmasterOf(fleet: Pick<BenchFleet, 'cluster'>): Promise<number> {
  const file = await readPidFile(fleet.cluster);
  if (!file) throw new Error('Postgres does not run');
  return file.pid;
}

/** As the kernel does it when memory runs out: all of its processes at once. Resolves when another one is ready. */
export async function killPostgres(fleet: Pick<BenchFleet, 'cluster'>): Promise<void> {
  const former = await postmasterOf(fleet);
  signal(processAndChildren(former), 'SIGKILL');
  await until(
    async () => {
      const file = await readPidFile(fleet.cluster);
      return file !== undefined && file.pid !== former && file.status === 'ready';
    },
    { what: 'Postgres runs again', timeoutMs: 60_000, everyMs: 20 },
  );
}

/** Stops all of its processes where they are, and lets them go on after so many milliseconds. */
export async function holdPostgres(
  fleet: Pick<BenchFleet, 'cluster'>,
  during: () => Promise<void>,
): Promise<void> {
  const held = processAndChildren(await postmasterOf(fleet));
  signal(held, 'SIGSTOP');
  try {
    await during();
  } finally {
    signal(held, 'SIGCONT');
  }
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended by itself.
    }
  }
}
