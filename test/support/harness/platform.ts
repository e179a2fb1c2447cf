/** The platform's parts on a database of their own, without a controller around them. */
import { connect } from '../../../controller/database/connect.ts';
import { createKeyring, type Keyring } from '../../../controller/platform/crypto/keyring.ts';
import type { Actor, Context } from '../../../controller/platform/operation/context.ts';
import { type Bus, createBus } from '../../../controller/platform/runtime/bus.ts';
import { createJobs } from '../../../controller/platform/runtime/jobs.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { createSecretStores } from '../../../controller/secrets/index.ts';
import { systemClock } from '../../../reconcilers/loops/clock.ts';
import { localGuard } from '../fixtures/local-targets.ts';
import { testDatabase } from './postgres.ts';
import type { TestDb } from './test-db.ts';
import { use, useEach } from './use.ts';

export const QUIET = createLogger('silent');

export interface TestPlatform {
  url: string;
  db: TestDb;
  keyring: Keyring;
  context(actor: Actor): Context;
  stop(): Promise<void>;
}

/** The bus of its contexts publishes, and hears only what is started. */
export async function startTestPlatform(): Promise<TestPlatform> {
  const database = await testDatabase();
  const { url } = database;
  const db = connect(url, { name: 'headgate-test' });
  const bus: Bus = createBus({ url, log: QUIET });
  const keyring = createKeyring('0123456789abcdef0123456789abcdef');
  const services = {
    bus,
    jobs: createJobs({ url, log: QUIET }),
    keyring,
    secretStores: createSecretStores({ keyring, guard: localGuard(), execCommands: [] }),
  };
  return {
    url,
    db,
    keyring,
    context: (actor) => ({
      db,
      actor,
      clock: systemClock,
      log: QUIET,
      signal: new AbortController().signal,
      requestId: 'test',
      ipAddress: '192.0.2.1',
      services: services as Context['services'],
    }),
    async stop() {
      await db.destroy();
      await database.drop();
    },
  };
}

const stop = (platform: TestPlatform) => platform.stop();
/** One for all cases of a suite. */
export const usePlatform = () => use(startTestPlatform, stop);
/** One for each case. */
export const useEachPlatform = () => useEach(startTestPlatform, stop);
