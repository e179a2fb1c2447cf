/** The passes of a binding: waiting, running and finished ones, with their results. */
import type { Knex } from 'knex';
import type { CommitInfo, GitJob } from '../../../../schemas/api/delivery/git-sync.ts';
import { newId } from '../../../platform/operation/ids.ts';
import { commitText, datedCommit } from '../commit-text.ts';

export async function insertPendingJob(db: Knex, bindingId: string, trigger: string): Promise<string> {
  const id = newId();
  await db('git_jobs').insert({ id, binding_id: bindingId, type: 'pass', status: 'pending', trigger });
  return id;
}

/** Queues a failed job again, or all of them with null. Returns how many. */
export async function requeueFailed(tx: Knex, bindingId: string, jobId: string | null): Promise<number> {
  return tx('git_jobs')
    .where({ binding_id: bindingId, status: 'failed', ...(jobId === null ? {} : { id: jobId }) })
    .update({
      status: 'pending',
      trigger: 'retry',
      outcome: null,
      error: null,
      report: '[]',
      queued_at: tx.fn.now(),
      seq: tx.raw("nextval(pg_get_serial_sequence('git_jobs', 'seq'))"),
      started_at: null,
      finished_at: null,
      commit_count: null,
      skipped_commits: '[]',
    });
}

export interface JobResult {
  status: 'completed' | 'failed';
  outcome: string;
  trigger: string;
  commit: CommitInfo | null;
  counts: GitJob['counts'];
  report: string[];
  error: string | null;
  planHash: string | null;
  queue: JobQueue;
  /** Commits between the previous pass and this one; null when this commit is not new. */
  skipped?: SkippedCommits | null;
}

export interface SkippedCommits {
  count: number;
  /** The newest commits, newest first. */
  commits: GitJob['skippedCommits'];
}

/** The queue at the start of a pass. */
export interface JobQueue {
  /** By the clock of Postgres, as all times of jobs: the clocks of controllers differ. */
  startedAt: Date;
  /** Ids of the waiting jobs, newest first. */
  pending: readonly string[];
}

/** Call it before git is read: a job queued later belongs to the next pass. */
export async function readJobQueue(db: Knex, bindingId: string): Promise<JobQueue> {
  const { rows } = await db.raw<{ rows: JobQueue[] }>(
    `SELECT clock_timestamp() AS "startedAt",
       ARRAY(SELECT id FROM git_jobs WHERE binding_id = ? AND status = 'pending' ORDER BY seq DESC) AS pending`,
    [bindingId],
  );
  const [queue] = rows;
  if (!queue) throw new Error('Postgres answered without a row');
  return queue;
}

const MAX_JOBS = 500;

/**
 * Finishes the newest waiting job with this result and the older ones as skipped; inserts a finished job when none waited.
 * `greatest` keeps queued ≤ started ≤ finished even after the clock of Postgres was set back.
 */
export async function finishJobs(tx: Knex, bindingId: string, result: JobResult): Promise<void> {
  const { startedAt, pending } = result.queue;
  const times = {
    started_at: tx.raw('greatest(queued_at, ?::timestamptz)', [startedAt]),
    finished_at: tx.raw('greatest(queued_at, ?::timestamptz, clock_timestamp())', [startedAt]),
  };
  const columns = {
    status: result.status,
    outcome: result.outcome,
    commit_info: result.commit && commitText(result.commit),
    counts: JSON.stringify(result.counts),
    report: JSON.stringify(result.report),
    error: result.error,
    plan_hash: result.planHash,
    commit_count: result.skipped ? result.skipped.count + 1 : null,
    skipped_commits: JSON.stringify(result.skipped?.commits ?? []),
  };
  const [newest, ...older] = pending;
  if (newest)
    await tx('git_jobs')
      .where({ id: newest })
      .update({ ...columns, ...times });
  else
    await tx('git_jobs').insert({
      id: newId(),
      binding_id: bindingId,
      type: 'pass',
      trigger: result.trigger,
      ...columns,
      queued_at: startedAt,
      started_at: startedAt,
      finished_at: tx.raw('greatest(?::timestamptz, clock_timestamp())', [startedAt]),
    });
  if (older.length > 0)
    await tx('git_jobs')
      .whereIn('id', older)
      .update({ status: 'completed', outcome: 'skipped', ...times });
  await tx.raw(
    `DELETE FROM git_jobs WHERE binding_id = :bindingId AND status <> 'pending' AND id NOT IN
       (SELECT id FROM git_jobs WHERE binding_id = :bindingId ORDER BY seq DESC LIMIT ${MAX_JOBS})`,
    { bindingId },
  );
}

/** The report of the first pass over the commit that ended in the last `withinMs`, by the clock of Postgres; null before it ends. */
export async function reportOfPass(
  db: Knex,
  bindingId: string,
  sha: string,
  withinMs: number,
): Promise<string[] | null> {
  const { rows } = await db.raw<{ rows: { report: string[] }[] }>(
    `SELECT report FROM git_jobs
     WHERE binding_id = ? AND commit_info->>'sha' = ? AND outcome <> 'skipped'
       AND finished_at > clock_timestamp() - ? * interval '1 millisecond'
     ORDER BY finished_at, seq LIMIT 1`,
    [bindingId, sha, Math.ceil(withinMs)],
  );
  return rows[0]?.report ?? null;
}

const NO_COUNTS: GitJob['counts'] = {
  created: 0,
  changed: 0,
  deleted: 0,
  restored: 0,
  renamed: 0,
  unchanged: 0,
  refused: 0,
  waiting: 0,
};

/** Fills up the counts: a running pass has none yet. */
export const allCounts = (counts: Partial<GitJob['counts']>): GitJob['counts'] => ({
  ...NO_COUNTS,
  ...counts,
});

export async function listJobs(
  db: Knex,
  bindingId: string,
  filter: { status?: GitJob['status'] | undefined; limit: number; before?: string | undefined },
): Promise<GitJob[]> {
  const query = db('git_jobs').where({ binding_id: bindingId });
  if (filter.status !== undefined) query.where({ status: filter.status });
  // A job that was deleted meanwhile has no older ones left: the oldest are deleted first.
  if (filter.before !== undefined)
    query.where('seq', '<', db('git_jobs').where({ binding_id: bindingId, id: filter.before }).select('seq'));
  const rows: (GitJob & { commit: CommitInfo | null })[] = await query
    .orderBy('seq', 'desc')
    .limit(filter.limit)
    .select('id', 'type', 'status', 'outcome', 'trigger', 'counts', 'report', 'error', {
      commit: 'commit_info',
      planHash: 'plan_hash',
      commitCount: 'commit_count',
      skippedCommits: 'skipped_commits',
      queuedAt: 'queued_at',
      startedAt: 'started_at',
      finishedAt: 'finished_at',
    });
  return rows.map((row) => ({ ...row, commit: datedCommit(row.commit), counts: allCounts(row.counts) }));
}

export async function countJobs(db: Knex, bindingId: string): Promise<{ pending: number; failed: number }> {
  const { rows } = await db.raw<{ rows: { pending: number; failed: number }[] }>(
    `SELECT count(*) FILTER (WHERE status = 'pending') AS pending,
       count(*) FILTER (WHERE status = 'failed' AND queued_at > now() - interval '1 day') AS failed
     FROM git_jobs WHERE binding_id = ?`,
    [bindingId],
  );
  return rows[0] ?? { pending: 0, failed: 0 };
}
