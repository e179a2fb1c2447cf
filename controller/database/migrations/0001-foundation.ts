/** The tables of the main job: people, environments, pipelines, nodes, git. */
import type { Knex } from 'knex';

export const name = '0001-foundation';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE settings (
      key text PRIMARY KEY,
      value jsonb NOT NULL,
      updated_at timestamptz NOT NULL DEFAULT now()
    );

    CREATE TABLE leases (
      key text PRIMARY KEY,
      holder text NOT NULL,
      epoch bigint NOT NULL,
      expires_at timestamptz NOT NULL
    );

    -- People

    CREATE TABLE users (
      id text PRIMARY KEY,
      email text NOT NULL,
      name text NOT NULL,
      auth_method text NOT NULL DEFAULT 'PASSWORD' CHECK (auth_method IN ('PASSWORD', 'OIDC')),
      password_hash text,
      is_super_admin boolean NOT NULL DEFAULT false,
      totp_enabled boolean NOT NULL DEFAULT false,
      locked_at timestamptz,
      failed_sign_ins integer NOT NULL DEFAULT 0,
      throttled_until timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX users_email_unique ON users (lower(email));

    CREATE TABLE sessions (
      id text PRIMARY KEY,
      user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      token_hash bytea NOT NULL,
      ip_address text,
      user_agent text,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL
    );
    CREATE INDEX sessions_user ON sessions (user_id);

    CREATE TABLE personal_tokens (
      id text PRIMARY KEY,
      user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      name text NOT NULL,
      token_hash bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      last_used_at timestamptz,
      expires_at timestamptz
    );
    CREATE INDEX personal_tokens_user ON personal_tokens (user_id);

    CREATE TABLE teams (
      id text PRIMARY KEY,
      name text NOT NULL,
      require_two_factor boolean NOT NULL DEFAULT false,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX teams_name_unique ON teams (lower(name));

    CREATE TABLE team_members (
      team_id text NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
      user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      role text NOT NULL CHECK (role IN ('VIEWER', 'EDITOR', 'ADMIN')),
      source text NOT NULL DEFAULT 'manual' CHECK (source IN ('manual', 'group')),
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (team_id, user_id)
    );
    CREATE INDEX team_members_user ON team_members (user_id);

    -- Environments and what belongs to them

    CREATE TABLE environments (
      id text PRIMARY KEY,
      team_id text NOT NULL REFERENCES teams (id),
      name text NOT NULL,
      secret_backend text NOT NULL DEFAULT 'BUILTIN' CHECK (secret_backend IN ('BUILTIN', 'VAULT', 'CLOUD_SM', 'EXEC')),
      require_approval boolean NOT NULL DEFAULT false,
      max_nodes integer,
      -- Grows in the transaction of every change of what its nodes are served.
      config_revision bigint NOT NULL DEFAULT 1,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX environments_name_unique ON environments (team_id, lower(name));

    CREATE TABLE enrollment_tokens (
      id text PRIMARY KEY,
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      token_hash bytea NOT NULL,
      max_uses integer,
      uses integer NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz,
      -- A revoked token's row stays, so that its use is refused and not unknown.
      revoked_at timestamptz
    );
    CREATE INDEX enrollment_tokens_environment ON enrollment_tokens (environment_id);

    CREATE TABLE secrets (
      id text PRIMARY KEY,
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      name text NOT NULL,
      -- SVC_SECRET_<NAME>: two names of one variable cannot live side by side.
      variable text NOT NULL,
      sealed_value text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX secrets_variable_unique ON secrets (environment_id, variable);

    CREATE TABLE pipelines (
      id text PRIMARY KEY,
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      name text NOT NULL,
      uid text,
      description text,
      managed_by text NOT NULL DEFAULT 'ui' CHECK (managed_by IN ('ui', 'git')),
      is_draft boolean NOT NULL DEFAULT true,
      node_selector jsonb,
      log_level text NOT NULL DEFAULT 'info',
      graph_nodes jsonb NOT NULL DEFAULT '[]',
      graph_edges jsonb NOT NULL DEFAULT '[]',
      global_config jsonb NOT NULL DEFAULT '{}',
      labels jsonb NOT NULL DEFAULT '{}',
      depends_on jsonb NOT NULL DEFAULT '[]',
      latest_version_id text,
      deployed_version_id text,
      deployed_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      -- Pruned or deleted: kept for a day so that adding it back restores id, versions and history.
      tombstoned_at timestamptz
    );
    CREATE UNIQUE INDEX pipelines_name_unique ON pipelines (environment_id, lower(name)) WHERE tombstoned_at IS NULL;
    CREATE UNIQUE INDEX pipelines_uid_unique ON pipelines (environment_id, uid) WHERE tombstoned_at IS NULL AND uid IS NOT NULL;

    CREATE TABLE pipeline_versions (
      id text PRIMARY KEY,
      pipeline_id text NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
      version integer NOT NULL,
      config_yaml text NOT NULL,
      log_level text NOT NULL,
      node_selector jsonb,
      graph_nodes jsonb NOT NULL,
      graph_edges jsonb NOT NULL,
      global_config jsonb NOT NULL,
      -- The manifest's semantic hash where git made it.
      spec_hash text,
      changelog text,
      source text NOT NULL CHECK (source IN ('ui', 'git')),
      created_by_id text REFERENCES users (id) ON DELETE SET NULL,
      commit_sha text,
      commit_author text,
      commit_message text,
      commit_path text,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT pipeline_versions_number_unique UNIQUE (pipeline_id, version)
    );

    -- Nodes

    CREATE TABLE nodes (
      id text PRIMARY KEY,
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      name text NOT NULL,
      host text NOT NULL,
      os text,
      channel text NOT NULL DEFAULT 'stable',
      token_id text,
      token_hash bytea,
      token_revoked_at timestamptz,
      maintenance boolean NOT NULL DEFAULT false,
      ui_labels jsonb NOT NULL DEFAULT '{}',
      config_revision bigint NOT NULL DEFAULT 0,
      enrolled_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX nodes_environment ON nodes (environment_id, name);
    CREATE UNIQUE INDEX nodes_token_unique ON nodes (token_id) WHERE token_id IS NOT NULL;

    -- What a node says of itself: written in batches, apart from the rows that people edit.
    CREATE TABLE node_reports (
      node_id text PRIMARY KEY REFERENCES nodes (id) ON DELETE CASCADE,
      reported_at timestamptz NOT NULL,
      agent_version text,
      engine_version text,
      deployment_mode text,
      agent_labels jsonb NOT NULL DEFAULT '{}',
      host_metrics jsonb NOT NULL DEFAULT '{}',
      agent_health jsonb NOT NULL DEFAULT '{}',
      running_as text,
      update_error text,
      poll_interval_ms integer,
      recent_logs jsonb NOT NULL DEFAULT '[]'
    ) WITH (fillfactor = 70);

    CREATE TABLE node_pipelines (
      node_id text NOT NULL,
      pipeline_id text NOT NULL,
      version integer NOT NULL,
      status text NOT NULL CHECK (status IN ('RUNNING', 'STARTING', 'STOPPED', 'CRASHED')),
      pid integer,
      uptime_seconds double precision,
      events_in double precision NOT NULL DEFAULT 0,
      events_out double precision NOT NULL DEFAULT 0,
      bytes_in double precision NOT NULL DEFAULT 0,
      bytes_out double precision NOT NULL DEFAULT 0,
      errors_total double precision NOT NULL DEFAULT 0,
      events_discarded double precision NOT NULL DEFAULT 0,
      utilization double precision,
      rate_events_in double precision NOT NULL DEFAULT 0,
      rate_events_out double precision NOT NULL DEFAULT 0,
      rate_bytes_in double precision NOT NULL DEFAULT 0,
      rate_bytes_out double precision NOT NULL DEFAULT 0,
      rate_errors double precision NOT NULL DEFAULT 0,
      config_checksum text,
      restarts integer NOT NULL DEFAULT 0,
      last_error text,
      components jsonb NOT NULL DEFAULT '[]',
      status_since timestamptz NOT NULL,
      reported_at timestamptz NOT NULL,
      PRIMARY KEY (node_id, pipeline_id)
    ) WITH (fillfactor = 70);
    CREATE INDEX node_pipelines_pipeline ON node_pipelines (pipeline_id);

    -- Git

    CREATE TABLE git_bindings (
      id text PRIMARY KEY,
      environment_id text NOT NULL UNIQUE REFERENCES environments (id) ON DELETE CASCADE,
      mode text NOT NULL DEFAULT 'off' CHECK (mode IN ('off', 'observe', 'sync', 'push')),
      forge text NOT NULL DEFAULT 'embedded' CHECK (forge IN ('embedded', 'github', 'gitlab', 'gitea', 'bitbucket', 'none')),
      repository_url text NOT NULL DEFAULT 'embedded',
      ref text NOT NULL DEFAULT 'main',
      path text NOT NULL DEFAULT '',
      shared_paths jsonb NOT NULL DEFAULT '["shared", "tests"]',
      sealed_credentials text,
      interval_seconds integer NOT NULL DEFAULT 60,
      -- Guards, prune, self-heal, ownership: what the binding allows; a manifest may only tighten it.
      policy jsonb NOT NULL DEFAULT '{}',
      suspended_at timestamptz,
      head_commit jsonb,
      applied_commit jsonb,
      last_pass_at timestamptz,
      last_error text,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );

    -- The inventory: every manifest that the binding's tree holds or once applied.
    CREATE TABLE git_manifests (
      binding_id text NOT NULL REFERENCES git_bindings (id) ON DELETE CASCADE,
      kind text NOT NULL,
      -- Case-folded name: the identity.
      name_key text NOT NULL,
      name text NOT NULL,
      uid text,
      path text NOT NULL,
      line integer NOT NULL,
      object_id text,
      -- The spec that was last applied, and the spec that git holds.
      applied_hash text,
      applied_commit text,
      seen_hash text,
      seen_commit text,
      prune_policy text NOT NULL DEFAULT 'auto' CHECK (prune_policy IN ('auto', 'confirm', 'never')),
      -- Left the tree and waits for somebody's word.
      prune_pending boolean NOT NULL DEFAULT false,
      conditions jsonb NOT NULL DEFAULT '[]',
      updated_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (binding_id, kind, name_key)
    );
    CREATE INDEX git_manifests_object ON git_manifests (object_id);

    CREATE TABLE git_import_errors (
      id text PRIMARY KEY,
      binding_id text NOT NULL REFERENCES git_bindings (id) ON DELETE CASCADE,
      path text NOT NULL,
      line integer,
      column_number integer,
      kind text,
      name text,
      stage text NOT NULL,
      message text NOT NULL,
      hint text NOT NULL,
      commit_sha text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX git_import_errors_binding ON git_import_errors (binding_id);

    CREATE TABLE git_jobs (
      id text PRIMARY KEY,
      binding_id text NOT NULL REFERENCES git_bindings (id) ON DELETE CASCADE,
      type text NOT NULL CHECK (type IN ('pass', 'write-back', 'forge')),
      status text NOT NULL CHECK (status IN ('pending', 'completed', 'failed')),
      outcome text,
      trigger text NOT NULL,
      commit_info jsonb,
      counts jsonb NOT NULL DEFAULT '{}',
      report jsonb NOT NULL DEFAULT '[]',
      error text,
      plan_hash text,
      queued_at timestamptz NOT NULL DEFAULT now(),
      started_at timestamptz,
      finished_at timestamptz
    );
    CREATE INDEX git_jobs_binding ON git_jobs (binding_id, queued_at DESC);

    -- An operator's word that git shall not re-apply one exact spec.
    CREATE TABLE git_holds (
      id text PRIMARY KEY,
      binding_id text NOT NULL REFERENCES git_bindings (id) ON DELETE CASCADE,
      kind text NOT NULL,
      name_key text NOT NULL,
      spec_hash text NOT NULL,
      reason text NOT NULL,
      created_by_id text REFERENCES users (id) ON DELETE SET NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      released_at timestamptz
    );

    -- Audit

    CREATE TABLE audit_log (
      id text PRIMARY KEY,
      -- Given by one chainer in commit order; null until then.
      seq bigint,
      prev_hash text,
      hash text,
      actor_type text NOT NULL CHECK (actor_type IN ('user', 'service_account', 'git', 'scim', 'system')),
      user_id text,
      user_email text,
      action text NOT NULL,
      entity_type text NOT NULL,
      entity_id text,
      diff jsonb,
      metadata jsonb,
      ip_address text,
      team_id text,
      environment_id text,
      commit_sha text,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX audit_log_seq_unique ON audit_log (seq) WHERE seq IS NOT NULL;
    CREATE INDEX audit_log_created ON audit_log (created_at DESC);
    CREATE INDEX audit_log_environment ON audit_log (environment_id, created_at DESC);
  `);
}
