/** The checks of pull requests: what each would do to an environment, and what its forge has received of that. */
import type { Knex } from 'knex';
import type { GitPlan } from '../../../schemas/api/delivery/git-plan.ts';
import type { CheckState } from '../../../schemas/api/delivery/pull-requests.ts';

/** Without the plan, which may be large. */
export interface CheckRecord {
  pullRequestId: string;
  environmentId: string;
  environmentName: string;
  headSha: string;
  baseSha: string;
  state: CheckState;
  /** One line of at most 140 characters. */
  summary: string;
  /** Why there is no plan, or what was checked instead; plain text of several lines. Null beside a plan. */
  reason: string | null;
  /** Null while nothing was checked at this head; `state` is `pending` then. */
  computedAt: Date | null;
}

export interface Check extends CheckRecord {
  /** The plan of the merge; null when there is none. */
  plan: GitPlan | null;
}

const COLUMNS = {
  pullRequestId: 'c.pull_request_id',
  environmentId: 'c.environment_id',
  environmentName: 'e.name',
  headSha: 'c.head_sha',
  baseSha: 'c.base_sha',
  state: 'c.state',
  summary: 'c.summary',
  reason: 'c.reason',
  computedAt: 'c.computed_at',
} as const;

const checks = (db: Knex) =>
  db('pull_request_checks as c').join('environments as e', 'e.id', 'c.environment_id');

const withPendingTime = <T extends CheckRecord>(row: T): T =>
  row.state === 'pending' ? { ...row, computedAt: null } : row;

/** With its plan. */
export async function readCheck(
  db: Knex,
  pullRequestId: string,
  environmentId: string,
): Promise<Check | null> {
  const row: Check | undefined = await checks(db)
    .where({ 'c.pull_request_id': pullRequestId, 'c.environment_id': environmentId })
    .first({ ...COLUMNS, plan: 'c.plan' });
  return row ? withPendingTime(row) : null;
}

/** The checks of all environments, ordered by their names. */
export async function listChecks(db: Knex, pullRequestIds: readonly string[]): Promise<CheckRecord[]> {
  if (pullRequestIds.length === 0) return [];
  const rows: CheckRecord[] = await checks(db)
    .whereIn('c.pull_request_id', [...pullRequestIds])
    .orderBy(['e.name', 'c.pull_request_id'])
    .select(COLUMNS);
  return rows.map(withPendingTime);
}

/** What the loop knows of a check. */
export interface KnownCheck {
  pullRequestId: string;
  headSha: string;
  state: CheckState;
  summary: string;
  /** Digest of everything that the check was made from; empty before the first check at this head. */
  inputs: string;
  computedAt: Date | null;
  postedStatus: string | null;
  postedComment: string | null;
  commentId: string | null;
}

/** The checks of one environment. */
export const knownChecks = async (
  db: Knex,
  environmentId: string,
  pullRequestIds: readonly string[],
): Promise<KnownCheck[]> =>
  db('pull_request_checks')
    .where({ environment_id: environmentId })
    .whereIn('pull_request_id', [...pullRequestIds])
    .select({
      pullRequestId: 'pull_request_id',
      headSha: 'head_sha',
      state: 'state',
      summary: 'summary',
      inputs: 'inputs',
      computedAt: 'computed_at',
      postedStatus: 'posted_status',
      postedComment: 'posted_comment',
      commentId: 'comment_id',
    });

export interface NewCheck
  extends Pick<Check, 'pullRequestId' | 'environmentId' | 'headSha' | 'baseSha' | 'state' | 'summary'> {
  inputs: string;
  reason: string | null;
  plan: GitPlan | null;
}

/** Returns false and writes nothing when the pull request has a new head, or is over. */
export async function saveCheck(tx: Knex, check: NewCheck, at: Date): Promise<boolean> {
  const { rows } = await tx.raw<{ rows: unknown[] }>(
    `INSERT INTO pull_request_checks (pull_request_id, environment_id, head_sha, base_sha, state, summary, reason, plan, inputs, computed_at)
     SELECT p.id, :environmentId, p.head_sha, :baseSha, :state, :summary, :reason, :plan::jsonb, :inputs, :at
     FROM pull_requests p WHERE p.id = :pullRequestId AND p.head_sha = :headSha AND p.state = 'open'
     ON CONFLICT (pull_request_id, environment_id) DO UPDATE SET
       head_sha = excluded.head_sha, base_sha = excluded.base_sha, state = excluded.state, summary = excluded.summary,
       reason = excluded.reason, plan = excluded.plan, inputs = excluded.inputs, computed_at = excluded.computed_at
     RETURNING 1`,
    { ...check, plan: check.plan === null ? null : JSON.stringify(check.plan), at },
  );
  return rows.length > 0;
}

/** Marks these heads as not checked yet. Results for other heads are dropped, but not what the forge has received. */
export async function markPending(
  tx: Knex,
  environmentId: string,
  pulls: readonly { id: string; headSha: string }[],
  { baseSha, summary }: { baseSha: string; summary: string },
): Promise<void> {
  if (pulls.length === 0) return;
  await tx.raw(
    `INSERT INTO pull_request_checks (pull_request_id, environment_id, head_sha, base_sha, state, summary, inputs)
     SELECT p.id, :environmentId, p.head_sha, :baseSha, 'pending', :summary, ''
     FROM pull_requests p JOIN unnest(:ids::text[], :heads::text[]) AS seen(id, head_sha)
       ON seen.id = p.id AND seen.head_sha = p.head_sha
     WHERE p.state = 'open'
     ON CONFLICT (pull_request_id, environment_id) DO UPDATE SET
       head_sha = excluded.head_sha, base_sha = excluded.base_sha, state = 'pending', summary = excluded.summary,
       reason = NULL, plan = NULL, inputs = ''`,
    {
      environmentId,
      baseSha,
      summary,
      ids: pulls.map(({ id }) => id),
      heads: pulls.map(({ headSha }) => headSha),
    },
  );
}

/** By the clock of the database, as `updated_at`. */
export async function databaseTime(db: Knex): Promise<Date> {
  const { rows } = await db.raw<{ rows: { now: Date }[] }>('SELECT clock_timestamp() AS now');
  return rows[0]?.now ?? new Date(0);
}

/** Stores what the forge has received. */
export async function markPublished(
  tx: Knex,
  { pullRequestId, environmentId }: Pick<Check, 'pullRequestId' | 'environmentId'>,
  published: { status?: string; comment?: string; commentId?: string },
): Promise<void> {
  const columns = {
    ...(published.status === undefined ? {} : { posted_status: published.status }),
    ...(published.comment === undefined ? {} : { posted_comment: published.comment }),
    ...(published.commentId === undefined ? {} : { comment_id: published.commentId }),
  };
  await tx('pull_request_checks')
    .where({ pull_request_id: pullRequestId, environment_id: environmentId })
    .update(columns);
}
