/** How long `headgate validate` takes on 1,000 manifests, as a person or a CI job runs it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifest } from '../manifests.ts';
import { median, ms, type Result, type Say, whole } from '../result.ts';

const ROUNDS = 5;
const BIN = join(import.meta.dirname, '../../../bin/headgate');

export async function validate(say: Say, count = 1_000): Promise<Result[]> {
  say(`validate: a folder of ${whole(count)} manifests …`);
  const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  try {
    const pipelines = join(folder, 'environments/production');
    mkdirSync(pipelines, { recursive: true });
    for (let index = 0; index < count; index += 1)
      writeFileSync(join(pipelines, `service-${index}.yaml`), manifest(index, 1));
    const took = Array.from({ length: ROUNDS }, () => {
      const start = performance.now();
      execFileSync(BIN, ['validate', folder, '--engine', 'none'], { stdio: 'ignore' });
      return performance.now() - start;
    });
    return [
      {
        what: `headgate validate on ${whole(count)} manifests`,
        goal: '< 3 s',
        measured: `median ${ms(median(took))}, longest of ${ROUNDS} ${ms(Math.max(...took))}`,
        ok: median(took) < 3_000,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
