/**
 * Runs test files by a few long-lived workers that share one queue, and closes with one line: `N passed, N failed`, and
 * `, N skipped`, with each failure and each skipped case above it.
 *
 *   node test/run.ts [--record] [--workers <n>] [<file, folder or glob> …]
 *
 * `--record` writes how long each file took to `test/durations.json`, which the queue is ordered by.
 */
import { globSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { closeTestCluster, joinTestCluster } from './support/harness/postgres.ts';
import { longestFirst, readDurations, recordDurations } from './support/runner/durations.ts';
import { cpuOf } from './support/runner/processes.ts';
import { renderCosts, renderFile, renderSlowest, renderTotals } from './support/runner/report.ts';
import { type Ran, WorkerProcess } from './support/runner/worker-process.ts';

const root = join(import.meta.dirname, '..');
const artifacts = join(root, 'test/.artifacts');
/** What `make test` runs: `test/long` and `test/proxies` have targets of their own. */
const DEFAULT = ['test/unit', 'test/integration', 'test/e2e'];
/** A file that hangs is ended after as long. Files of `test/long` may run on for an hour. */
const LIMIT_MINUTES = 10;
const LONG_LIMIT_MINUTES = 60;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    record: { type: 'boolean', default: false },
    // One more than there are cores, since files also wait.
    workers: { type: 'string', default: String(availableParallelism() + 1) },
  },
});

/** @throws where an argument names no test file, since a run of nothing would pass. */
function filesOf(pattern: string): string[] {
  const isFolder = statSync(join(root, pattern), { throwIfNoEntry: false })?.isDirectory() === true;
  const files = globSync(isFolder ? `${pattern}/**/*.test.ts` : pattern, { cwd: root });
  if (files.length === 0) throw new Error(`${pattern}: no test file is called so`);
  return files;
}

function startWorker(databaseUrl: string): WorkerProcess {
  return new WorkerProcess({
    limitMs: (isLong ? LONG_LIMIT_MINUTES : LIMIT_MINUTES) * 60_000,
    env: {
      HEADGATE_TEST_PATIENCE: '3',
      // Workers and what they start would compile the same sources again.
      NODE_COMPILE_CACHE: join(artifacts, 'compile-cache'),
      ...process.env,
      HEADGATE_TEST_DATABASE_URL: databaseUrl,
    },
  });
}

/** Runs one file after the other, as long as there are some. */
async function work(databaseUrl: string): Promise<void> {
  let worker: WorkerProcess | undefined;
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    if (worker?.isWorn) await worker.end();
    if (!worker || worker.isWorn) worker = startWorker(databaseUrl);
    const ran = await worker.run(file);
    results.push(ran);
    process.stdout.write(renderFile(ran));
  }
  await worker?.end();
}

const files = [...new Set((positionals.length > 0 ? positionals : DEFAULT).flatMap(filesOf))];
const isLong = files.some((file) => file.startsWith('test/long/'));
const queue = longestFirst(files, readDurations());
const results: Ran[] = [];

mkdirSync(artifacts, { recursive: true });
process.stdout.write('Starting a Postgres for the tests …\n');
const startedAt = performance.now();
const cluster = await joinTestCluster();
const database = cpuOf(cluster.pid);
let databaseSeconds = 0;
try {
  await Promise.all(Array.from({ length: Number(options.workers) }, () => work(cluster.url)));
  const used = cpuOf(cluster.pid);
  databaseSeconds = used.own + used.children - database.own - database.children;
} finally {
  await closeTestCluster();
}
if (options.record) recordDurations(new Map(results.map(({ file, wallMs }) => [file, wallMs / 1000])));
writeFileSync(
  join(artifacts, 'test-files.json'),
  JSON.stringify(
    results.map(({ output, ...one }) => one),
    null,
    1,
  ),
);
process.stdout.write(`\n${renderSlowest(results)}`);
process.stdout.write(`${renderCosts(results, { wallMs: performance.now() - startedAt, databaseSeconds })}`);
process.stdout.write(renderTotals(results));
const isRed = results.some(
  ({ failures, skipped }) => failures.length > 0 || (process.env.CI === 'true' && skipped.length > 0),
);
process.exit(isRed ? 1 : 0);
