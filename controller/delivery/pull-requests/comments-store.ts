/** Comments and reviews of the pull requests that Headgate keeps itself. */
import type { Knex } from 'knex';
import { newId } from '../../platform/operation/ids.ts';

export interface CommentRecord {
  id: string;
  author: string;
  authorId: string | null;
  body: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface ReviewRecord {
  id: string;
  pullRequestId: string;
  reviewer: string;
  reviewerId: string | null;
  verdict: 'approve' | 'request-changes';
  headSha: string;
  body: string;
  /** The reviewer is still EDITOR of a team whose environment follows the base, with an unlocked account. */
  isEditor: boolean;
  createdAt: Date;
}

/** For a statement on `pull_request_reviews`. */
const IS_EDITOR = `EXISTS (
  SELECT 1 FROM pull_requests p
    JOIN git_bindings b ON b.repository_url = p.repository AND b.ref = p.base AND b.mode <> 'off'
    JOIN environments e ON e.id = b.environment_id
    JOIN users u ON u.id = pull_request_reviews.reviewer_id AND u.locked_at IS NULL
    LEFT JOIN team_members m ON m.user_id = u.id AND m.team_id = e.team_id
  WHERE p.id = pull_request_reviews.pull_request_id AND (u.is_super_admin OR m.role IN ('EDITOR', 'ADMIN')))`;

/** Comments of one pull request, and reviews as well. */
export const MAX_COMMENTS = 500;

export const listComments = async (db: Knex, pullRequestId: string): Promise<CommentRecord[]> =>
  db('pull_request_comments')
    .where({ pull_request_id: pullRequestId })
    .orderBy(['created_at', 'id'])
    .limit(MAX_COMMENTS)
    .select({
      id: 'id',
      author: 'author',
      authorId: 'author_id',
      body: 'body',
      createdAt: 'created_at',
      updatedAt: 'updated_at',
    });

/** Reviews of these pull requests, oldest first. */
export const listReviews = async (db: Knex, pullRequestIds: readonly string[]): Promise<ReviewRecord[]> =>
  pullRequestIds.length === 0
    ? []
    : db('pull_request_reviews')
        .whereIn('pull_request_id', [...pullRequestIds])
        .orderBy(['created_at', 'id'])
        .select({
          id: 'id',
          pullRequestId: 'pull_request_id',
          reviewer: 'reviewer',
          reviewerId: 'reviewer_id',
          verdict: 'verdict',
          headSha: 'head_sha',
          body: 'body',
          isEditor: db.raw(IS_EDITOR),
          createdAt: 'created_at',
        });

/** Call it with the pull request locked, so that nobody adds another one meanwhile. */
export async function countCommentsAndReviews(
  tx: Knex,
  table: 'pull_request_comments' | 'pull_request_reviews',
  pullRequestId: string,
): Promise<number> {
  const row = await tx(table).where({ pull_request_id: pullRequestId }).count<{ count: string }[]>().first();
  return Number(row?.count ?? 0);
}

/** A second comment with the same marker replaces the first. */
export async function insertComment(
  tx: Knex,
  made: { pullRequestId: string; author: string; authorId: string | null; body: string; marker?: string },
): Promise<void> {
  await tx('pull_request_comments')
    .insert({
      id: newId(),
      pull_request_id: made.pullRequestId,
      marker: made.marker ?? null,
      author: made.author,
      author_id: made.authorId,
      body: made.body,
      // now() is constant within a transaction, and one may write several comments.
      created_at: tx.raw('clock_timestamp()'),
      updated_at: tx.raw('clock_timestamp()'),
    })
    .onConflict(['pull_request_id', 'marker'])
    .merge(['body', 'updated_at']);
}

export async function insertReview(
  tx: Knex,
  made: Omit<ReviewRecord, 'id' | 'isEditor' | 'createdAt'>,
): Promise<void> {
  await tx('pull_request_reviews').insert({
    id: newId(),
    pull_request_id: made.pullRequestId,
    reviewer: made.reviewer,
    reviewer_id: made.reviewerId,
    verdict: made.verdict,
    head_sha: made.headSha,
    body: made.body,
    created_at: tx.raw('clock_timestamp()'),
  });
}
