/** What retention needs: nodes that are archived, and until when a version was deployed. */
import type { Knex } from 'knex';

export const name = '0012-retention';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- Days of silence after which a node is archived; 0 is never.
    ALTER TABLE environments ADD COLUMN archive_nodes_after_days integer NOT NULL DEFAULT 30
      CONSTRAINT environments_archive_nodes_check CHECK (archive_nodes_after_days BETWEEN 0 AND 3650);

    -- Set while a node is archived: it counts nowhere until its agent calls again.
    ALTER TABLE nodes ADD COLUMN archived_at timestamptz;
    -- When it came back last. Silence is counted from then at the earliest: an agent may poll and never send a heartbeat.
    ALTER TABLE nodes ADD COLUMN unarchived_at timestamptz;

    -- When the version stopped being its pipeline's deployed one; null for one that never was, or still is. What was deployed
    -- before this column existed is not known, so all versions of that time count as deployed until now.
    ALTER TABLE pipeline_versions ADD COLUMN deployed_until timestamptz DEFAULT now();
    ALTER TABLE pipeline_versions ALTER COLUMN deployed_until DROP DEFAULT;

    CREATE FUNCTION note_version_replaced() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE pipeline_versions SET deployed_until = now() WHERE id = OLD.deployed_version_id;
      RETURN NULL;
    END $$;
    CREATE TRIGGER note_version_replaced AFTER UPDATE OF deployed_version_id ON pipelines
      FOR EACH ROW WHEN (OLD.deployed_version_id IS DISTINCT FROM NEW.deployed_version_id)
      EXECUTE FUNCTION note_version_replaced();

    -- Asked for each version that is deleted, by foreign keys too.
    CREATE INDEX rollouts_previous_version ON rollouts (previous_version_id);
    CREATE INDEX rollouts_canary_version ON rollouts (canary_version_id);
    CREATE INDEX promotions_target_pipeline ON promotions (target_pipeline_id);
    CREATE INDEX promotions_pull_request ON promotions (pull_request_id) WHERE pull_request_id IS NOT NULL;
  `);
}
