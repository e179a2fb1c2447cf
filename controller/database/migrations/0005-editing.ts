/** What people work with in the UI and over REST, beside what git describes: building blocks, order, secrets of other stores. */
import type { Knex } from 'knex';

export const name = '0005-editing';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- Grows with every change of the graph: who saves on top of an older one is told.
    ALTER TABLE pipelines ADD COLUMN graph_revision integer NOT NULL DEFAULT 1;

    -- Building blocks

    CREATE TABLE shared_components (
      id text PRIMARY KEY,
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      name text NOT NULL,
      description text,
      component_type text NOT NULL,
      kind text NOT NULL CHECK (kind IN ('SOURCE', 'TRANSFORM', 'SINK')),
      config jsonb NOT NULL,
      -- Grows when the config changes; a linked component of a pipeline says which one it has accepted.
      version integer NOT NULL DEFAULT 1,
      created_by_id text REFERENCES users (id) ON DELETE SET NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX shared_components_name_unique ON shared_components (environment_id, lower(name));

    CREATE TABLE templates (
      id text PRIMARY KEY,
      team_id text NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
      name text NOT NULL,
      description text NOT NULL,
      category text NOT NULL,
      graph_nodes jsonb NOT NULL,
      graph_edges jsonb NOT NULL,
      -- What a list tells of the graph, which may be large.
      component_count integer NOT NULL,
      component_types jsonb NOT NULL,
      created_by_id text REFERENCES users (id) ON DELETE SET NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX templates_name_unique ON templates (team_id, lower(name));

    CREATE TABLE vrl_snippets (
      id text PRIMARY KEY,
      team_id text NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
      name text NOT NULL,
      description text,
      category text NOT NULL,
      code text NOT NULL,
      created_by_id text REFERENCES users (id) ON DELETE SET NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX vrl_snippets_name_unique ON vrl_snippets (team_id, lower(name));

    -- Order among pipelines

    CREATE TABLE pipeline_groups (
      id text PRIMARY KEY,
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      name text NOT NULL,
      color text,
      parent_id text REFERENCES pipeline_groups (id) ON DELETE SET NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX pipeline_groups_name_unique ON pipeline_groups (environment_id, coalesce(parent_id, ''), lower(name));
    CREATE INDEX pipeline_groups_parent ON pipeline_groups (parent_id);

    -- Apart from the pipeline's row: where people file it is no drift of what git describes.
    CREATE TABLE pipeline_group_members (
      pipeline_id text PRIMARY KEY REFERENCES pipelines (id) ON DELETE CASCADE,
      group_id text NOT NULL REFERENCES pipeline_groups (id) ON DELETE CASCADE
    );
    CREATE INDEX pipeline_group_members_group ON pipeline_group_members (group_id);

    -- Said in the UI; what a manifest says (dependsOn) stands in pipelines.depends_on.
    CREATE TABLE pipeline_dependencies (
      id text PRIMARY KEY,
      upstream_id text NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
      downstream_id text NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
      description text,
      created_by_id text REFERENCES users (id) ON DELETE SET NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT pipeline_dependencies_unique UNIQUE (upstream_id, downstream_id),
      CONSTRAINT pipeline_dependencies_other CHECK (upstream_id <> downstream_id)
    );
    CREATE INDEX pipeline_dependencies_downstream ON pipeline_dependencies (downstream_id);

    -- What people keep for themselves or for one another

    CREATE TABLE filter_presets (
      id text PRIMARY KEY,
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      scope text NOT NULL CHECK (scope IN ('pipeline_list', 'fleet_matrix')),
      name text NOT NULL,
      filters jsonb NOT NULL,
      is_default boolean NOT NULL DEFAULT false,
      created_by_id text REFERENCES users (id) ON DELETE SET NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX filter_presets_name_unique ON filter_presets (environment_id, scope, lower(name));
    CREATE UNIQUE INDEX filter_presets_default_unique ON filter_presets (environment_id, scope) WHERE is_default;

    CREATE TABLE user_preferences (
      user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      key text NOT NULL,
      value text NOT NULL,
      updated_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (user_id, key)
    );

    -- Secrets and certificates

    -- Sealed: it holds the credentials of the store.
    ALTER TABLE environments ADD COLUMN sealed_secret_backend_config text;
    -- Of a store outside, the value is the last good one that was fetched.
    ALTER TABLE secrets ADD COLUMN fetched_at timestamptz;
    ALTER TABLE secrets ADD COLUMN fetch_error text;

    CREATE TABLE certificates (
      id text PRIMARY KEY,
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      name text NOT NULL,
      filename text NOT NULL,
      file_type text NOT NULL CHECK (file_type IN ('ca', 'cert', 'key')),
      sealed_data text NOT NULL,
      -- What may be shown of it: subject, issuer, validity, fingerprint.
      facts jsonb NOT NULL,
      expires_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    -- A certificate and its key have one name.
    CREATE UNIQUE INDEX certificates_name_unique ON certificates (environment_id, lower(name), file_type);
    CREATE UNIQUE INDEX certificates_filename_unique ON certificates (environment_id, lower(filename));

    -- REST: what was answered to a request that carried an Idempotency-Key.
    CREATE TABLE idempotent_requests (
      service_account_id text NOT NULL REFERENCES service_accounts (id) ON DELETE CASCADE,
      key text NOT NULL,
      -- HMAC of method, path and body: the same key for something else is a mistake.
      request_hash text NOT NULL,
      -- Names the request that is at work, or was: one that took too long must not do it a second time.
      claim text NOT NULL,
      -- Null while the first one is at work.
      status integer,
      body text,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (service_account_id, key)
    );
    CREATE INDEX idempotent_requests_created ON idempotent_requests (created_at);

    -- Audit: rows that have no number yet, for the one that gives them.
    CREATE INDEX audit_log_unnumbered ON audit_log (created_at, id) WHERE seq IS NULL;
    CREATE INDEX audit_log_environment_seq ON audit_log (environment_id, seq) WHERE seq IS NOT NULL;
    -- The last entries of a team, and those of a user that are no team's.
    CREATE INDEX audit_log_team ON audit_log (team_id, created_at DESC);
    CREATE INDEX audit_log_own ON audit_log (user_id, created_at DESC) WHERE team_id IS NULL AND environment_id IS NULL;
  `);
  // The reconciler looks at certificates as it does at secrets: a manifest may wait for one.
  for (const [event, side] of [
    ['INSERT', 'NEW'],
    ['UPDATE', 'NEW'],
    ['DELETE', 'OLD'],
  ] as const) {
    await db.raw(
      `CREATE TRIGGER note_${event.toLowerCase()} AFTER ${event} ON certificates
       REFERENCING ${side} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_object_changes()`,
    );
  }
}
