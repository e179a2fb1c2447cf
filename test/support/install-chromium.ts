/** The browser tests need a Chromium. Where there is none and we may, it is installed from the system's packages. */
import { spawnSync } from 'node:child_process';
import { findChromium } from './chromium.ts';

if (findChromium() === null) {
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0) {
    process.stdout.write(
      'There is no Chromium here, and it cannot be installed (not root, or no apt-get): browser tests are skipped\n',
    );
  } else {
    process.stdout.write('Installing Chromium for the browser tests (once) …\n');
    const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const quiet = { stdio: ['ignore', 'ignore', 'inherit'] as ('ignore' | 'inherit')[], env: environment };
    spawnSync('apt-get', ['-qq', 'update'], quiet);
    spawnSync('apt-get', ['-qq', '-y', 'install', '--no-install-recommends', 'chromium'], quiet);
    if (findChromium() === null)
      process.stdout.write('Chromium could not be installed: browser tests are skipped\n');
  }
}
