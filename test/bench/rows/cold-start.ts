/** From starting `headgate serve` with its embedded Postgres to the first healthy answer. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { relocatedDir } from '../../../controller/database/embedded/location.ts';
import { startController } from '../child.ts';
import { median, ms, type Result, type Say } from '../result.ts';

const RUNS = 5;
const GOAL_MS = 2_000;

export async function coldStart(say: Say): Promise<Result[]> {
  say(`start: ${RUNS + 1} starts of the controller …`);
  const dataDir = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  try {
    const first = await once(dataDir);
    const again: number[] = [];
    for (let run = 0; run < RUNS; run += 1) again.push(await once(dataDir));
    return [
      {
        what: 'controller start on an existing database, Postgres included',
        goal: '< 2 s',
        measured: `median ${ms(median(again))}, longest of ${RUNS} ${ms(Math.max(...again))}`,
        ok: median(again) < GOAL_MS,
      },
      { what: 'controller start for the first time', goal: '', measured: ms(first), ok: null },
    ];
  } finally {
    for (const path of [relocatedDir(dataDir), dataDir]) rmSync(path, { recursive: true, force: true });
  }
}

async function once(dataDir: string): Promise<number> {
  const startedAt = performance.now();
  const controller = await startController(dataDir);
  const took = performance.now() - startedAt;
  await controller.stop();
  return took;
}
