/**
 * Programs that tests need and that no npm package brings. Those that are named and missing are installed from the system's
 * packages where that is allowed; where it is not, the tests that need them are skipped.
 */
import { spawnSync } from 'node:child_process';
import { basename } from 'node:path';
import { findPgBouncer } from '../servers/pgbouncer.ts';
import { findSshd } from '../servers/ssh-server.ts';
import { findChromium } from './chromium.ts';

interface Tool {
  name: string;
  /** Of Debian. Alternatives, the best first. */
  packages: readonly (readonly string[])[];
  tests: string;
  find(): string | null;
  /** Whether what was found is the best that there is; a better one is installed beside it. */
  isBest?(found: string): boolean;
}

const TOOLS: Readonly<Record<string, Tool>> = {
  chromium: {
    name: 'Chromium',
    packages: [['chromium-headless-shell'], ['chromium']],
    tests: 'browser tests',
    find: findChromium,
    // Without the browser's own windows, the tests take three quarters of the CPU time.
    isBest: (found) => basename(found) === 'chromium-headless-shell',
  },
  sshd: {
    name: 'sshd',
    packages: [['openssh-server', 'openssh-client']],
    tests: 'tests of git over ssh',
    find: findSshd,
  },
  pgbouncer: {
    name: 'PgBouncer',
    packages: [['pgbouncer']],
    tests: 'tests of connection poolers',
    find: findPgBouncer,
  },
};

for (const wanted of process.argv.slice(2)) {
  const tool = TOOLS[wanted];
  if (!tool) throw new Error(`There are: ${Object.keys(TOOLS).join(', ')}`);
  const found = tool.find();
  if (found === null || tool.isBest?.(found) === false) install(tool, found);
}

function install({ name, packages, tests, find }: Tool, found: string | null): void {
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0) {
    if (found === null)
      process.stdout.write(
        `There is no ${name} here, and it cannot be installed (not root, or no apt-get): ${tests} are skipped\n`,
      );
    return;
  }
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const quiet = { stdio: ['ignore', 'ignore', 'inherit'] as ('ignore' | 'inherit')[], env: environment };
  for (const alternative of packages) {
    process.stdout.write(`Installing ${alternative.join(' and ')} for the ${tests} (once) …\n`);
    spawnSync('apt-get', ['-qq', 'update'], quiet);
    const { status } = spawnSync(
      'apt-get',
      ['-qq', '-y', 'install', '--no-remove', '--no-install-recommends', ...alternative],
      quiet,
    );
    if (status === 0) return;
    if (found !== null) {
      process.stdout.write(`It could not be installed; ${found} does\n`);
      return;
    }
  }
  if (find() === null) process.stdout.write(`${name} could not be installed: ${tests} are skipped\n`);
}
