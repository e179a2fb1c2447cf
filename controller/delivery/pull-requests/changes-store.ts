/** Changes of the rows of `pull_requests`. */
import type { Knex } from 'knex';
import { brokeUnique } from '../../database/errors.ts';
import type { PullRequestsInsert } from '../../database/tables.gen.ts';
import { newId } from '../../platform/operation/ids.ts';
import { COLUMNS, findByNumber, findPullRequest, type PullRequestRecord } from './store.ts';

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
