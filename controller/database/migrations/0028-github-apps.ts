/** A forge that is asked by a GitHub App: its private key is sealed where a token is. */
import type { Knex } from 'knex';

export const name = '0028-github-apps';

export async function up(db: Knex): Promise<void> {
  await db.raw(`ALTER TABLE git_bindings ADD COLUMN forge_app_id text`);
}
