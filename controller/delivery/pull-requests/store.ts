/** Pull requests: their rows. Their branches hold the content. */
import type { Knex } from 'knex';
import type { ForgeName, PullRequest } from '../../../schemas/api/delivery/pull-requests.ts';

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

export const COLUMNS = {
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
