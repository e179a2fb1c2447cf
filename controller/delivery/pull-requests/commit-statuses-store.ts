/** The rollout status of commits that came into a bound branch, and what their forge has received of it. */
import type { Knex } from 'knex';
import type { CheckState } from '../../../schemas/api/delivery/pull-requests.ts';

export interface CommitStatus {
  environmentId: string;
  sha: string;
  state: CheckState;
  /** At most 140 characters. */
  description: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface KnownCommitStatus extends CommitStatus {
  /** Digest of what the forge received last. */
  posted: string | null;
}

/** Commits remembered for one environment, and for how long. */
const MAX_COMMITS = 20;
const RETENTION_DAYS = 7;

const COLUMNS = {
  environmentId: 'environment_id',
  sha: 'sha',
  state: 'state',
  description: 'description',
  posted: 'posted',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
} as const;

/** Null when nothing is known of the commit, or it was swept. */
export async function commitStatusOf(
  db: Knex,
  environmentId: string,
  sha: string,
): Promise<CommitStatus | null> {
  const { posted: _, ...columns } = COLUMNS;
  return (await db('commit_statuses').where({ environment_id: environmentId, sha }).first(columns)) ?? null;
}

/** Newest first. */
export const listCommitStatuses = async (db: Knex, environmentId: string): Promise<KnownCommitStatus[]> =>
  db('commit_statuses')
    .where({ environment_id: environmentId })
    .orderBy([{ column: 'created_at', order: 'desc' }, 'sha'])
    .limit(MAX_COMMITS)
    .select(COLUMNS);

/** Returns false when nothing changes. Deletes the oldest beyond `MAX_COMMITS`. */
export async function saveCommitStatus(
  tx: Knex,
  status: Pick<CommitStatus, 'environmentId' | 'sha' | 'state' | 'description'>,
  at: Date,
): Promise<boolean> {
  const { environmentId, sha, state, description } = status;
  const rows = await tx('commit_statuses')
    .insert({ environment_id: environmentId, sha, state, description, created_at: at, updated_at: at })
    .onConflict(['environment_id', 'sha'])
    .merge({ state, description, updated_at: at })
    .whereRaw('(commit_statuses.state, commit_statuses.description) IS DISTINCT FROM (?, ?)', [
      state,
      description,
    ])
    .returning('sha');
  if (rows.length === 0) return false;
  await tx.raw(
    `DELETE FROM commit_statuses WHERE environment_id = :environmentId AND sha NOT IN (
       SELECT sha FROM commit_statuses WHERE environment_id = :environmentId ORDER BY created_at DESC, sha LIMIT :most)`,
    { environmentId, most: MAX_COMMITS },
  );
  return true;
}

export async function markCommitStatusPublished(
  tx: Knex,
  { environmentId, sha }: Pick<CommitStatus, 'environmentId' | 'sha'>,
  posted: string,
): Promise<void> {
  await tx('commit_statuses').where({ environment_id: environmentId, sha }).update({ posted });
}

/** Deletes those older than a week, but for the head of a branch. */
export async function sweepCommitStatuses(db: Knex): Promise<void> {
  await db.raw(
    `DELETE FROM commit_statuses s WHERE s.updated_at < now() - ? * interval '1 day'
       AND NOT EXISTS (SELECT 1 FROM git_bindings b
         WHERE b.environment_id = s.environment_id AND b.head_commit->>'sha' = s.sha)`,
    [RETENTION_DAYS],
  );
}
