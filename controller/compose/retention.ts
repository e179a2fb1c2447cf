/**
 * What is deleted by age or number, and when: the leader's schedules. How a row is deleted is its domain's to say; docs/retention.md
 * lists all of it, and what deletes itself elsewhere.
 */
import type { Knex } from 'knex';
import { deleteOldBackupRuns } from '../backups/index.ts';
import { deleteReleasedHolds } from '../delivery/bindings/index.ts';
import { purgeOldTombstones, TOMBSTONE_HOURS, thinObjectChanges } from '../delivery/ownership/index.ts';
import { deleteOldPromotions } from '../delivery/promotions/index.ts';
import { clearOldPlans, deleteOldMirrored } from '../delivery/pull-requests/index.ts';
import { deleteOldRollouts } from '../delivery/rollouts/index.ts';
import { deleteOldEnrollmentTokens } from '../fleet/environments/index.ts';
import { archiveSilentNodes } from '../fleet/index.ts';
import { deleteExpiredTokens } from '../identity/access/index.ts';
import { deleteEventsBefore, deleteSilencesBefore } from '../insight/alerts/index.ts';
import { deleteAnomaliesBefore } from '../insight/anomalies/index.ts';
import { deleteOldNotifications } from '../insight/notifications/index.ts';
import { deleteResolvedRecommendations } from '../insight/recommendations/index.ts';
import { deleteDeploysBefore, deleteHoursBefore, deleteReadingsBefore } from '../insight/telemetry/index.ts';
import { deleteAiConversationsBefore, deleteAiRequestsBefore } from '../pipelines/assistant/index.ts';
import { pruneVersions } from '../pipelines/index.ts';
import type { Context } from '../platform/operation/context.ts';
import { inBatches } from '../platform/runtime/batches.ts';
import { deleteFailedJobs } from '../platform/runtime/jobs.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Thirteen months: a year can be compared with the one before. */
const HISTORY_DAYS = 395;
const PLAN_DAYS = 90;
const PLAN_REMOVED = `The plan was removed: plans are kept for ${PLAN_DAYS} days after the pull request was closed.`;
const FAILED_JOB_DAYS = 90;
/** Usage is looked at by the month. */
const AI_REQUEST_DAYS = 90;
/** Since somebody last asked. */
const AI_CONVERSATION_DAYS = 30;
const NOTIFICATION_DAYS = 30;
/** A node that returns sooner is counted from where it was last read. */
const READING_DAYS = 30;
/** What was muted, and why, is asked for when an incident is gone through. */
const ENDED_SILENCE_DAYS = 90;
/** Somebody who finds that a script stopped working still finds its token in the list. */
const EXPIRED_TOKEN_DAYS = 30;
/** Of ended promotions and rollouts, each pipeline's page shows these at least. */
const NEWEST = 20;

/** A purge job has had an hour for what it was to delete. */
const PURGE_GRACE_HOURS = 1;

export interface Sweep {
  name: string;
  /** Cron's, seconds first, in UTC. */
  cron: string;
  /** Answers how many rows it deleted, emptied or archived. */
  run(ctx: Context): Promise<number>;
}

const ago = ({ clock }: Context, ms: number) => new Date(clock.now() - ms);
const history = (ctx: Context) => ago(ctx, HISTORY_DAYS * DAY_MS);

/** `some` handles at most `limit` rows in a transaction, and is repeated until it finds fewer. */
const sweep = (
  name: string,
  cron: string,
  some: (ctx: Context, tx: Knex, limit: number) => Promise<number>,
  batch?: number,
): Sweep => ({
  name,
  cron,
  run: (ctx) => inBatches(ctx, (tx, limit) => some(ctx, tx, limit), batch),
});

/**
 * History first: a version that only an old promotion or rollout named goes in the same hour. Several times a day, so that a
 * controller that is off at night, or leads nobody at that moment, sweeps all the same.
 */
export const SWEEPS: readonly Sweep[] = [
  sweep('old promotions', '0 2 4,10,16,22 * * *', (ctx, tx, limit) =>
    deleteOldPromotions(tx, { keep: NEWEST, endedBefore: history(ctx) }, limit),
  ),
  sweep('old rollouts', '0 5 4,10,16,22 * * *', (ctx, tx, limit) =>
    deleteOldRollouts(tx, { keep: NEWEST, endedBefore: history(ctx) }, limit),
  ),
  sweep(
    'plans of closed pull requests',
    '0 8 4,10,16,22 * * *',
    (ctx, tx, limit) =>
      clearOldPlans(tx, { closedBefore: ago(ctx, PLAN_DAYS * DAY_MS), reason: PLAN_REMOVED }, limit),
    200,
  ),
  sweep('pull requests of forges', '0 11 4,10,16,22 * * *', (ctx, tx, limit) =>
    deleteOldMirrored(tx, { closedBefore: history(ctx) }, limit),
  ),
  { name: 'pipeline versions', cron: '0 14 4,10,16,22 * * *', run: (ctx) => pruneVersions(ctx) },
  sweep('expired personal tokens', '0 17 4,10,16,22 * * *', (ctx, tx, limit) =>
    deleteExpiredTokens(tx, ago(ctx, EXPIRED_TOKEN_DAYS * DAY_MS), limit),
  ),
  sweep('old enrollment tokens', '0 19 4,10,16,22 * * *', (ctx, tx, limit) =>
    deleteOldEnrollmentTokens(tx, history(ctx), limit),
  ),
  sweep('released holds', '0 21 4,10,16,22 * * *', (ctx, tx, limit) =>
    deleteReleasedHolds(tx, history(ctx), limit),
  ),
  sweep('failed jobs', '0 23 4,10,16,22 * * *', (ctx, tx, limit) =>
    deleteFailedJobs(tx, ago(ctx, FAILED_JOB_DAYS * DAY_MS), limit),
  ),
  sweep('notifications', '0 24 4,10,16,22 * * *', (ctx, tx, limit) =>
    deleteOldNotifications(tx, ago(ctx, NOTIFICATION_DAYS * DAY_MS), limit),
  ),
  sweep('hours of metrics', '0 25 4,10,16,22 * * *', (ctx, tx, limit) =>
    deleteHoursBefore(tx, history(ctx), limit),
  ),
  sweep('marks of deploys', '0 26 4,10,16,22 * * *', (ctx, tx, limit) =>
    deleteDeploysBefore(tx, history(ctx), limit),
  ),
  sweep('alert events', '0 28 4,10,16,22 * * *', (ctx, tx, limit) =>
    deleteEventsBefore(tx, history(ctx), limit),
  ),
  sweep('silences', '0 29 4,10,16,22 * * *', (ctx, tx, limit) =>
    deleteSilencesBefore(tx, ago(ctx, ENDED_SILENCE_DAYS * DAY_MS), limit),
  ),
  sweep('anomalies', '0 30 4,10,16,22 * * *', (ctx, tx, limit) =>
    deleteAnomaliesBefore(tx, history(ctx), limit),
  ),
  sweep('readings of engines', '0 27 4,10,16,22 * * *', (ctx, tx, limit) =>
    deleteReadingsBefore(tx, ago(ctx, READING_DAYS * DAY_MS), limit),
  ),
  sweep('resolved recommendations', '0 31 4,10,16,22 * * *', (ctx, tx, limit) =>
    deleteResolvedRecommendations(tx, history(ctx), limit),
  ),
  sweep('usage of the assistant', '0 34 4,10,16,22 * * *', (ctx, tx, limit) =>
    deleteAiRequestsBefore(tx, ago(ctx, AI_REQUEST_DAYS * DAY_MS), limit),
  ),
  sweep('conversations with the assistant', '0 35 4,10,16,22 * * *', (ctx, tx, limit) =>
    deleteAiConversationsBefore(tx, ago(ctx, AI_CONVERSATION_DAYS * DAY_MS), limit),
  ),
  sweep('runs of backups', '0 32 4,10,16,22 * * *', (ctx, tx, limit) =>
    deleteOldBackupRuns(tx, history(ctx), limit),
  ),
  { name: 'silent nodes', cron: '0 33 * * * *', run: (ctx) => archiveSilentNodes(ctx) },
  sweep(
    'tombstones',
    '0 13 * * * *',
    (ctx, tx, limit) =>
      purgeOldTombstones(tx, ago(ctx, (TOMBSTONE_HOURS + PURGE_GRACE_HOURS) * HOUR_MS), limit),
    100,
  ),
  sweep(
    'notes of changed objects',
    '0 19 * * * *',
    (ctx, tx, limit) => thinObjectChanges(tx, ago(ctx, HOUR_MS), limit),
    10_000,
  ),
];
