/** Composition root: builds the controller from its parts, and takes it down again in order. */

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { deleteOldResponses } from '../api/rest/idempotency-store.ts';
import { type Api, createApi } from '../api/server.ts';
import { systemClock } from '../reconcilers/engine/clock.ts';
import { createAppTokens, createForges, gitTokens } from '../reconcilers/forges/index.ts';
import { createGitReconciler } from '../reconcilers/git/index.ts';
import { createPlanner } from '../reconcilers/plan-view/index.ts';
import { createPromotionGateway } from '../reconcilers/promotions/gateway.ts';
import { createPromotionReconciler } from '../reconcilers/promotions/index.ts';
import { resolveManifests } from '../reconcilers/promotions/resolve-conflict.ts';
import { createPullRequestGateway } from '../reconcilers/pull-requests/gateway.ts';
import { createPullRequestReconciler } from '../reconcilers/pull-requests/loop.ts';
import { createRolloutReconciler } from '../reconcilers/rollouts/index.ts';
import { createSecretReconciler } from '../reconcilers/secrets/index.ts';
import { createGitGateway } from './compose/git-gateway.ts';
import { agreeOnKeys, keysName, openKeyring } from './compose/keys.ts';
import { SWEEPS } from './compose/retention.ts';
import { type Config, ConfigError } from './config.ts';
import { withAdvisoryLock } from './database/advisory-lock.ts';
import { assertDatabase } from './database/assert-database.ts';
import { explainConnection } from './database/database-error.ts';
import { joinEmbeddedPostgres } from './database/embedded/shared-postgres.ts';
import { migrateAll } from './database/migrate.ts';
import { openPools } from './database/pools.ts';
import { deleteOldDeliveries, gitSyncProposeRollback, listBindings } from './delivery/bindings/index.ts';
import { type OwnedTable, PURGE_JOB, purgeTombstone, ROLLED_BACK_JOB } from './delivery/ownership/index.ts';
import { promotionSettling } from './delivery/promotions/index.ts';
import {
  addContributor,
  boundTo,
  protectedBranches,
  sweepCommitStatuses,
  teamsOf,
} from './delivery/pull-requests/index.ts';
import {
  createRepositories,
  ensureEmbeddedRepository,
  maintainRepository,
} from './delivery/repository/index.ts';
import { createComponentLists } from './fleet/engines/index.ts';
import { SOURCE_DELETED_JOB } from './fleet/environments/index.ts';
import {
  createConfigServer,
  createHeartbeatIngest,
  createNodeDirectory,
  createNodeReturns,
  createPushHub,
  createUpdateTracker,
} from './fleet/index.ts';
import { createLogIngest, keepLogDays, limitLogSize } from './fleet/logs/index.ts';
import { createReleases } from './fleet/releases/index.ts';
import { createSampleIngest, createTaps, keepSamples, keepTaps } from './fleet/samples/index.ts';
import { createSnapshots } from './fleet/status/index.ts';
import { deleteExpiredSessions, deleteOldThrottles, ensureFirstAdmin } from './identity/access/index.ts';
import { followOidcFile, type OidcFileSource, readOidcFile } from './identity/administration/index.ts';
import { createIdentityProvider, refreshUsers } from './identity/oidc/index.ts';
import { createAuditChainer, logAuditHead, pruneAuditLog, writeAudit } from './insight/audit/index.ts';
import { createEngineChecks } from './pipelines/engine/index.ts';
import { createOutgoing, createTargetGuard } from './platform/net/outgoing/index.ts';
import type { Context, Services } from './platform/operation/context.ts';
import { DomainError, messageOf } from './platform/operation/errors.ts';
import { createExecute, type Execute } from './platform/operation/operation.ts';
import { createBus } from './platform/runtime/bus.ts';
import { createJobs } from './platform/runtime/jobs.ts';
import { createLease } from './platform/runtime/lease.ts';
import { createLogger, type Logger } from './platform/runtime/logger.ts';
import { holdFile } from './platform/runtime/process-record.ts';
import { createSchedules } from './platform/runtime/schedules.ts';
import { createSecretStores } from './secrets/index.ts';

// An advisory lock of the database.
const PREPARING = 7_236_003;

/** Services of one machine, or of one cluster, are often started together. */
const DATABASE_WAIT_MS = 60_000;

export interface Controller {
  url: string;
  /** The one that it listens on; of interest where `config.port` is 0. */
  port: number;
  gitdir: string;
  /** Where the embedded repository is cloned from. */
  cloneUrl: string;
  /** Shown once, where the first administrator's password was generated here. */
  firstAdmin: { email: string; generatedPassword: string | null } | null;
  execute: Execute;
  /** A context for work that no request asks for. */
  systemContext(name: string): Context;
  stop(): Promise<void>;
}

export interface StartOptions {
  /** Called with a sentence before each long step. */
  progress?: (step: string) => void;
  log?: Logger;
  /** Refuses to start where another that asked for this runs on the data directory. Replicas share one. */
  alone?: boolean;
  /** An agent that was built on this machine: served where no release is. */
  ownAgent?: string;
}

export async function startController(config: Config, options: StartOptions = {}): Promise<Controller> {
  const log = options.log ?? createLogger(config.logLevel);
  const progress = options.progress ?? (() => {});
  const undo: { what: string; end: () => Promise<unknown> | unknown }[] = [];
  const stop = async () => {
    for (const { what, end } of undo.splice(0).reverse()) {
      try {
        await end();
      } catch (error) {
        log.warn({ what, reason: messageOf(error) }, 'not ended cleanly');
      }
    }
  };
  try {
    if (config.oidcFile !== null) await assertOidcFile(config.oidcFile);
    if (options.alone) undo.push({ what: 'data directory', end: await holdDataDir(config.dataDir) });
    return await compose(config, options, log, progress, undo, stop);
  } catch (error) {
    await stop();
    throw explained(error, config.databaseUrl);
  }
}

/** At the start a wrong one is refused in a line; later it is told in the log and in Settings. */
async function assertOidcFile(source: OidcFileSource): Promise<void> {
  await readOidcFile(source).catch((error: unknown) => {
    throw new ConfigError(`HEADGATE_OIDC_FILE: ${messageOf(error)}`);
  });
}

/** What PostgreSQL itself says no to (SQLSTATE) is for its operator; anything else stays as it is. */
function explained(error: unknown, databaseUrl: string | null): unknown {
  const { code } = error as { code?: unknown };
  if (databaseUrl === null || typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return error;
  return explainConnection(error, databaseUrl) ?? error;
}

async function compose(
  given: Config,
  { ownAgent = null }: { ownAgent?: string | null },
  log: Logger,
  progress: (step: string) => void,
  undo: { what: string; end: () => Promise<unknown> | unknown }[],
  stop: () => Promise<void>,
): Promise<Controller> {
  const clock = systemClock;
  const { config, held } = await holdPort(given);
  if (held) undo.push({ what: 'port', end: () => held.close() });
  await makeDataDir(config.dataDir);
  let databaseUrl = config.databaseUrl;
  let diskFull = () => false;
  if (databaseUrl !== null) {
    await assertDatabase(databaseUrl, { waitMs: DATABASE_WAIT_MS, onWait: (why) => log.warn(why) });
  } else {
    progress('Starting the embedded Postgres');
    const postgres = await joinEmbeddedPostgres({ dataDir: config.dataDir, log });
    undo.push({ what: 'Postgres', end: () => postgres.leave() });
    databaseUrl = postgres.url;
    diskFull = postgres.diskFull;
  }
  progress('Bringing the database up to date');
  await migrateAll(databaseUrl);

  const pools = openPools(databaseUrl);
  undo.push({ what: 'database', end: () => pools.destroy() });
  const { essential, requests, background: db } = pools;
  // Replicas may share a data directory, and start on it at the same moment.
  const { keyring, repository } = await withAdvisoryLock(db, PREPARING, async () => ({
    keyring: openKeyring(config),
    repository: await ensureEmbeddedRepository(config.dataDir),
  }));
  const bus = createBus({ url: databaseUrl, log, name: () => keysName(keyring) });
  await bus.start();
  undo.push({ what: 'bus', end: () => bus.stop() });
  if (!(await agreeOnKeys(db, keyring)))
    log.warn('not everything is sealed with the newest key yet; run: headgate keys rotate');
  const followKeys = () => {
    try {
      if (keyring.reload()) log.info({ key: keyring.fingerprint }, 'there are other keys');
      bus.introduce().catch(() => {});
    } catch (error) {
      log.error({ reason: messageOf(error) }, 'the keys cannot be read anew');
    }
  };
  bus.on('keys', followKeys);
  bus.on('resync', followKeys);
  const jobs = createJobs({ url: databaseUrl, log });
  const engine = createEngineChecks({ engineBin: config.engineBin, log });
  undo.push({ what: 'engine checks', end: () => engine.stop() });
  const cloneUrl = `${config.baseUrl}/git/${repository.name}`;

  let listeningSince = clock.now();
  let behind = () => false;
  const targetGuard = createTargetGuard(config.privateTargets, log);
  const secretStores = createSecretStores({
    ...{ keyring, guard: targetGuard, execCommands: config.execSecretCommands },
    execRequests: config.execSecretRequests,
    proxies: config.outgoingProxies,
  });
  undo.push({ what: 'secret stores', end: () => secretStores.close() });
  const statuses = createSnapshots({ bus, clock });
  undo.push({ what: 'statuses', end: () => statuses.stop() });
  const configs = createConfigServer({
    db: essential,
    bus,
    keyring,
    log,
    pushUrl: `${config.baseUrl}/api/agent/push`,
  });
  const proxies = config.outgoingProxies;
  const apps = createAppTokens({ guard: targetGuard, log, proxies, now: () => clock.now() });
  undo.push({ what: 'GitHub Apps', end: () => apps.close() });
  const forges = createForges({ keyring, guard: targetGuard, log, proxies, apps });
  undo.push({ what: 'forges', end: () => forges.close() });
  const planner = createPlanner();
  const outgoing = createOutgoing({ guard: targetGuard, proxies, log });
  undo.push({ what: 'outgoing requests', end: () => outgoing.close() });
  const services: Services = {
    bus,
    jobs,
    keyring,
    secretStores,
    engine,
    baseUrl: config.baseUrl,
    releases: createReleases({
      folder: config.agentReleases,
      ownAgent,
      baseUrl: config.baseUrl,
      clock,
      log,
    }),
    cloneUrl,
    git: createGitGateway(planner),
    forges,
    promotions: createPromotionGateway(),
    pullRequests: createPullRequestGateway({ forges, resolve: resolveManifests }),
    repositories: createRepositories({
      ...{ ...repository, keyring, guard: targetGuard, log, proxies },
      appToken: gitTokens(apps),
    }),
    // What the database says of nodes may be older than what was heard of them.
    listeningSince: () => (behind() ? clock.now() : listeningSince),
    statuses,
    servedChecksums: configs.checksums,
    targetGuard,
    outgoing,
    identityProvider: createIdentityProvider({ outgoing, bus, clock }),
  };
  const execute = createExecute(writeAudit, () => statuses.drop());
  const systemContext = (name: string): Context => ({
    db,
    actor: { type: 'system', name },
    clock,
    log,
    signal: new AbortController().signal,
    requestId: name,
    ipAddress: null,
    services,
  });
  const firstAdmin = await ensureFirstAdmin(systemContext('start'), {
    email: config.adminEmail,
    password: config.adminPassword,
  }).catch((error: unknown) => {
    if (error instanceof DomainError && error.code === 'BAD_REQUEST')
      throw new ConfigError(`HEADGATE_ADMIN_PASSWORD: ${error.message}`);
    throw error;
  });

  const followFile = (ctx: Context) => followOidcFile(ctx, execute, config.oidcFile);
  await followOidcFile(systemContext('oidc file'), execute, config.oidcFile, { atStart: true });

  const keepDays = () => keepLogDays({ db, clock, log });
  const limitLogs = () => limitLogSize({ db, clock, log });
  const lease = createLease({ db: pools.lease, key: 'leader', log });
  undo.push({ what: 'lease', end: () => lease.stop() });
  const git = createGitReconciler({
    db,
    clock,
    log,
    services,
    execute,
    lease,
    gitdir: repository.gitdir,
    uiUrl: config.baseUrl,
    pushWaitMs: config.pushWaitSeconds * 1_000,
  });
  const pullRequests = createPullRequestReconciler({ db, clock, log, services, lease, forges, planner });
  const secrets = createSecretReconciler({ db, clock, log, services, lease });
  const rollouts = createRolloutReconciler({ db, clock, log, services, execute, lease });
  const promotions = createPromotionReconciler({ db, clock, log, services, execute, lease });
  const directory = createNodeDirectory({ db: essential, bus, clock });
  undo.push({ what: 'node directory', end: () => directory.stop() });
  await directory.warm();
  const logs = createLogIngest({
    ...{ db: essential, bus, log, clock, knownPipelines: configs.knownPipelines, directory },
  });
  undo.push({ what: 'logs', end: () => logs.stop() });
  const updates = createUpdateTracker({ db, bus, clock, log });
  undo.push({ what: 'updates of agents', end: () => updates.stop() });
  const returns = createNodeReturns({ db, bus, clock, log });
  undo.push({ what: 'returns of archived nodes', end: () => returns.stop() });
  const heartbeats = createHeartbeatIngest({
    db: essential,
    bus,
    log,
    directory,
    configs,
    logs,
    updates,
    components: createComponentLists({ db: essential, log }),
    now: () => clock.now(),
    caughtUp: () => {
      listeningSince = clock.now();
    },
  });
  behind = heartbeats.behind;
  undo.push({ what: 'heartbeats', end: () => heartbeats.stop() });
  const push = createPushHub({ bus, log, directory });
  const samples = createSampleIngest({ db: requests, bus, clock });
  const taps = createTaps({ db, bus, clock, log });
  undo.push({ what: 'live taps', end: () => taps.stop() });

  const api = createApi({
    baseUrl: config.baseUrl,
    trustedProxies: config.trustedProxies,
    db: requests,
    essential,
    clock,
    log,
    services,
    execute,
    lease,
    diskFull,
    hearsOthers: () => bus.connected(),
    agent: {
      ...{ directory, configs, heartbeats, updates, returns, logs, samples, taps, push },
      enrollPerMinute: config.enrollPerMinute,
    },
    git: {
      repository,
      teams: async () => teamsOf(await boundTo(requests, 'embedded')),
      protectedBranches: async () => protectedBranches(await boundTo(requests, 'embedded')),
      beforePush: () => engine.prepare(),
      noteWork: (userId, branches) => addContributor(requests, { repository: 'embedded', branches, userId }),
      afterPush: (since, refs, refused) => git.afterPush(since, refs, refused),
    },
    webDir: join(import.meta.dirname, '../dist/web'),
  });
  const keepDaysNow = () => {
    if (lease.epoch() === null) return;
    keepDays()
      .then(limitLogs)
      .catch((error) => log.warn({ reason: messageOf(error) }, 'log days not kept'));
  };
  lease.onChange(keepDaysNow);
  bus.on('fleet', keepDaysNow);
  await lease.start();
  const audit = createAuditChainer({ db, services, lease, clock, log });
  undo.push({ what: 'audit chain', end: () => audit.stop() });
  audit.start();
  await listen(api, config, held);
  undo.push({ what: 'server', end: () => close(api) });
  await git.start();
  undo.push({ what: 'git reconciler', end: () => git.stop() });
  await pullRequests.start();
  undo.push({ what: 'pull requests', end: () => pullRequests.stop() });
  await secrets.start();
  undo.push({ what: 'secret reconciler', end: () => secrets.stop() });
  rollouts.start();
  undo.push({ what: 'rollout reconciler', end: () => rollouts.stop() });
  await promotions.start();
  undo.push({ what: 'promotions', end: () => promotions.stop() });

  const schedules = createSchedules({ lease, log });
  schedules.every('log days', '0 5 * * * *', keepDays);
  schedules.every('log size', '25 * * * * *', limitLogs);
  schedules.every('agent updates', '40 * * * * *', () => updates.sweep());
  schedules.every('samples', '*/10 * * * * *', () => keepSamples(systemContext('samples')));
  schedules.every('live taps', '*/5 * * * * *', () => keepTaps(systemContext('live taps')));
  schedules.every('repositories', '0 41 * * * *', async () =>
    services.repositories.sweep(await listBindings(db)),
  );
  const stopping = new AbortController();
  schedules.every('repository maintenance', '0 11 * * * *', async () => {
    await maintainRepository({ db, gitdir: repository.gitdir, log, signal: stopping.signal });
  });
  schedules.every('expired sessions', '0 17 * * * *', () => deleteExpiredSessions(db));
  schedules.every('sign-in throttles', '0 23 * * * *', () => deleteOldThrottles(db, new Date(clock.now())));
  schedules.every('webhook deliveries', '0 53 * * * *', () => deleteOldDeliveries(db));
  schedules.every('commit statuses', '0 47 * * * *', () => sweepCommitStatuses(db));
  /** Every transaction of the work is fenced by the lease. */
  const everyFenced = (name: string, cron: string, work: (ctx: Context) => Promise<unknown>) =>
    schedules.every(name, cron, async () => {
      const epoch = lease.epoch();
      if (epoch === null) return;
      await work({ ...systemContext(name), fence: (tx) => lease.fence(tx, epoch) });
    });
  everyFenced('audit retention', '0 37 3,9,15,21 * * *', (ctx) => pruneAuditLog(ctx));
  everyFenced('people at identity providers', '20 * * * * *', refreshUsers);
  everyFenced('oidc file', '*/15 * * * * *', followFile);
  for (const { name, cron, run } of SWEEPS) everyFenced(name, cron, run);
  schedules.every('audit head', '0 7 * * * *', () => logAuditHead(systemContext('audit head')));
  schedules.every('idempotent answers', '0 29 * * * *', () => deleteOldResponses(db));
  undo.push({ what: 'schedules', end: () => schedules.stop() });
  undo.push({ what: 'repository maintenance', end: () => stopping.abort() });
  await jobs.start({
    [PURGE_JOB]: async ({ table, id }) => {
      await purgeTombstone(db, table as OwnedTable, String(id));
    },
    [ROLLED_BACK_JOB]: async (payload) => {
      try {
        await execute(gitSyncProposeRollback, systemContext('rollback'), payload);
      } catch (error) {
        const isRefused = error instanceof DomainError && !['UNAVAILABLE', 'CONFLICT'].includes(error.code);
        if (!isRefused) throw error;
        log.info({ reason: error.message, ...payload }, 'nothing is proposed to git after a rollback');
      }
    },
    [SOURCE_DELETED_JOB]: async (payload) => {
      try {
        await execute(promotionSettling.sourceDeleted, systemContext('promotions'), payload);
      } catch (error) {
        const isRefused = error instanceof DomainError && !['UNAVAILABLE', 'CONFLICT'].includes(error.code);
        if (!isRefused) throw error;
        log.info({ reason: error.message, ...payload }, 'the pull request of a promotion stays open');
      }
    },
  });
  undo.push({ what: 'jobs', end: () => jobs.stop() });

  log.info({ url: config.baseUrl, engine: config.engineBin }, 'Headgate listens');
  return {
    url: config.baseUrl,
    port: config.port,
    gitdir: repository.gitdir,
    cloneUrl,
    firstAdmin,
    execute,
    systemContext,
    stop,
  };
}

async function makeDataDir(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true });
    const probe = join(dataDir, '.writable');
    await writeFile(probe, '');
    await rm(probe, { force: true });
  } catch (error) {
    throw new ConfigError(
      `the data directory ${dataDir} cannot be written (${(error as NodeJS.ErrnoException).code ?? messageOf(error)}); make it writable or set HEADGATE_DATA_DIR`,
    );
  }
}

async function holdDataDir(dataDir: string): Promise<() => void> {
  await makeDataDir(dataDir);
  const release = holdFile(join(dataDir, 'controller.pid'));
  if (typeof release === 'function') return release;
  throw new ConfigError(
    `another Headgate (process ${release}) runs on the data directory ${dataDir}; end it, or set HEADGATE_DATA_DIR and HEADGATE_PORT to start a second one`,
  );
}

/**
 * Port 0 lets the system choose. It is bound here already, since addresses that hold it are handed out long before the
 * server takes it over; nobody knows it until then.
 */
async function holdPort(config: Config): Promise<{ config: Config; held: Server | null }> {
  if (config.port !== 0) return { config, held: null };
  const held = createServer();
  await new Promise<void>((resolve, reject) => {
    held.once('error', reject);
    held.listen({ host: config.host, port: 0 }, resolve);
  });
  const address = held.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const baseUrl = config.baseUrl.replace(/:0$/, `:${port}`);
  return { config: { ...config, port, baseUrl }, held };
}

function listen(api: Api, config: Config, held: Server | null): Promise<void> {
  return new Promise((resolve, reject) => {
    api.server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      const denied = error.code === 'EACCES';
      if (taken)
        reject(
          new ConfigError(
            `port ${config.port} is taken by another program; end it, or set HEADGATE_PORT to a free one`,
          ),
        );
      else if (denied)
        reject(
          new ConfigError(
            `port ${config.port} may not be opened by this user; set HEADGATE_PORT to one above 1023`,
          ),
        );
      else reject(error);
    });
    if (held) api.server.listen(held, resolve);
    else api.server.listen({ host: config.host, port: config.port, backlog: 4_096 }, resolve);
  });
}

async function close(api: Api): Promise<void> {
  const closed = new Promise((resolve) => api.server.close(resolve));
  api.closeStreams();
  api.server.closeIdleConnections();
  const force = setTimeout(() => api.server.closeAllConnections(), 3_000);
  await closed;
  clearTimeout(force);
}
