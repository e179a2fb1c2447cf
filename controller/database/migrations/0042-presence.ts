/**
 * When each node was last heard, apart from its report: a heartbeat of a node whose state is the stored one moves only this
 * time. `state` is the digest of the stored state, null while it is unknown.
 */
import type { Knex } from 'knex';

export const name = '0042-presence';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- Rows are updated in place every few seconds, for which half of each page is left free.
    CREATE TABLE node_presence (
      node_id text PRIMARY KEY REFERENCES nodes (id) ON DELETE CASCADE,
      heard_at timestamptz NOT NULL,
      state bigint
    ) WITH (fillfactor = 50);
    INSERT INTO node_presence (node_id, heard_at) SELECT node_id, reported_at FROM node_reports;
  `);
}
