/** What a personal token opens. Those that there are stay what they were: passwords for git. */
import type { Knex } from 'knex';

export const name = '0053-token-scopes';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE personal_tokens
      ADD COLUMN scopes text[] NOT NULL DEFAULT '{git}'
        CONSTRAINT personal_tokens_scopes_check
          CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['git', 'mcp', 'mcp.write'])`);
}
