/** Log lines of pipelines, in partitions of a day that retention drops whole. */
import type { Knex } from 'knex';

export const name = '0003-logs';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE SEQUENCE log_lines_seq;

    -- No foreign keys: lines of what is gone go with their day.
    CREATE TABLE log_lines (
      -- In the order of storing; what cursors count by.
      seq bigint NOT NULL DEFAULT nextval('log_lines_seq'),
      -- The controller's clock; the line itself may hold the node's.
      received_at timestamptz NOT NULL,
      node_id text NOT NULL,
      pipeline_id text NOT NULL,
      level text NOT NULL CHECK (level IN ('TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR')),
      line text NOT NULL
    ) PARTITION BY RANGE (received_at);
    ALTER SEQUENCE log_lines_seq OWNED BY log_lines.seq;
    CREATE INDEX log_lines_pipeline ON log_lines (pipeline_id, seq DESC);
    CREATE INDEX log_lines_node ON log_lines (node_id, seq DESC);

    -- The node brings its lines by /api/agent/logs; those in its heartbeats are the same ones again.
    ALTER TABLE node_reports ADD COLUMN delivers_logs boolean NOT NULL DEFAULT false;
    -- They are log lines like the others now.
    ALTER TABLE node_reports DROP COLUMN recent_logs;
  `);
}
