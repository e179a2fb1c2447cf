/** Where a secret is in its store outside, where its name alone does not say it. */
import type { Knex } from 'knex';

export const name = '0031-secret-paths';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE secrets
      ADD COLUMN path text,
      ADD COLUMN property text,
      ADD COLUMN version text;
  `);
}
