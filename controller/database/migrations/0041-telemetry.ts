/**
 * Telemetry: the last counters of each pipeline on each node, and what they grew by, a point a minute and an hour.
 *
 * Amounts (events, bytes, errors) are what was counted in `seconds`, which are summed over nodes as the amounts are; `nodes` is
 * how many nodes were counted. The rate of all nodes together is `amount * nodes / seconds`. Latencies are sums of milliseconds
 * over `latency_count` reports; utilization is the largest; exits are those of engine processes. Minutes are kept in day partitions that retention drops whole.
 */
import type { Knex } from 'knex';

export const name = '0041-telemetry';

const AMOUNTS = `
      events_in double precision NOT NULL DEFAULT 0,
      events_out double precision NOT NULL DEFAULT 0,
      bytes_in double precision NOT NULL DEFAULT 0,
      bytes_out double precision NOT NULL DEFAULT 0,
      errors double precision NOT NULL DEFAULT 0,
      discarded double precision NOT NULL DEFAULT 0`;
const MEASURES = `
      seconds double precision NOT NULL DEFAULT 0,
      nodes integer NOT NULL DEFAULT 0,${AMOUNTS},
      exits integer NOT NULL DEFAULT 0,
      latency_sum double precision NOT NULL DEFAULT 0,
      latency_count integer NOT NULL DEFAULT 0,
      utilization real`;

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- Written in place once a minute, by whoever knows the reading that is there.
    CREATE TABLE series_readings (
      node_id text NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
      pipeline_id text NOT NULL,
      read_at timestamptz NOT NULL,
      reading jsonb NOT NULL,
      CONSTRAINT series_readings_pkey PRIMARY KEY (node_id, pipeline_id)
    ) WITH (fillfactor = 60);
    CREATE INDEX series_readings_pipeline ON series_readings (pipeline_id);

    -- No foreign keys: points of what is gone go with their day.
    CREATE TABLE node_pipeline_minutes (
      minute timestamptz NOT NULL,
      node_id text NOT NULL,
      pipeline_id text NOT NULL,${MEASURES},
      CONSTRAINT node_pipeline_minutes_pkey PRIMARY KEY (node_id, pipeline_id, minute)
    ) PARTITION BY RANGE (minute);

    CREATE TABLE pipeline_minutes (
      minute timestamptz NOT NULL,
      pipeline_id text NOT NULL,${MEASURES},
      CONSTRAINT pipeline_minutes_pkey PRIMARY KEY (pipeline_id, minute)
    ) PARTITION BY RANGE (minute);

    CREATE TABLE component_minutes (
      minute timestamptz NOT NULL,
      pipeline_id text NOT NULL,
      component_id text NOT NULL,
      kind text NOT NULL,${MEASURES},
      CONSTRAINT component_minutes_pkey PRIMARY KEY (pipeline_id, component_id, minute)
    ) PARTITION BY RANGE (minute);

    -- Rates are per second. Null is what the node does not report.
    CREATE TABLE node_minutes (
      minute timestamptz NOT NULL,
      node_id text NOT NULL,
      cpu_percent real,
      memory_used_bytes double precision,
      memory_total_bytes double precision,
      load_avg1 real,
      fs_used_bytes double precision,
      fs_total_bytes double precision,
      disk_read_rate double precision,
      disk_written_rate double precision,
      net_rx_rate double precision,
      net_tx_rate double precision,
      CONSTRAINT node_minutes_pkey PRIMARY KEY (node_id, minute)
    ) PARTITION BY RANGE (minute);

    -- The environment at the time: what a deleted pipeline moved stays in the volumes of its environment.
    CREATE TABLE pipeline_hours (
      hour timestamptz NOT NULL,
      environment_id text NOT NULL,
      pipeline_id text NOT NULL,${MEASURES},
      CONSTRAINT pipeline_hours_pkey PRIMARY KEY (pipeline_id, hour)
    );
    CREATE TABLE sink_hours (
      hour timestamptz NOT NULL,
      environment_id text NOT NULL,
      pipeline_id text NOT NULL,
      component_id text NOT NULL,${MEASURES},
      CONSTRAINT sink_hours_pkey PRIMARY KEY (pipeline_id, component_id, hour)
    );
    CREATE INDEX sink_hours_environment ON sink_hours (environment_id, hour);
    CREATE INDEX sink_hours_hour ON sink_hours (hour);
    CREATE INDEX pipeline_hours_environment ON pipeline_hours (environment_id, hour);
    CREATE INDEX pipeline_hours_hour ON pipeline_hours (hour);

    -- When which version was deployed: marks on charts.
    CREATE TABLE pipeline_deploys (
      pipeline_id text NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
      deployed_at timestamptz NOT NULL,
      version integer NOT NULL,
      commit_sha text
    );
    CREATE INDEX pipeline_deploys_pipeline ON pipeline_deploys (pipeline_id, deployed_at);
    CREATE INDEX pipeline_deploys_at ON pipeline_deploys (deployed_at);
    CREATE FUNCTION note_deploy() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO pipeline_deploys (pipeline_id, deployed_at, version, commit_sha)
        SELECT NEW.id, now(), v.version, v.commit_sha FROM pipeline_versions v WHERE v.id = NEW.deployed_version_id;
      RETURN NULL;
    END $$;
    -- At the commit: a version may be inserted after its pipeline.
    CREATE CONSTRAINT TRIGGER note_first_deploy AFTER INSERT ON pipelines DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.deployed_version_id IS NOT NULL) EXECUTE FUNCTION note_deploy();
    CREATE CONSTRAINT TRIGGER note_deploy AFTER UPDATE OF deployed_version_id ON pipelines DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (OLD.deployed_version_id IS DISTINCT FROM NEW.deployed_version_id)
      EXECUTE FUNCTION note_deploy();
    INSERT INTO pipeline_deploys (pipeline_id, deployed_at, version, commit_sha)
      SELECT p.id, p.deployed_at, v.version, v.commit_sha
      FROM pipelines p JOIN pipeline_versions v ON v.id = p.deployed_version_id WHERE p.deployed_at IS NOT NULL;

    -- The mean of the components that report one, in milliseconds.
    ALTER TABLE node_pipelines ADD COLUMN latency_ms double precision;

    ALTER TABLE environments ADD COLUMN price_per_gb double precision
      CONSTRAINT environments_price_check CHECK (price_per_gb BETWEEN 0 AND 1000000);
  `);
}
