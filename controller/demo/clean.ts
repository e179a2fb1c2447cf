/** `make clean`: ends what an earlier run left on the demo's data, agents and Postgres, and removes what lies outside the clone. */
import { existsSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../database/embedded/embedded-postgres.ts';
import { relocatedDir } from '../database/embedded/location.ts';
import { endEarlierAgents } from './agents.ts';

const dataDir = join(import.meta.dirname, '../../.headgate');
if (existsSync(dataDir)) {
  const real = realpathSync(dataDir);
  await endEarlierAgents(join(real, 'agents'));
  // Adopts what runs there, which is the surest way to end the right one.
  const postgres = await startEmbeddedPostgres({ dataDir: real, log: () => {} }).catch(() => null);
  await postgres?.stop();
  await rm(relocatedDir(real), { recursive: true, force: true });
}
