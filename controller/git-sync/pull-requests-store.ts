/** Changes that wait for a review. Their branches hold the content. */
import type { Knex } from 'knex';
import type { Static } from 'typebox';
import type { PullRequestSummary } from '../../schemas/api/git-words.ts';
import { brokeUnique } from '../database/errors.ts';
import { newId } from '../platform/ids.ts';

export type PullRequest = Static<typeof PullRequestSummary>;
export type PullRequestState = PullRequest['state'];

const COLUMNS = {
  id: 'id',
  number: 'number',
  title: 'title',
  base: 'base',
  branch: 'branch',
  headSha: 'head_sha',
  state: 'state',
  author: 'author',
  createdAt: 'created_at',
} as const;
const LISTED = 500;

/** Newest first, at most 500. */
export async function listPullRequests(
  db: Knex,
  bindingId: string,
  state?: PullRequestState,
): Promise<PullRequest[]> {
  return db('pull_requests')
    .where({ binding_id: bindingId, ...(state ? { state } : {}) })
    .orderBy('number', 'desc')
    .limit(LISTED)
    .select(COLUMNS);
}

/** The open one in which this person has proposed changes of this object. */
export async function findOwnProposal(
  db: Knex,
  of: { bindingId: string; author: string; authorId: string | null; objectId: string },
): Promise<PullRequest | null> {
  const { bindingId, author, authorId, objectId } = of;
  const row = await db('pull_requests')
    .where({ binding_id: bindingId, state: 'open', author_id: authorId, author })
    .whereRaw("subject->>'objectId' = ?", [objectId])
    .orderBy('number', 'desc')
    .first(COLUMNS);
  return row ?? null;
}

export interface NewPullRequest {
  bindingId: string;
  repository: string;
  title: string;
  body: string;
  base: string;
  branch: string;
  headSha: string;
  subject: Record<string, unknown>;
  author: string;
  authorId: string | null;
}

const ATTEMPTS = 20;

/** Answers its number: the next one of its repository. */
export async function insertPullRequest(db: Knex, made: NewPullRequest): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { rows } = await db.raw<{ rows: { number: number }[] }>(
        `INSERT INTO pull_requests (id, binding_id, repository, number, title, body, base, branch, head_sha, subject, author_id, author)
         SELECT :id, :bindingId, :repository, coalesce(max(number), 0) + 1, :title, :body, :base, :branch, :headSha,
           :subject::jsonb, :authorId, :author
         FROM pull_requests WHERE repository = :repository RETURNING number`,
        { ...made, id: newId(), subject: JSON.stringify(made.subject) },
      );
      return rows[0]?.number ?? 0;
    } catch (error) {
      if (!brokeUnique(error, 'pull_requests_repository_number_key') || attempt === ATTEMPTS) throw error;
    }
  }
}

/** One that is over, unless somebody has gone on with it meanwhile. */
export async function closePullRequest(
  tx: Knex,
  { id, headSha }: Pick<PullRequest, 'id' | 'headSha'>,
  state: 'merged' | 'closed',
): Promise<void> {
  await tx('pull_requests')
    .where({ id, head_sha: headSha, state: 'open' })
    .update({ state, closed_at: tx.fn.now(), updated_at: tx.fn.now() });
}

export async function updatePullRequest(
  db: Knex,
  id: string,
  change: { headSha?: string; title?: string; body?: string; state?: PullRequestState },
): Promise<void> {
  await db('pull_requests')
    .where({ id })
    .update({
      ...(change.headSha === undefined ? {} : { head_sha: change.headSha }),
      ...(change.title === undefined ? {} : { title: change.title }),
      ...(change.body === undefined ? {} : { body: change.body }),
      ...(change.state === undefined ? {} : { state: change.state }),
      ...(change.state === undefined || change.state === 'open' ? {} : { closed_at: db.fn.now() }),
      updated_at: db.fn.now(),
    });
}
