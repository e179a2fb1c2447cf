/**
 * Environments bound to real repositories over a real Postgres, where passes run only when the test asks for one: no
 * timer, no file events, no other controller.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBackups } from '../../../controller/backups/index.ts';
import { createGitGateway } from '../../../controller/compose/git-gateway.ts';
import { connect } from '../../../controller/database/connect.ts';
import { type GitMode, saveBinding } from '../../../controller/delivery/bindings/store.ts';
import { createRepositories } from '../../../controller/delivery/repository/index.ts';
import { insertEnvironment } from '../../../controller/fleet/environments/store.ts';
import { createSnapshots } from '../../../controller/fleet/status/index.ts';
import { createIdentityProvider } from '../../../controller/identity/oidc/index.ts';
import { insertTeam } from '../../../controller/identity/teams/store.ts';
import { writeAudit } from '../../../controller/insight/audit/index.ts';
import { postgresMinutes } from '../../../controller/insight/telemetry/index.ts';
import { createEngineChecks } from '../../../controller/pipelines/engine/index.ts';
import { createWatchedPipelines } from '../../../controller/pipelines/index.ts';
import { createKeyring } from '../../../controller/platform/crypto/keyring.ts';
import { createOutgoing } from '../../../controller/platform/net/outgoing/index.ts';
import { NO_PROXIES } from '../../../controller/platform/net/proxies.ts';
import type { Context, Services } from '../../../controller/platform/operation/context.ts';
import { createExecute } from '../../../controller/platform/operation/execute.ts';
import { createBus } from '../../../controller/platform/runtime/bus.ts';
import { createJobs } from '../../../controller/platform/runtime/jobs.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { createSecretStores } from '../../../controller/secrets/index.ts';
import { createForges } from '../../../reconcilers/forges/index.ts';
import { systemClock } from '../../../reconcilers/loops/clock.ts';
import { createPromotionGateway } from '../../../reconcilers/promotions/gateway.ts';
import { resolveManifests } from '../../../reconcilers/promotions/resolve-conflict.ts';
import { createPullRequestGateway } from '../../../reconcilers/pull-requests/gateway.ts';
import { localGuard } from '../fixtures/local-targets.ts';
import { type TestDatabase, testDatabase } from '../harness/postgres.ts';
import type { TestDb } from '../harness/test-db.ts';
import { use, useEach } from '../harness/use.ts';
import { cheapPasswords } from '../users/passwords.ts';
import { BoundEnvironment } from './bound-environment.ts';
import { PRODUCTION } from './config-repository.ts';

const silent = createLogger('silent');
/** Passes are handed their repository. */
const NOWHERE = join(tmpdir(), 'headgate-no-repository');

export class ReconcileScene {
  readonly db: TestDb;
  readonly services: Services;
  readonly execute = createExecute(writeAudit);
  readonly #database: TestDatabase;
  readonly #environments: BoundEnvironment[] = [];
  #teamId: string | null = null;

  private constructor(database: TestDatabase) {
    this.#database = database;
    this.db = connect(database.url, { poolSize: 4, name: 'headgate-test' });
    const keyring = createKeyring('0123456789abcdef0123456789abcdef');
    const bus = createBus({ url: database.url, log: silent });
    const targetGuard = localGuard();
    const forges = createForges({ keyring, guard: targetGuard, log: silent, proxies: NO_PROXIES });
    const outgoing = createOutgoing({ guard: targetGuard, proxies: NO_PROXIES, log: silent });
    this.services = {
      bus,
      passwords: cheapPasswords,
      jobs: createJobs({ url: database.url, log: silent }),
      keyring,
      secretStores: createSecretStores({ keyring, guard: targetGuard, execCommands: [] }),
      engine: createEngineChecks({ engineBin: null, log: silent }),
      baseUrl: 'http://localhost',
      releases: { list: async () => ({ releases: [], checkedAt: new Date(0) }), find: async () => null },
      cloneUrl: '',
      git: createGitGateway(),
      forges,
      promotions: createPromotionGateway(),
      pullRequests: createPullRequestGateway({ forges, resolve: resolveManifests }),
      repositories: createRepositories({
        ...{ root: NOWHERE, gitdir: NOWHERE, keyring, guard: targetGuard, log: silent },
      }),
      listeningSince: () => 0,
      statuses: createSnapshots({ bus, clock: systemClock }),
      servedChecksums: async () => new Map(),
      targetGuard,
      outgoing,
      minutes: postgresMinutes,
      mailer: null,
      backups: createBackups({
        ...{ databaseUrl: database.url, dataDir: NOWHERE, keyring, guard: targetGuard, outgoing },
        ...{ proxies: NO_PROXIES, bus, clock: systemClock, log: silent },
      }),
      watchedPipelines: createWatchedPipelines({ bus, clock: systemClock }),
      identityProvider: createIdentityProvider({ outgoing, bus, clock: systemClock }),
    };
  }

  static async open(database?: TestDatabase): Promise<ReconcileScene> {
    return new ReconcileScene(database ?? (await testDatabase()));
  }

  /** A new environment, bound to a new and empty repository. `first`: no pass has run yet. */
  async environment(mode: GitMode = 'sync', { first = false } = {}): Promise<BoundEnvironment> {
    this.#teamId ??= await insertTeam(this.db, 'team');
    const name = `env-${this.#environments.length + 1}`;
    const id = await insertEnvironment(this.db, { name, teamId: this.#teamId });
    const bindingId = await saveBinding(this.db, {
      environmentId: id,
      mode,
      repositoryUrl: 'embedded',
      ref: 'main',
      path: PRODUCTION.path,
      sharedPaths: PRODUCTION.sharedPaths,
      intervalSeconds: 60,
    });
    if (!first) await this.db('git_bindings').where({ id: bindingId }).update({ begun_at: this.db.fn.now() });
    const made = new BoundEnvironment(this, { id, name, bindingId });
    this.#environments.push(made);
    return made;
  }

  context(environmentId: string, more: Partial<Context> = {}): Context {
    return {
      db: this.db,
      actor: { type: 'git', commit: '', author: '', environmentId },
      clock: systemClock,
      log: silent,
      signal: new AbortController().signal,
      requestId: 'test',
      ipAddress: null,
      services: this.services,
      ...more,
    };
  }

  async close(): Promise<void> {
    for (const environment of this.#environments) environment.repository.remove();
    await this.services.engine.stop();
    await this.db.destroy();
    await this.#database.drop();
  }
}

export const useReconcileScene = () =>
  use(
    () => ReconcileScene.open(),
    (scene) => scene.close(),
  );

/** A new one for each case. */
export const useBoundEnvironment = (scene: ReconcileScene) => useEach(() => scene.environment());
