/** Times of git jobs in order, several commits in one job, what a binding's ref was, and upkeep of the embedded repository. */
import type { Knex } from 'knex';

export const name = '0013-git-maintenance';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- By Postgres' clock from now on, all three; the controller's clock was mixed in before.
    UPDATE git_jobs SET started_at = greatest(started_at, queued_at), finished_at = greatest(finished_at, started_at, queued_at)
      WHERE status <> 'pending' AND (started_at < queued_at OR finished_at < greatest(started_at, queued_at));

    ALTER TABLE git_jobs
      -- How many commits had come since the pass before, the newest included; null where no commit is new.
      ADD COLUMN commit_count integer CHECK (commit_count > 0),
      -- Id and subject of those that a newer one overtook, newest first; the first 50.
      ADD COLUMN skipped_commits jsonb NOT NULL DEFAULT '[]';

    -- The full name (refs/heads/… or refs/tags/…) that the ref last stood for.
    ALTER TABLE git_bindings ADD COLUMN resolved_ref text;

    -- Who is at work in the embedded repository, which replicas share: many pushes, or one maintenance.
    CREATE TABLE repository_activity (
      id text PRIMARY KEY,
      kind text NOT NULL CHECK (kind IN ('push', 'maintenance')),
      -- A push waits for the maintenance to end.
      wanted_at timestamptz,
      started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      -- Whoever died without ending it holds nobody up for longer.
      expires_at timestamptz NOT NULL
    );
  `);
}
