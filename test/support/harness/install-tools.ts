/**
 * Programs that tests need and that no npm package brings. Those that are named and missing are installed from the system's
 * packages where that is allowed; where it is not, the tests that need them are skipped.
 */
import { spawnSync } from 'node:child_process';
import { findAlertmanager } from '../servers/alertmanager.ts';
import { findPrometheus, findVictoriaMetrics } from '../servers/metrics-stores.ts';
import { findPgBouncer } from '../servers/pgbouncer.ts';
import { findSshd } from '../servers/ssh-server.ts';
import { findChromium } from './chromium.ts';

interface Tool {
  name: string;
  /** Of Debian. Alternatives, the best first. */
  packages: readonly (readonly string[])[];
  tests: string;
  find(): string | null;
}

const TOOLS: Readonly<Record<string, Tool>> = {
  chromium: {
    name: 'Chromium',
    // Without windows of its own it takes less CPU time; older Debians have no such package.
    packages: [['chromium-headless-shell'], ['chromium']],
    tests: 'browser tests',
    find: findChromium,
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
  prometheus: {
    name: 'Prometheus',
    packages: [['prometheus']],
    tests: 'tests of Prometheus and its checks',
    find: findPrometheus,
  },
  'victoria-metrics': {
    name: 'VictoriaMetrics',
    packages: [['victoria-metrics']],
    tests: 'tests of VictoriaMetrics',
    find: findVictoriaMetrics,
  },
  alertmanager: {
    name: 'Alertmanager',
    packages: [['prometheus-alertmanager']],
    tests: 'tests of Alertmanager',
    find: findAlertmanager,
  },
};

for (const wanted of process.argv.slice(2)) {
  const tool = TOOLS[wanted];
  if (!tool) throw new Error(`There are: ${Object.keys(TOOLS).join(', ')}`);
  if (tool.find() === null) install(tool);
}

function install({ name, packages, tests, find }: Tool): void {
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0) {
    process.stdout.write(
      `There is no ${name} here, and it cannot be installed (not root, or no apt-get): ${tests} are skipped\n`,
    );
    return;
  }
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const quiet = { stdio: ['ignore', 'ignore', 'inherit'] as ('ignore' | 'inherit')[], env: environment };
  spawnSync('apt-get', ['-qq', 'update'], quiet);
  for (const alternative of packages) {
    process.stdout.write(`Installing ${alternative.join(' and ')} for the ${tests} (once) …\n`);
    spawnSync('apt-get', ['-qq', '-y', 'install', '--no-install-recommends', ...alternative], quiet);
    if (find() !== null) return;
  }
  process.stdout.write(`${name} could not be installed: ${tests} are skipped\n`);
}
