/** The record of passes: those that wait, those that ran, and what they did. */
import type { Knex } from 'knex';
import type { CommitInfo, GitJob } from '../../schemas/api/git-sync.ts';
import { newId } from '../platform/ids.ts';
import { commitText, dated } from './commit-text.ts';

export async function insertPendingJob(db: Knex, bindingId: string, trigger: string): Promise<string> {
  const id = newId();
  await db('git_jobs').insert({ id, binding_id: bindingId, type: 'pass', status: 'pending', trigger });
  return id;
}

/** Puts a failed job, or all of them, back into the queue. Answers how many there were. */
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
  startedAt: Date;
  /** The jobs that waited when the pass began to look, newest first. */
  pending: readonly string[];
}

const JOBS_KEPT = 500;

/** Finishes the newest of the jobs that waited with this result, the older ones as skipped; makes a row where none waited. */
export async function finishJobs(tx: Knex, bindingId: string, result: JobResult): Promise<void> {
  const columns = {
    status: result.status,
    outcome: result.outcome,
    commit_info: result.commit && commitText(result.commit),
    counts: JSON.stringify(result.counts),
    report: JSON.stringify(result.report),
    error: result.error,
    plan_hash: result.planHash,
    started_at: result.startedAt,
    finished_at: tx.fn.now(),
  };
  const [newest, ...older] = result.pending;
  if (newest) await tx('git_jobs').where({ id: newest }).update(columns);
  else
    await tx('git_jobs').insert({
      id: newId(),
      binding_id: bindingId,
      type: 'pass',
      trigger: result.trigger,
      ...columns,
    });
  if (older.length > 0) {
    await tx('git_jobs').whereIn('id', older).update({
      status: 'completed',
      outcome: 'skipped',
      started_at: result.startedAt,
      finished_at: tx.fn.now(),
    });
  }
  await tx.raw(
    `DELETE FROM git_jobs WHERE binding_id = :bindingId AND status <> 'pending' AND id NOT IN
       (SELECT id FROM git_jobs WHERE binding_id = :bindingId ORDER BY seq DESC LIMIT ${JOBS_KEPT})`,
    { bindingId },
  );
}

/** The report of the first pass over the commit that ended in the last `withinMs`, by Postgres' clock; null while there is none. */
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

/** Commits that came and went between two passes: the newest was applied, these were not. */
export async function recordSkipped(
  tx: Knex,
  bindingId: string,
  commits: readonly CommitInfo[],
  trigger: string,
  at: Date,
): Promise<void> {
  if (commits.length === 0) return;
  await tx('git_jobs').insert(
    commits.map((commit) => ({
      id: newId(),
      binding_id: bindingId,
      type: 'pass',
      status: 'completed',
      outcome: 'skipped',
      trigger,
      commit_info: commitText(commit),
      queued_at: at,
      started_at: at,
      finished_at: tx.fn.now(),
    })),
  );
}

/** Ids of the jobs that wait, newest first. Asked before git is: what is queued later is for the next pass. */
export async function pendingJobs(db: Knex, bindingId: string): Promise<string[]> {
  return db('git_jobs')
    .where({ binding_id: bindingId, status: 'pending' })
    .orderBy('seq', 'desc')
    .pluck('id');
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

/** A pass that has not ended has counted nothing yet. */
export const allCounts = (counts: Partial<GitJob['counts']>): GitJob['counts'] => ({
  ...NO_COUNTS,
  ...counts,
});

export async function listJobs(
  db: Knex,
  bindingId: string,
  filter: { status?: string | undefined; limit: number },
): Promise<GitJob[]> {
  const query = db('git_jobs').where({ binding_id: bindingId });
  if (filter.status !== undefined) query.where({ status: filter.status });
  const rows: (GitJob & { commit: CommitInfo | null })[] = await query
    .orderBy('seq', 'desc')
    .limit(filter.limit)
    .select('id', 'type', 'status', 'outcome', 'trigger', 'counts', 'report', 'error', {
      commit: 'commit_info',
      planHash: 'plan_hash',
      queuedAt: 'queued_at',
      startedAt: 'started_at',
      finishedAt: 'finished_at',
    });
  return rows.map((row) => ({ ...row, commit: dated(row.commit), counts: allCounts(row.counts) }));
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
