/** Bitbucket Data Center and Azure DevOps. */
import type { Knex } from 'knex';

export const name = '0039-two-more-forges';

const FORGES = "'github', 'gitlab', 'gitea', 'bitbucket', 'bitbucket-data-center', 'azure-devops'";

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE git_bindings DROP CONSTRAINT git_bindings_forge_check;
    ALTER TABLE git_bindings ADD CONSTRAINT git_bindings_forge_check
      CHECK (forge IN ('embedded', 'none', ${FORGES}));
    ALTER TABLE pull_requests DROP CONSTRAINT pull_requests_forge_check;
    ALTER TABLE pull_requests ADD CONSTRAINT pull_requests_forge_check CHECK (forge IN ('headgate', ${FORGES}));
  `);
}
