/**
 * Anomalies: what a pipeline's metrics did that was unusual. One row per pipeline, metric and direction within the window of the
 * settings; it is updated while the deviation goes on.
 */
import type { Knex } from 'knex';

export const name = '0046-anomalies';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE anomalies (
      id text PRIMARY KEY,
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      pipeline_id text NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
      metric text NOT NULL CONSTRAINT anomalies_metric_check CHECK (metric IN ('eventsIn', 'errors', 'latency')),
      direction text NOT NULL CONSTRAINT anomalies_direction_check CHECK (direction IN ('up', 'down')),
      severity text NOT NULL CONSTRAINT anomalies_severity_check CHECK (severity IN ('info', 'warning', 'critical')),
      status text NOT NULL DEFAULT 'open'
        CONSTRAINT anomalies_status_check CHECK (status IN ('open', 'acknowledged', 'dismissed')),
      -- Of the moment with the largest deviation. Events or errors per second, or milliseconds.
      value double precision NOT NULL,
      expected_low double precision NOT NULL,
      expected_high double precision NOT NULL,
      sigma double precision NOT NULL,
      started_at timestamptz NOT NULL,
      last_seen_at timestamptz NOT NULL,
      ended_at timestamptz,
      -- The last deploy before it began.
      version integer,
      commit_sha text,
      deployed_at timestamptz,
      decided_by text,
      decided_at timestamptz
    );
    CREATE INDEX anomalies_environment ON anomalies (environment_id, id);
    CREATE INDEX anomalies_pipeline ON anomalies (pipeline_id, metric, direction, last_seen_at);
    CREATE INDEX anomalies_open ON anomalies (environment_id, pipeline_id) WHERE status = 'open';
    CREATE INDEX anomalies_running ON anomalies (last_seen_at) WHERE ended_at IS NULL;
    CREATE INDEX anomalies_started ON anomalies (started_at);
  `);
}
