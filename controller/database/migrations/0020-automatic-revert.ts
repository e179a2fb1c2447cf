/**
 * Nodes that are served the version before, since their newer one did not run there. What a node has run is kept beside its
 * report, in columns that only the statement of a heartbeat writes.
 */
import type { Knex } from 'knex';

export const name = '0020-automatic-revert';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE environments ADD COLUMN auto_revert boolean NOT NULL DEFAULT true;
    -- Null: as the environment has it.
    ALTER TABLE pipelines ADD COLUMN auto_revert boolean;
    ALTER TABLE node_pipelines
      -- The last version that ran here before the reported one.
      ADD COLUMN ran_version integer,
      -- The reported version was seen running.
      ADD COLUMN ran boolean NOT NULL DEFAULT false,
      -- It ran for so long that a crash is no fault of the change.
      ADD COLUMN proven boolean NOT NULL DEFAULT false,
      -- Starts of the reported version that failed.
      ADD COLUMN crashes integer NOT NULL DEFAULT 0,
      ADD COLUMN refused jsonb;
    UPDATE node_pipelines SET ran = true, proven = true WHERE status = 'RUNNING';
    CREATE TABLE node_reverts (
      node_id text NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
      pipeline_id text NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
      refused_version_id text NOT NULL REFERENCES pipeline_versions (id) ON DELETE CASCADE,
      -- As it was rendered: with other secrets it is another one.
      refused_checksum text NOT NULL,
      served_version_id text NOT NULL REFERENCES pipeline_versions (id) ON DELETE CASCADE,
      refused_by text NOT NULL CHECK (refused_by IN ('NODE_CHECK', 'CRASH')),
      reason text NOT NULL,
      -- Why the version before cannot be served at the moment; null where it is.
      fault text,
      since timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (node_id, pipeline_id)
    );
    CREATE INDEX node_reverts_of_pipeline ON node_reverts (pipeline_id);
    CREATE INDEX node_reverts_of_refused ON node_reverts (refused_version_id);
    CREATE INDEX node_reverts_of_served ON node_reverts (served_version_id);
  `);
}
