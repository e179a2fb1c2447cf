/** Promotions outlive the environment that they came from, and name the nodes that nobody waited for. */
import type { Knex } from 'knex';

export const name = '0014-promotion-history';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE promotions ALTER COLUMN source_environment_id DROP NOT NULL;
    ALTER TABLE promotions DROP CONSTRAINT promotions_source_environment_id_fkey;
    ALTER TABLE promotions ADD CONSTRAINT promotions_source_environment_id_fkey
      FOREIGN KEY (source_environment_id) REFERENCES environments (id) ON DELETE SET NULL;
    -- Read once the environment is deleted; until then its own name holds.
    ALTER TABLE promotions ADD COLUMN source_environment_name text NOT NULL DEFAULT '';
    UPDATE promotions SET source_environment_name = e.name FROM environments e WHERE e.id = source_environment_id;
    -- Names of the nodes that should run it and did not answer when it was deployed.
    ALTER TABLE promotions ADD COLUMN silent_nodes text[] NOT NULL DEFAULT '{}';
    CREATE INDEX promotions_source ON promotions (source_environment_id);
  `);
}
