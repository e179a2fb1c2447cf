/** `make screenshots`: pictures of every page of a Headgate of its own, in both schemes and two widths. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { startHeadgate } from './support/harness/headgate.ts';
import { fillPages } from './support/scenes/full-site/pages.ts';

const headgate = await startHeadgate();
try {
  await fillPages(headgate);
  const pictures = spawnSync(process.execPath, [join(import.meta.dirname, '../web/screenshots.ts')], {
    stdio: 'inherit',
    env: {
      ...process.env,
      HEADGATE_URL: headgate.url,
      HEADGATE_EMAIL: headgate.adminEmail,
      HEADGATE_PASSWORD: headgate.adminPassword,
    },
  });
  process.exitCode = pictures.status ?? 1;
} finally {
  await headgate.remove();
}
