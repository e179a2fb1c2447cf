/** Which component types the engines of nodes have: a list for each digest that nodes report. */
import type { Knex } from 'knex';

export const name = '0022-engine-components';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE engine_components (
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      digest text NOT NULL,
      components jsonb NOT NULL,
      first_seen_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (environment_id, digest)
    );
    ALTER TABLE node_reports ADD COLUMN engine_components text;
  `);
}
