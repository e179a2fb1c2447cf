/**
 * Runs every suite, in lanes side by side, and closes with one line: `N passed, N failed`, and `, N skipped` with each
 * failure and each reason above it. A suite that fails to load, hangs, or dies counts as failed.
 */
import { spawn } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startTestCluster } from './support/harness/postgres.ts';

interface Suite {
  name: string;
  files: string;
  /** Run by another suite. */
  except?: string[];
}
interface Summary {
  passed: number;
  failures: string[];
  skipped: string[];
}

/** What asks git servers and writes to repositories, process by process. */
const REMOTES = ['test/integration/repository/**/*.test.ts', 'test/integration/write-back/**/*.test.ts'];

/** Pull requests, promotions and rollouts: what they are about is git, and waiting for what nodes report. */
const PROMOTIONS = ['forges', 'promotions', 'pull-requests', 'rollouts'].map(
  (folder) => `test/integration/${folder}/**/*.test.ts`,
);

/** Who somebody is, and what was done. */
const PEOPLE = ['access', 'administration', 'audit', 'oidc', 'scim', 'teams'].map(
  (folder) => `test/integration/${folder}/**/*.test.ts`,
);
const PEOPLE_PAGES = [
  ...['account', 'audit', 'members', 'scim-settings', 'server-settings', 'sign-in'],
  ...['single-sign-on', 'single-sign-on-settings', 'users'],
].map((name) => `test/e2e/web/${name}.test.ts`);

/** What happens in git, looked at in a browser. */
const GIT_PAGES = [
  ...['forge-settings', 'git-bindings', 'git-page', 'promote', 'promotions', 'pull-request', 'rollout'],
].map((name) => `test/e2e/web/${name}.test.ts`);

const RECONCILING = ['test/integration/reconcile/**/*.test.ts', 'test/integration/source/**/*.test.ts'];

/** In the order in which they begin: the longest first, so that none is left alone at the end. */
const SUITES: readonly Suite[] = [
  { name: 'promotions', files: `{${PROMOTIONS.join()}}` },
  {
    name: 'web',
    files: 'test/e2e/web/**/*.test.ts',
    except: [...PEOPLE_PAGES, ...GIT_PAGES],
  },
  {
    name: 'integration',
    files: 'test/integration/**/*.test.ts',
    except: [...REMOTES, ...PROMOTIONS, ...PEOPLE, ...RECONCILING],
  },
  { name: 'agent', files: 'test/e2e/agent/**/*.test.ts' },
  { name: 'main job', files: 'test/e2e/main/**/*.test.ts' },
  { name: 'web git', files: `{${GIT_PAGES.join()}}` },
  { name: 'web people', files: `{${PEOPLE_PAGES.join()}}` },
  { name: 'reconcile', files: `{${RECONCILING.join()}}` },
  { name: 'remotes', files: `{${REMOTES.join()}}` },
  { name: 'people', files: `{${PEOPLE.join()}}` },
  { name: 'unit', files: 'test/unit/**/*.test.ts' },
  { name: 'engine', files: 'test/e2e/engine/**/*.test.ts' },
];
/** How many run side by side: more than there are cores, since all of them also wait. */
const LANES = 4;
/** A suite that hangs is ended after as long. */
const LIMIT_MINUTES = 25;

const root = join(import.meta.dirname, '..');
const artifacts = join(root, 'test/.artifacts');
const wanted = process.argv.slice(2);
const queue = SUITES.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
const sideBySide = queue.length > 1;

/** What suites print side by side bears the name of each. */
function tell(suite: Suite, line: string): void {
  process.stdout.write(sideBySide ? `${suite.name.padEnd(11)} │ ${line}\n` : `${line}\n`);
}

const filesOf = (suite: Suite): string[] =>
  globSync(suite.files, { cwd: root, exclude: suite.except ?? [] }).sort();

/** Files that no suite runs, or more than one. */
function misplacedFiles(): string[] {
  const placed = SUITES.flatMap(filesOf);
  return globSync('test/{unit,integration,e2e}/**/*.test.ts', { cwd: root })
    .map((file) => ({ file, times: placed.filter((one) => one === file).length }))
    .filter(({ times }) => times !== 1)
    .map(({ file, times }) => `${file}: belongs to ${times} suites of test/run.ts, not to one`);
}

function run(suite: Suite, databaseUrl: string): Promise<Summary> {
  const files = filesOf(suite);
  if (files.length === 0) return Promise.resolve({ passed: 0, failures: [], skipped: [] });
  const output = join(artifacts, `${suite.name.replaceAll(' ', '-')}.json`);
  rmSync(output, { force: true });
  const mocha = join(root, 'node_modules/mocha/bin/mocha.js');
  const reporter = join(root, 'test/support/harness/reporter.cjs');
  const child = spawn(process.execPath, [mocha, '--reporter', reporter, '--forbid-only', ...files], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      HEADGATE_TEST_PATIENCE: '3',
      // Each of some hundred processes would compile the same sources again.
      NODE_COMPILE_CACHE: join(artifacts, 'compile-cache'),
      ...process.env,
      HEADGATE_TEST_DATABASE_URL: databaseUrl,
      HEADGATE_TEST_SUMMARY: output,
    },
  });
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => tell(suite, line));
  return new Promise((resolve) => {
    const limit = setTimeout(() => {
      tell(suite, `${suite.name}: still running after ${LIMIT_MINUTES} minutes, ended`);
      child.kill('SIGKILL');
    }, LIMIT_MINUTES * 60_000);
    child.on('close', (code) => {
      clearTimeout(limit);
      resolve(summaryOf(suite, output, code));
    });
  });
}

/** What the reporter wrote; where it wrote nothing, the suite itself failed. */
function summaryOf(suite: Suite, output: string, code: number | null): Summary {
  try {
    const summary = JSON.parse(readFileSync(output, 'utf8')) as Summary;
    // A failing hook outside a test, or a process that did not end well, must not pass unseen.
    if (code !== 0 && summary.failures.length === 0)
      summary.failures.push(`${suite.name}: exit ${code ?? 'by a signal'}`);
    return summary;
  } catch {
    const ended = `${suite.name}: did not run to its end (exit ${code ?? 'by a signal'})`;
    return { passed: 0, failures: [ended], skipped: [] };
  }
}

/** One suite after the other, as long as there are some. */
async function runLane(databaseUrl: string): Promise<void> {
  for (let suite = queue.shift(); suite; suite = queue.shift()) {
    const startedAt = performance.now();
    tell(suite, `== ${suite.name}`);
    const summary = await run(suite, databaseUrl);
    tell(suite, `== ${suite.name}: ${Math.round((performance.now() - startedAt) / 1000)} s`);
    total.passed += summary.passed;
    total.failures.push(...summary.failures);
    total.skipped.push(...summary.skipped);
  }
}

mkdirSync(artifacts, { recursive: true });
process.stdout.write('Starting a Postgres for the tests …\n');
const cluster = await startTestCluster();
const total: Summary = { passed: 0, failures: misplacedFiles(), skipped: [] };
try {
  await Promise.all(Array.from({ length: LANES }, () => runLane(cluster.url)));
} finally {
  await cluster.stop();
}
for (const failure of total.failures) process.stdout.write(`\nfailed: ${failure}\n`);
for (const skipped of total.skipped) process.stdout.write(`skipped: ${skipped}\n`);
const skips = total.skipped.length > 0 ? `, ${total.skipped.length} skipped` : '';
process.stdout.write(`\n${total.passed} passed, ${total.failures.length} failed${skips}\n`);
process.exit(total.failures.length > 0 || (process.env.CI === 'true' && total.skipped.length > 0) ? 1 : 0);
