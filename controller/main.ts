/** Composition root: builds the controller from its parts, in order. `compose/` holds the parts. */

import type { Server } from 'node:net';
import { join } from 'node:path';
import { createApi } from '../api/server.ts';
import { renderPushReport } from '../reconcilers/git/push-report/push-report.ts';
import { systemClock } from '../reconcilers/loops/clock.ts';
import { completeRestore } from './backups/index.ts';
import { startBus } from './compose/bus.ts';
import { holdDataDir, makeDataDir } from './compose/data-dir.ts';
import { openDatabase, type ReachedDatabase, reachDatabase } from './compose/database.ts';
import { ensureConfiguredAdmin } from './compose/first-admin.ts';
import { startFleet } from './compose/fleet.ts';
import { jobHandlers } from './compose/job-handlers.ts';
import { openKeyring } from './compose/keys.ts';
import { createLifecycle } from './compose/lifecycle.ts';
import { close, holdPort, listen } from './compose/listen.ts';
import { createLoops } from './compose/loops.ts';
import { assertOidcFile } from './compose/oidc-file.ts';
import { keepController, type Start } from './compose/restart.ts';
import { followRestores } from './compose/restored.ts';
import { followRetentionSettings, startSchedules } from './compose/schedules.ts';
import { startSelfMetrics } from './compose/self-metrics.ts';
import { createServices } from './compose/services.ts';
import type { Config } from './config.ts';
import { PREPARING, withAdvisoryLock } from './database/advisory-lock.ts';
import { explainConnection } from './database/database-error.ts';
import {
  addContributor,
  listBoundBranches,
  protectedBranches,
  teamsOf,
} from './delivery/pull-requests/index.ts';
import { ensureEmbeddedRepository } from './delivery/repository/index.ts';
import type { PasswordCost } from './identity/access/index.ts';
import { followOidcFile } from './identity/administration/index.ts';
import { createAuditChainer, writeAudit } from './insight/audit/index.ts';
import type { Context } from './platform/operation/context.ts';
import { createExecute } from './platform/operation/execute.ts';
import type { Execute } from './platform/operation/operation.ts';
import { createLease } from './platform/runtime/lease.ts';
import { createLogger, type Logger } from './platform/runtime/logger.ts';
import type { SelfMetrics } from './platform/runtime/self-metrics.ts';

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
  /** For tests, which sign in often. */
  passwordCost?: PasswordCost;
}

export async function startController(given: Config, options: StartOptions = {}): Promise<Controller> {
  const log = options.log ?? createLogger(given.logLevel);
  const whole = createLifecycle(log);
  try {
    await assertOidcFile(given.oidcFile);
    if (options.alone) whole.onStop('data directory', await holdDataDir(given.dataDir));
    const { config, held } = await holdPort(given);
    if (held) whole.onStop('port', () => held.close());
    await makeDataDir(config.dataDir);
    const database = await reachDatabase(config, log, options.progress ?? (() => {}), whole);
    return await keepController(log, whole, (start) =>
      compose({ config, database, held: start.isFirst ? held : null }, options, log, start),
    );
  } catch (error) {
    await whole.stop();
    throw explained(error, given.databaseUrl);
  }
}

/** What outlives a restart after a backup was restored. */
interface Ground {
  config: Config;
  database: ReachedDatabase;
  /** The port, at the first start. */
  held: Server | null;
}

/** An error with an SQLSTATE is PostgreSQL's own, and is explained to its operator; any other error stays as it is. */
function explained(error: unknown, databaseUrl: string | null): unknown {
  const { code } = error as { code?: unknown };
  if (databaseUrl === null || typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return error;
  return explainConnection(error, databaseUrl) ?? error;
}

async function compose(
  { config, database, held }: Ground,
  { progress = () => {}, ownAgent, passwordCost }: StartOptions,
  log: Logger,
  { lifecycle, restart }: Start,
): Promise<Controller> {
  const clock = systemClock;
  const { url: databaseUrl, diskFull } = database;
  const pools = await openDatabase(databaseUrl, progress, lifecycle);
  const { essential, requests, background: db } = pools;
  // Replicas may share a data directory, and start on it at the same moment.
  const { restored, keyring, repository } = await withAdvisoryLock(db, PREPARING, async () => ({
    restored: await completeRestore(db, config.dataDir, log),
    keyring: openKeyring(config),
    repository: await ensureEmbeddedRepository(config.dataDir),
  }));
  const bus = await startBus({ databaseUrl, db, keyring, log, lifecycle });
  followRestores({ bus, db, log, known: restored, restart });

  let listeningSince = clock.now();
  let behind = () => false;
  const { services, configs, planner, forges } = createServices({
    ...{ config, databaseUrl, pools, bus, keyring, repository, passwordCost, clock, log, lifecycle },
    ownAgent: ownAgent ?? null,
    listeningSince: () => (behind() ? clock.now() : listeningSince),
  });
  const execute = createExecute(writeAudit, () => services.statuses.drop());
  const systemContext = (name: string): Context => ({
    ...{ db, clock, log, services },
    actor: { type: 'system', name },
    signal: new AbortController().signal,
    requestId: name,
    ipAddress: null,
  });
  const firstAdmin = await ensureConfiguredAdmin(systemContext('start'), config);
  await followOidcFile(systemContext('oidc file'), execute, config.oidcFile, { atStart: true });

  const lease = createLease({ db: pools.lease, key: 'leader', log });
  lifecycle.onStop('lease', () => lease.stop());
  let selfMetrics: SelfMetrics | null = null;
  const loops = createLoops({
    ...{ db, clock, log, services, execute, lease, planner, forges },
    gitdir: repository.gitdir,
    uiUrl: config.baseUrl,
    pushWaitMs: config.pushWaitSeconds * 1_000,
    onPass: (outcome, seconds) => selfMetrics?.pass(outcome, seconds),
  });
  const caughtUp = () => {
    listeningSince = clock.now();
  };
  const fleet = await startFleet({
    ...{ pools, bus, configs, caughtUp, clock, log, lifecycle },
    ...{ minutes: services.minutes, watched: services.watchedPipelines },
  });
  behind = fleet.heartbeats.isBehind;
  selfMetrics = await startSelfMetrics({
    ...{ config, pools, lease, bus, fleet, clock, lifecycle },
    minutes: services.minutes,
  });

  const api = createApi({
    ...{ db: requests, essential, clock, log, services, execute, lease, diskFull },
    baseUrl: config.baseUrl,
    trustedProxies: config.trustedProxies,
    hearsOthers: () => bus.connected(),
    ...{ measures: fleet.measures, selfMetrics, metricsToken: config.metricsToken },
    agent: { ...fleet, configs, enrollPerMinute: config.enrollPerMinute },
    git: {
      repository,
      teams: async () => teamsOf(await listBoundBranches(requests, 'embedded')),
      protectedBranches: async () => protectedBranches(await listBoundBranches(requests, 'embedded')),
      beforePush: () => services.engine.prepare(),
      noteWork: (userId, branches) => addContributor(requests, { repository: 'embedded', branches, userId }),
      afterPush: async (since, refs, refused) =>
        (await loops.git.afterPush(since, refs, refused)).flatMap(renderPushReport),
    },
    webDir: join(import.meta.dirname, '../dist/web'),
  });
  followRetentionSettings({ systemContext, lease });
  await lease.start();
  const audit = createAuditChainer({ db, services, lease, clock, log });
  lifecycle.onStop('audit chain', () => audit.stop());
  audit.start();
  await listen(api, config, held);
  lifecycle.onStop('server', () => close(api));
  await loops.start(lifecycle);
  const { gitdir } = repository;
  startSchedules({
    ...{ systemContext, execute, lease, gitdir, lifecycle },
    updates: fleet.updates,
    oidcFile: config.oidcFile,
  });
  await services.jobs.start(jobHandlers(execute, systemContext));
  lifecycle.onStop('jobs', () => services.jobs.stop());

  log.info({ url: config.baseUrl, engine: config.engineBin }, 'Headgate listens');
  const { port, baseUrl: url } = config;
  const { cloneUrl } = services;
  return { url, port, gitdir, cloneUrl, firstAdmin, execute, systemContext, stop: lifecycle.stop };
}
