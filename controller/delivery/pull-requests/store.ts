/** Pull requests: their rows. Their branches hold the content. */
import type { Knex } from 'knex';
import type { ForgeName, PullRequest } from '../../../schemas/api/pull-requests.ts';
import { brokeUnique } from '../../database/errors.ts';
import type { PullRequestsInsert } from '../../database/tables.gen.ts';
import { newId } from '../../platform/operation/ids.ts';

export type PullRequestState = PullRequest['state'];

export interface PullRequestRecord {
  id: string;
  /** The binding that it was opened for; null for one that users opened on a forge, or whose binding is gone. */
  bindingId: string | null;
  /** `embedded`, or the normalized address of the remote. */
  repository: string;
  forge: ForgeName;
  /** On a forge: the address of its API and the project; otherwise empty. */
  project: string;
  number: number;
  title: string;
  body: string;
  base: string;
  branch: string;
  headSha: string;
  /** The last commit that Headgate pushed to the branch: users pushed any other head. */
  pushedSha: string | null;
  baseSha: string | null;
  state: PullRequestState;
  mergeable: PullRequest['mergeable'];
  conflicts: string[];
  isDraft: boolean;
  isFork: boolean;
  url: string | null;
  /** What it was opened for: `{kind, name, objectId, operation}`, or `{promotionId}`. */
  subject: Record<string, unknown>;
  mergeSha: string | null;
  mergeMethod: string | null;
  mergedBy: string | null;
  author: string;
  authorId: string | null;
  /** Users who pushed to the branch since it was opened; only for those that Headgate keeps itself. */
  contributorIds: string[];
  createdAt: Date;
  updatedAt: Date;
  closedAt: Date | null;
  /** When it was last reopened. */
  reopenedAt: Date | null;
  /** The forge merges it when its checks pass. */
  autoMerge: boolean;
  /** What the forge refused when it was opened, such as a label that does not exist. */
  notice: string | null;
}

const COLUMNS = {
  id: 'id',
  bindingId: 'binding_id',
  repository: 'repository',
  forge: 'forge',
  project: 'project',
  number: 'number',
  title: 'title',
  body: 'body',
  base: 'base',
  branch: 'branch',
  headSha: 'head_sha',
  pushedSha: 'pushed_sha',
  baseSha: 'base_sha',
  state: 'state',
  mergeable: 'mergeable',
  conflicts: 'conflicts',
  isDraft: 'is_draft',
  isFork: 'is_fork',
  url: 'url',
  subject: 'subject',
  mergeSha: 'merge_sha',
  mergeMethod: 'merge_method',
  mergedBy: 'merged_by',
  author: 'author',
  authorId: 'author_id',
  contributorIds: 'contributor_ids',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  closedAt: 'closed_at',
  reopenedAt: 'reopened_at',
  autoMerge: 'auto_merge',
  notice: 'notice',
} as const;

/** Identifies the pull requests of one branch of one repository, which the environments bound to it show. */
export interface PullRequestsOf {
  repository: string;
  forge: ForgeName;
  project: string;
  base: string;
}

export const findPullRequest = async (db: Knex, id: string): Promise<PullRequestRecord | null> =>
  (await db('pull_requests').where({ id }).first(COLUMNS)) ?? null;

export const findByNumber = async (
  db: Knex,
  of: { repository: string; forge: ForgeName; project: string; number: number },
): Promise<PullRequestRecord | null> => (await db('pull_requests').where(of).first(COLUMNS)) ?? null;

/** Locked until the transaction ends. */
export const lockPullRequest = async (tx: Knex, id: string): Promise<PullRequestRecord | null> =>
  (await tx('pull_requests').where({ id }).forUpdate().first(COLUMNS)) ?? null;

/** Newest first. */
export const listPullRequests = async (
  db: Knex,
  of: PullRequestsOf,
  {
    state,
    limit = 500,
    before,
  }: { state?: PullRequestState | undefined; limit?: number; before?: number | undefined } = {},
): Promise<PullRequestRecord[]> =>
  db('pull_requests')
    .where({ ...of, ...(state ? { state } : {}) })
    .where((page) => (before === undefined ? page : page.where('number', '<', before)))
    .orderBy('number', 'desc')
    .limit(limit)
    .select(COLUMNS);

/** The open pull request of a branch. */
export const findOpen = async (
  db: Knex,
  of: PullRequestsOf,
  branch: string,
): Promise<PullRequestRecord | null> =>
  (await db('pull_requests')
    .where({ ...of, branch, state: 'open' })
    .first(COLUMNS)) ?? null;

/** Pull requests of promotions into the binding's environment that ended since yesterday and whose branch is not settled yet. */
export const listUnsettledBranches = async (
  db: Knex,
  { bindingId, ...of }: PullRequestsOf & { bindingId: string },
  limit: number,
): Promise<PullRequestRecord[]> =>
  db('pull_requests')
    .where({ ...of, binding_id: bindingId, is_fork: false })
    .whereNot({ state: 'open' })
    .whereRaw("subject->>'promotionId' IS NOT NULL AND closed_at > now() - interval '1 day'")
    .whereRaw('branch_settled_at IS DISTINCT FROM closed_at')
    .orderBy('closed_at')
    .limit(limit)
    .select(COLUMNS);

/** Returns false when another controller has claimed the branch, or the pull request is open again. One that is closed again is claimed again. */
export async function claimBranch(tx: Knex, { id }: Pick<PullRequestRecord, 'id'>): Promise<boolean> {
  // Compared within the database: a time that was read has milliseconds only.
  const count = await tx('pull_requests')
    .where({ id })
    .whereNot({ state: 'open' })
    .whereRaw('branch_settled_at IS DISTINCT FROM closed_at')
    .update({ branch_settled_at: tx.ref('closed_at') });
  return count > 0;
}

/** Undoes `claimBranch`: the branch is settled again later. */
export async function releaseBranch(tx: Knex, { id }: Pick<PullRequestRecord, 'id'>): Promise<void> {
  await tx('pull_requests').where({ id }).update({ branch_settled_at: null });
}

/** Whether another open pull request, with any base, still uses the branch. */
export async function isBranchInUse(
  db: Knex,
  { id, repository, forge, branch }: Pick<PullRequestRecord, 'id' | 'repository' | 'forge' | 'branch'>,
): Promise<boolean> {
  const other = await db('pull_requests')
    .where({ repository, forge, state: 'open' })
    .where((either) => either.where({ branch }).orWhere({ base: branch }))
    .whereNot({ id })
    .first('id');
  return other !== undefined;
}

/** From now on reviews by this user count as the author's for the pull requests of these branches. */
export async function addContributor(
  db: Knex,
  { repository, branches, userId }: { repository: string; branches: readonly string[]; userId: string },
): Promise<void> {
  if (branches.length === 0) return;
  await db('pull_requests')
    .where({ repository, forge: 'headgate' })
    .whereNot({ state: 'merged' })
    .whereIn('branch', [...branches])
    .whereRaw('author_id IS DISTINCT FROM ? AND NOT ? = ANY (contributor_ids)', [userId, userId])
    .update({ contributor_ids: db.raw('array_append(contributor_ids, ?)', [userId]) });
}

/** The user's open pull request with proposed changes of this object. */
export async function findOwnProposal(
  db: Knex,
  of: { bindingId: string; author: string; authorId: string | null; objectId: string },
): Promise<PullRequestRecord | null> {
  const { bindingId, author, authorId, objectId } = of;
  const row = await db('pull_requests')
    .where({ binding_id: bindingId, state: 'open', author_id: authorId, author })
    .whereRaw("subject->>'objectId' = ?", [objectId])
    .orderBy('number', 'desc')
    .first(COLUMNS);
  return row ?? null;
}

export interface NewPullRequest
  extends Pick<
    PullRequestRecord,
    | 'bindingId'
    | 'repository'
    | 'title'
    | 'body'
    | 'base'
    | 'branch'
    | 'headSha'
    | 'subject'
    | 'author'
    | 'authorId'
  > {
  /** The head, if Headgate pushed it itself. */
  pushedSha?: string | null;
}

const ATTEMPTS = 20;
const ONE_OPEN = 'pull_requests_one_open';

/** There is an open pull request of the same branch and base. */
export class AlreadyOpenError extends Error {
  override readonly name = 'AlreadyOpenError';
  constructor(branch: string) {
    super(`a pull request of the branch "${branch}" is open already`);
  }
}

/** Inserts one that Headgate keeps itself, with the next number of its repository. @throws AlreadyOpenError */
export async function insertPullRequest(db: Knex, made: NewPullRequest): Promise<PullRequestRecord> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const id = newId();
      // A savepoint within a transaction: when another one takes the number, the insert is tried again.
      const insert = (tx: Knex) =>
        tx.raw(
          `INSERT INTO pull_requests (id, binding_id, repository, forge, number, title, body, base, branch, head_sha, pushed_sha,
           subject, author_id, author)
         SELECT :id, :bindingId, :repository, 'headgate', coalesce(max(number), 0) + 1, :title, :body, :base, :branch, :headSha,
           :pushedSha, :subject::jsonb, :authorId, :author
         FROM pull_requests WHERE repository = :repository AND forge = 'headgate'`,
          { ...made, pushedSha: made.pushedSha ?? null, id, subject: JSON.stringify(made.subject) },
        );
      await db.transaction(insert);
      return (await findPullRequest(db, id)) as PullRequestRecord;
    } catch (error) {
      if (brokeUnique(error, ONE_OPEN)) throw new AlreadyOpenError(made.branch);
      if (!brokeUnique(error, 'pull_requests_repository_number_key') || attempt === ATTEMPTS) throw error;
    }
  }
}

/** The fields that a forge has of its pull request. */
export type MirroredPullRequest = Pick<
  PullRequestRecord,
  | 'repository'
  | 'forge'
  | 'project'
  | 'number'
  | 'title'
  | 'body'
  | 'base'
  | 'branch'
  | 'headSha'
  | 'state'
  | 'isDraft'
  | 'isFork'
  | 'url'
  | 'mergeSha'
  | 'mergedBy'
  | 'author'
  | 'closedAt'
> &
  Partial<
    Pick<PullRequestRecord, 'bindingId' | 'authorId' | 'subject' | 'pushedSha' | 'autoMerge' | 'notice'>
  >;

/** Inserts or updates it; what the forge does not know stays. `changed`: some field is new. */
export async function mirrorPullRequest(
  db: Knex,
  seen: MirroredPullRequest,
): Promise<{ record: PullRequestRecord; changed: boolean }> {
  const { repository, forge, project, number } = seen;
  const given = Object.fromEntries(
    Object.entries(seen)
      .filter(([, value]) => value !== undefined)
      .map(([field, value]) => [
        COLUMNS[field as keyof typeof COLUMNS],
        field === 'subject' ? JSON.stringify(value) : value,
      ]),
  );
  const names = Object.keys(given).filter(
    (name) => !['repository', 'forge', 'project', 'number'].includes(name),
  );
  const differs = names.map((name) => `pull_requests.${name} IS DISTINCT FROM excluded.${name}`).join(' OR ');
  const rows = await db('pull_requests')
    .insert({ id: newId(), ...given } as PullRequestsInsert)
    .onConflict(['repository', 'forge', 'project', 'number'])
    .merge({
      ...Object.fromEntries(names.map((name) => [name, db.raw('excluded.??', [name])])),
      reopened_at: db.raw(
        "CASE WHEN pull_requests.state <> 'open' AND excluded.state = 'open' THEN now() ELSE pull_requests.reopened_at END",
      ),
      updated_at: db.fn.now(),
    })
    .whereRaw(differs)
    .returning('id');
  const record = await findByNumber(db, { repository, forge, project, number });
  return { record: record as PullRequestRecord, changed: rows.length > 0 };
}

export async function updatePullRequest(
  db: Knex,
  id: string,
  change: Partial<
    Pick<
      PullRequestRecord,
      | 'headSha'
      | 'pushedSha'
      | 'baseSha'
      | 'title'
      | 'body'
      | 'state'
      | 'mergeable'
      | 'conflicts'
      | 'mergeSha'
      | 'mergeMethod'
      | 'mergedBy'
      | 'autoMerge'
      | 'notice'
    >
  >,
): Promise<void> {
  const columns = Object.fromEntries(
    Object.entries(change)
      .filter(([, value]) => value !== undefined)
      .map(([field, value]) => [COLUMNS[field as keyof typeof COLUMNS], value]),
  );
  const { state } = change;
  await db('pull_requests')
    .where({ id })
    .update({
      ...columns,
      ...(state === undefined ? {} : { closed_at: state === 'open' ? null : db.fn.now() }),
      updated_at: db.fn.now(),
    });
}

/** Closes it, unless somebody pushed to it or closed it meanwhile. */
export async function closePullRequest(
  tx: Knex,
  { id, headSha }: Pick<PullRequestRecord, 'id' | 'headSha'>,
  over: {
    state: 'merged' | 'closed';
    mergeSha?: string | null;
    mergeMethod?: string | null;
    mergedBy?: string | null;
    /** The head of the branch right before the merge, if it was pushed to. */
    newHead?: string;
  },
): Promise<boolean> {
  const changed = await tx('pull_requests')
    .where({ id, head_sha: headSha, state: 'open' })
    .update({
      state: over.state,
      head_sha: over.newHead ?? headSha,
      merge_sha: over.mergeSha ?? null,
      merge_method: over.mergeMethod ?? null,
      merged_by: over.mergedBy ?? null,
      closed_at: tx.fn.now(),
      updated_at: tx.fn.now(),
    });
  return changed > 0;
}

/** Whatever its state was: another reader may have seen the merge before its author could record it. */
export async function endPullRequest(
  tx: Knex,
  id: string,
  {
    state,
    ...over
  }: { state: 'merged' | 'closed' } & Partial<
    Pick<PullRequestRecord, 'headSha' | 'baseSha' | 'mergeSha' | 'mergeMethod' | 'mergedBy'>
  >,
): Promise<void> {
  const columns = Object.entries(over).map(([field, value]) => [
    COLUMNS[field as keyof typeof COLUMNS],
    value,
  ]);
  await tx('pull_requests')
    .where({ id })
    .update({
      ...Object.fromEntries(columns),
      state,
      closed_at: tx.raw('coalesce(closed_at, now())'),
      updated_at: tx.fn.now(),
    });
}

/** @throws AlreadyOpenError */
export async function reopenPullRequest(tx: Knex, id: string): Promise<void> {
  const nothing = { merge_sha: null, merge_method: null, merged_by: null, closed_at: null };
  try {
    await tx('pull_requests')
      .where({ id })
      .update({ state: 'open', ...nothing, reopened_at: tx.fn.now(), updated_at: tx.fn.now() });
  } catch (error) {
    throw brokeUnique(error, ONE_OPEN) ? new AlreadyOpenError(id) : error;
  }
}

/** Records what was read of an open one. Returns false when it is over, or nothing changed. */
export async function notePullRequest(
  tx: Knex,
  id: string,
  seen: Pick<PullRequestRecord, 'headSha' | 'baseSha' | 'mergeable' | 'conflicts'>,
): Promise<boolean> {
  const { rows } = await tx.raw<{ rows: unknown[] }>(
    `UPDATE pull_requests SET head_sha = :headSha, base_sha = :baseSha, mergeable = :mergeable, conflicts = :conflicts,
       updated_at = CASE WHEN head_sha = :headSha THEN updated_at ELSE now() END
     WHERE id = :id AND state = 'open'
       AND (head_sha, base_sha, mergeable, conflicts) IS DISTINCT FROM (:headSha, :baseSha, :mergeable, :conflicts::text[])
     RETURNING 1`,
    { id, ...seen },
  );
  return rows.length > 0;
}
