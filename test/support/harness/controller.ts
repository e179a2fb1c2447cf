/** A real controller in this process: its own database, data directory and port, and no engine. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../../controller/config.ts';
import { connect } from '../../../controller/database/connect.ts';
import { type Controller, startController } from '../../../controller/main.ts';
import { NO_PROXIES } from '../../../controller/platform/net/proxies.ts';
import { LOCAL_TARGETS } from '../fixtures/local-targets.ts';
import { CHEAP } from '../users/passwords.ts';
import { signIn } from '../users/person.ts';
import { testDatabase } from './postgres.ts';
import { recordedLog } from './recorded-log.ts';
import type { TestDb } from './test-db.ts';
import { use } from './use.ts';

export const ROOT = { email: 'root@example.org', password: 'a long enough password' };

export interface TestController {
  /** Where it listens, whatever its base URL says. */
  url: string;
  controller: Controller;
  config: Config;
  /** A pool of the test's own. */
  db: TestDb;
  databaseUrl: string;
  /** Everything that it has logged. */
  log(): string;
  /** Its first administrator, signed in. */
  root(): ReturnType<typeof signIn>;
  stop(): Promise<void>;
}

export interface TestControllerOptions extends Partial<Config> {
  /** Kept after the stop, by whoever gave it. */
  databaseUrl?: string;
}

export async function startTestController(options: TestControllerOptions = {}): Promise<TestController> {
  const database = options.databaseUrl ? null : await testDatabase();
  const databaseUrl = options.databaseUrl ?? database?.url ?? '';
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'headgate-api-'));
  const { log, text } = recordedLog('debug');
  const config: Config = {
    host: '127.0.0.1',
    port: 0,
    baseUrl: 'http://127.0.0.1:0',
    secretKey: null,
    previousSecretKeys: [],
    execSecretCommands: [],
    execSecretRequests: new Map(),
    adminEmail: ROOT.email,
    adminPassword: ROOT.password,
    logLevel: 'debug',
    trustedProxies: [],
    outgoingProxies: NO_PROXIES,
    privateTargets: LOCAL_TARGETS,
    oidcFile: null,
    engineBin: null,
    enrollPerMinute: 10_000,
    // What a push did is to be there when it ends, on a slow machine too.
    pushWaitSeconds: 10,
    agentReleases: join(dataDir, 'agent-release'),
    metricsToken: null,
    metricsPort: null,
    metricsStore: null,
    smtp: null,
    ...options,
    dataDir,
    databaseUrl,
  };
  const db = connect(databaseUrl, { poolSize: 4, name: 'headgate-test' });
  const clean = async () => {
    await db.destroy();
    await database?.drop();
    if (!options.dataDir) await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const controller = await startController(config, {
      log,
      passwordCost: CHEAP,
    });
    // Nobody tells the controller of what a test writes past it.
    const { statuses } = controller.systemContext('test').services;
    db.on('query-response', () => statuses.drop());
    const url = `http://127.0.0.1:${controller.port}`;
    return {
      url,
      controller,
      config: { ...config, port: controller.port, baseUrl: controller.url },
      db,
      databaseUrl,
      log: text,
      root: () => signIn(url, ROOT.email, ROOT.password),
      async stop() {
        await controller.stop();
        await clean();
      },
    };
  } catch (error) {
    await clean();
    throw error;
  }
}

/** One for all cases of a suite. */
export const useController = (options: TestControllerOptions | (() => TestControllerOptions) = {}) =>
  use(
    () => startTestController(typeof options === 'function' ? options() : options),
    (test) => test.stop(),
  );

/** Another one on its database and data directory. */
export const useReplica = (test: TestController) =>
  useController(() => ({ databaseUrl: test.databaseUrl, dataDir: test.config.dataDir }));

/** Its first administrator, signed in. */
export const useRoot = (test: TestController) => use(() => test.root());
