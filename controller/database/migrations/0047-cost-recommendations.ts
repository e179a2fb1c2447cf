/** Recommendations that lower costs: what an analysis found, and what users decided about it. */
import type { Knex } from 'knex';

export const name = '0047-cost-recommendations';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE cost_recommendations (
      id text NOT NULL CONSTRAINT cost_recommendations_pkey PRIMARY KEY,
      environment_id text NOT NULL CONSTRAINT cost_recommendations_environment_fkey
        REFERENCES environments (id) ON DELETE CASCADE,
      pipeline_id text NOT NULL CONSTRAINT cost_recommendations_pipeline_fkey
        REFERENCES pipelines (id) ON DELETE CASCADE,
      type text NOT NULL CONSTRAINT cost_recommendations_type_check
        CHECK (type IN ('LOW_REDUCTION', 'HIGH_ERROR_RATE', 'STALE_PIPELINE', 'HIGH_CARDINALITY')),
      status text NOT NULL DEFAULT 'PENDING' CONSTRAINT cost_recommendations_status_check
        CHECK (status IN ('PENDING', 'DISMISSED', 'APPLIED')),
      -- What was measured. Title and explanation are rendered from it.
      figures jsonb NOT NULL,
      -- Null where no change can be made by itself.
      change jsonb,
      -- Null where it cannot be known.
      saved_bytes_per_month double precision,
      -- The change as a pull request, of a pipeline that git describes.
      pull_request_id text CONSTRAINT cost_recommendations_pull_request_fkey
        REFERENCES pull_requests (id) ON DELETE SET NULL,
      -- The version with the change, of a pipeline that the UI owns.
      applied_version integer,
      created_at timestamptz NOT NULL DEFAULT now(),
      analyzed_at timestamptz NOT NULL DEFAULT now(),
      -- When it was dismissed or applied, and by which user.
      resolved_at timestamptz,
      resolved_by text,
      CONSTRAINT cost_recommendations_resolved_check CHECK ((status = 'PENDING') = (resolved_at IS NULL))
    );
    CREATE UNIQUE INDEX cost_recommendations_pending ON cost_recommendations (pipeline_id, type) WHERE status = 'PENDING';
    CREATE INDEX cost_recommendations_environment ON cost_recommendations (environment_id, status);
    CREATE INDEX cost_recommendations_pipeline ON cost_recommendations (pipeline_id, type, resolved_at);
    CREATE INDEX cost_recommendations_pull_request ON cost_recommendations (pull_request_id)
      WHERE pull_request_id IS NOT NULL;
    CREATE INDEX cost_recommendations_resolved ON cost_recommendations (resolved_at) WHERE resolved_at IS NOT NULL;

    -- When the pipelines of the environment were last looked at for recommendations.
    ALTER TABLE environments ADD COLUMN costs_analyzed_at timestamptz;
  `);
}
