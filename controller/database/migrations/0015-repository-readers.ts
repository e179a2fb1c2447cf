/** Which bindings have read their repository themselves: only those have a say in its pull requests. */
import type { Knex } from 'knex';

export const name = '0015-repository-readers';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- When the binding first read its repository with the address, credentials, host keys and authority that it has now.
    -- Null: not yet. Bindings of the embedded repository need none.
    ALTER TABLE git_bindings ADD COLUMN read_at timestamptz;
    -- What was read before was read with some credentials of the same address; the next pass proves the present ones.
    UPDATE git_bindings SET read_at = now() WHERE head_commit IS NOT NULL AND last_error IS NULL;
  `);
}
