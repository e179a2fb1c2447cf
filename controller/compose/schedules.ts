/** What the leader does by the clock. */
import { deleteOldResponses } from '../../api/rest/idempotency-store.ts';
import { BACKUP_SCHEDULE, failAbandonedRuns, startDueBackup } from '../backups/index.ts';
import { deleteOldDeliveries, listBindings } from '../delivery/bindings/index.ts';
import { sweepCommitStatuses } from '../delivery/pull-requests/index.ts';
import { maintainRepository } from '../delivery/repository/index.ts';
import type { UpdateTracker } from '../fleet/index.ts';
import { limitLogSize, maintainLogDays } from '../fleet/logs/index.ts';
import { maintainSamples, maintainTaps } from '../fleet/samples/index.ts';
import { deleteExpiredSessions, deleteOldThrottles } from '../identity/access/index.ts';
import { followOidcFile, type OidcFileSource } from '../identity/administration/index.ts';
import { refreshUsers } from '../identity/oidc/index.ts';
import { createAnomalyPass } from '../insight/anomalies/index.ts';
import { logAuditHead, pruneAuditLog } from '../insight/audit/index.ts';
import { analyzeDueEnvironments, recordMergedRecommendations } from '../insight/recommendations/index.ts';
import { maintainMetricDays, packMinutes } from '../insight/telemetry/index.ts';
import type { Context } from '../platform/operation/context.ts';
import { messageOf } from '../platform/operation/errors.ts';
import type { Execute } from '../platform/operation/operation.ts';
import { unlockAbandonedJobs } from '../platform/runtime/jobs.ts';
import type { Lease } from '../platform/runtime/lease.ts';
import { createSchedules } from '../platform/runtime/schedules.ts';
import type { Lifecycle } from './lifecycle.ts';
import { SWEEPS } from './retention.ts';

export interface SchedulesOptions {
  systemContext(name: string): Context;
  execute: Execute;
  lease: Lease;
  updates: UpdateTracker;
  gitdir: string;
  oidcFile: OidcFileSource | null;
  lifecycle: Lifecycle;
}

export function startSchedules(options: SchedulesOptions): void {
  const { systemContext, execute, lease, updates, gitdir, lifecycle } = options;
  const { db, clock, log, services } = systemContext('schedules');
  const keepDays = () => maintainLogDays({ db, clock, log });
  const limitLogs = () => limitLogSize({ db, clock, log });
  const schedules = createSchedules({ lease, log });
  const stopping = new AbortController();
  schedules.every('log days', '0 5 * * * *', keepDays);
  schedules.every('metric days', '15 5 * * * *', () => maintainMetricDays({ db, clock, log }));
  schedules.every('metric hours', '10 35 * * * *', async () => {
    await packMinutes({ db, clock, log, signal: stopping.signal });
  });
  schedules.every('log size', '25 * * * * *', limitLogs);
  schedules.every('agent updates', '40 * * * * *', () => updates.sweep());
  schedules.every('samples', '*/10 * * * * *', () => maintainSamples(systemContext('samples')));
  schedules.every('live taps', '*/5 * * * * *', () => maintainTaps(systemContext('live taps')));
  schedules.every('repositories', '0 41 * * * *', async () =>
    services.repositories.sweep(await listBindings(db)),
  );
  schedules.every('repository maintenance', '0 11 * * * *', async () => {
    await maintainRepository({ db, gitdir, log, signal: stopping.signal });
  });
  schedules.every('expired sessions', '0 17 * * * *', () => deleteExpiredSessions(db));
  schedules.every('sign-in throttles', '0 23 * * * *', () => deleteOldThrottles(db, new Date(clock.now())));
  schedules.every('webhook deliveries', '0 53 * * * *', () => deleteOldDeliveries(db));
  schedules.every('commit statuses', '0 47 * * * *', () => sweepCommitStatuses(db));
  /** The lease fences every transaction of the work. */
  const everyFenced = (name: string, cron: string, work: (ctx: Context) => Promise<unknown>) =>
    schedules.every(name, cron, async () => {
      const epoch = lease.epoch();
      if (epoch === null) return;
      await work({ ...systemContext(name), fence: (tx) => lease.fence(tx, epoch) });
    });
  everyFenced('audit retention', '0 37 3,9,15,21 * * *', (ctx) => pruneAuditLog(ctx));
  everyFenced('people at identity providers', '20 * * * * *', refreshUsers);
  const anomalies = createAnomalyPass();
  everyFenced('anomalies', '50 */5 * * * *', (ctx) => anomalies.run(ctx));
  everyFenced('oidc file', '*/15 * * * * *', (ctx) => followOidcFile(ctx, execute, options.oidcFile));
  everyFenced('cost recommendations', '0 27 * * * *', analyzeDueEnvironments);
  everyFenced('merged recommendations', '*/5 * * * * *', (ctx) => recordMergedRecommendations(ctx, execute));
  everyFenced(BACKUP_SCHEDULE, '12,42 * * * * *', (ctx) => startDueBackup(ctx, execute));
  everyFenced('abandoned backups', '*/15 * * * * *', failAbandonedRuns);
  everyFenced('abandoned jobs', '33 * * * * *', (ctx) =>
    ctx.db.transaction(async (tx) => {
      await ctx.fence?.(tx);
      const runners = await unlockAbandonedJobs(tx);
      if (runners.length > 0) ctx.log.warn({ runners }, 'jobs of controllers that ended are done by others');
    }),
  );
  for (const { name, cron, run } of SWEEPS) everyFenced(name, cron, run);
  schedules.every('audit head', '0 7 * * * *', () => logAuditHead(systemContext('audit head')));
  schedules.every('idempotent answers', '0 29 * * * *', () => deleteOldResponses(db));
  lifecycle.onStop('schedules', () => schedules.stop());
  lifecycle.onStop('repository maintenance', () => stopping.abort());
}

/** Days of logs and metrics are made when this controller begins to lead, and when the settings change. */
export function followRetentionSettings(options: Pick<SchedulesOptions, 'systemContext' | 'lease'>): void {
  const { db, clock, log, services } = options.systemContext('log days');
  const keepDaysNow = () => {
    if (options.lease.epoch() === null) return;
    maintainLogDays({ db, clock, log })
      .then(() => limitLogSize({ db, clock, log }))
      .then(() => maintainMetricDays({ db, clock, log }))
      .catch((error) => log.warn({ reason: messageOf(error) }, 'days of logs and metrics not kept'));
  };
  options.lease.onChange(keepDaysNow);
  services.bus.on('fleet', keepDaysNow);
}
