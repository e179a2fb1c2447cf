/** When an engine's counters were read, where they are old, and what its filters left out on purpose. */
import type { Knex } from 'knex';

export const name = '0023-age-of-metrics';

export async function up(db: Knex): Promise<void> {
  await db.raw(
    `ALTER TABLE node_pipelines ADD COLUMN metrics_as_of timestamptz,
       ADD COLUMN events_filtered double precision NOT NULL DEFAULT 0`,
  );
}
