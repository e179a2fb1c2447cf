/** What a binding wants of the pull requests that it opens, and what becomes of them and their branches. */
import type { Knex } from 'knex';

export const name = '0029-forge-pull-requests';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- The parts that were set: labels, reviewers, assignees, draft, templates, whether branches are deleted.
    ALTER TABLE git_bindings ADD COLUMN pull_request_settings jsonb NOT NULL DEFAULT '{}';
    -- When it was last opened again after it had been closed.
    ALTER TABLE pull_requests ADD COLUMN reopened_at timestamptz;
    -- The closed_at for which the branch was deleted or kept; null: not yet.
    ALTER TABLE pull_requests ADD COLUMN branch_settled_at timestamptz;
    -- The forge merges it when its checks pass.
    ALTER TABLE pull_requests ADD COLUMN auto_merge boolean NOT NULL DEFAULT false;
    -- What the forge refused when it was opened, such as a reviewer whom it does not know.
    ALTER TABLE pull_requests ADD COLUMN notice text;
  `);
}
