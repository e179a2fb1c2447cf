/** The services that operations may call, and what they are made of. */

import { createAppTokens, createForges, gitTokens } from '../../reconcilers/forges/index.ts';
import type { Clock } from '../../reconcilers/loops/clock.ts';
import { createPlanner } from '../../reconcilers/plan-view/index.ts';
import { createPromotionGateway } from '../../reconcilers/promotions/gateway.ts';
import { resolveManifests } from '../../reconcilers/promotions/resolve-conflict.ts';
import { createPullRequestGateway } from '../../reconcilers/pull-requests/gateway.ts';
import { createBackups } from '../backups/index.ts';
import type { Config } from '../config.ts';
import type { Pools } from '../database/pools.ts';
import { createRepositories, type EmbeddedRepository } from '../delivery/repository/index.ts';
import { createConfigServer } from '../fleet/index.ts';
import { createReleases } from '../fleet/releases/index.ts';
import { createSnapshots } from '../fleet/status/index.ts';
import { createPasswords, type PasswordCost } from '../identity/access/index.ts';
import { createIdentityProvider } from '../identity/oidc/index.ts';
import { createPrometheusMinutes, postgresMinutes } from '../insight/telemetry/index.ts';
import { createEngineChecks } from '../pipelines/engine/index.ts';
import { createWatchedPipelines } from '../pipelines/index.ts';
import type { Keyring } from '../platform/crypto/keyring.ts';
import { createMailer } from '../platform/net/mail/mailer.ts';
import { createOutgoing, createTargetGuard } from '../platform/net/outgoing/index.ts';
import type { Services } from '../platform/operation/context.ts';
import type { Bus } from '../platform/runtime/bus.ts';
import { createJobs } from '../platform/runtime/jobs.ts';
import type { Logger } from '../platform/runtime/logger.ts';
import { createSecretStores } from '../secrets/index.ts';
import { createGitGateway } from './git-gateway.ts';
import type { Lifecycle } from './lifecycle.ts';

export interface ServicesOptions {
  config: Config;
  databaseUrl: string;
  pools: Pools;
  bus: Bus;
  keyring: Keyring;
  repository: EmbeddedRepository;
  /** An agent that was built on this machine: served where no release is. */
  ownAgent: string | null;
  /** For tests, which sign in often. */
  passwordCost: PasswordCost | undefined;
  /**
   * Since when heartbeats were all heard, in milliseconds of the clock: what the database says of nodes may be older than
   * what was heard of them.
   */
  listeningSince: () => number;
  clock: Clock;
  log: Logger;
  lifecycle: Lifecycle;
}

export function createServices(options: ServicesOptions) {
  const { config, pools, bus, keyring, repository, ownAgent, clock, log, lifecycle } = options;
  const proxies = config.outgoingProxies;
  const guard = createTargetGuard(config.privateTargets, log);
  const jobs = createJobs({ url: options.databaseUrl, log });
  const engine = createEngineChecks({ engineBin: config.engineBin, log });
  lifecycle.onStop('engine checks', () => engine.stop());
  const secretStores = createSecretStores({
    ...{ keyring, guard, proxies },
    execCommands: config.execSecretCommands,
    execRequests: config.execSecretRequests,
  });
  lifecycle.onStop('secret stores', () => secretStores.close());
  const statuses = createSnapshots({ bus, clock });
  lifecycle.onStop('statuses', () => statuses.stop());
  const pushUrl = `${config.baseUrl}/api/agent/push`;
  const configs = createConfigServer({ db: pools.essential, bus, keyring, log, pushUrl });
  const apps = createAppTokens({ guard, log, proxies, now: () => clock.now() });
  lifecycle.onStop('GitHub Apps', () => apps.close());
  const forges = createForges({ keyring, guard, log, proxies, apps });
  lifecycle.onStop('forges', () => forges.close());
  const outgoing = createOutgoing({ guard, proxies, log });
  lifecycle.onStop('outgoing requests', () => outgoing.close());
  const minutes = config.metricsStore
    ? createPrometheusMinutes({ ...config.metricsStore, clock, log })
    : postgresMinutes;
  lifecycle.onStop('metrics store', () => minutes.stop());
  const backups = createBackups({
    ...{ databaseUrl: options.databaseUrl, dataDir: config.dataDir },
    ...{ keyring, guard, outgoing, proxies, bus, clock, log },
  });
  lifecycle.onStop('backups', () => backups.stop());
  const planner = createPlanner();
  const services: Services = {
    ...{ bus, jobs, keyring, secretStores, engine, forges, statuses, outgoing, minutes, backups },
    mailer: config.smtp ? createMailer({ smtp: config.smtp, log }) : null,
    watchedPipelines: createWatchedPipelines({ bus, clock }),
    passwords: createPasswords(options.passwordCost),
    baseUrl: config.baseUrl,
    cloneUrl: `${config.baseUrl}/git/${repository.name}`,
    releases: createReleases({ folder: config.agentReleases, ownAgent, baseUrl: config.baseUrl, clock, log }),
    git: createGitGateway(planner),
    promotions: createPromotionGateway(),
    pullRequests: createPullRequestGateway({ forges, resolve: resolveManifests }),
    repositories: createRepositories({
      ...{ ...repository, keyring, guard, log, proxies },
      appToken: gitTokens(apps),
    }),
    listeningSince: options.listeningSince,
    servedChecksums: configs.checksums,
    targetGuard: guard,
    identityProvider: createIdentityProvider({ outgoing, bus, clock }),
  };
  return { services, configs, planner, forges };
}
