/** Second factors, identity providers, groups, SCIM; and what the audit log is asked for. */
import type { Knex } from 'knex';

export const name = '0009-people';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE users
      -- Who locked it. Null where somebody did before this was noted: as 'admin'. SCIM lifts no lock but its own.
      ADD COLUMN locked_by text CHECK (locked_by IN ('admin', 'scim')),
      -- Set with a password that somebody else has seen: it signs in for nothing but its own change, until it expires.
      ADD COLUMN must_change_password boolean NOT NULL DEFAULT false,
      ADD COLUMN password_expires_at timestamptz,
      ADD COLUMN password_changed_at timestamptz,
      ADD COLUMN last_sign_in_at timestamptz,
      -- Of the authenticator; it counts once totp_enabled is set.
      ADD COLUMN sealed_totp_secret text,
      -- The last 30 s step whose code was taken: each is taken once.
      ADD COLUMN totp_last_step bigint;
    -- failed_sign_ins and throttled_until are not used any more: sign_in_throttles is. Controllers of the version before are.

    CREATE TABLE totp_backup_codes (
      user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      code_hash bytea NOT NULL,
      used_at timestamptz,
      PRIMARY KEY (user_id, code_hash)
    );

    -- Failed sign-ins by account and by address, of accounts that do not exist too. Shared by all controllers.
    CREATE TABLE sign_in_throttles (
      key text PRIMARY KEY,
      failures integer NOT NULL,
      -- The count begins anew then.
      window_ends_at timestamptz NOT NULL,
      blocked_until timestamptz
    );

    ALTER TABLE sessions
      ADD COLUMN method text NOT NULL DEFAULT 'password' CHECK (method IN ('password', 'oidc')),
      ADD COLUMN last_seen_at timestamptz,
      -- What the identity provider is shown at sign-out.
      ADD COLUMN sealed_id_token text;

    ALTER TABLE team_members
      -- False where an ADMIN of the team put somebody in by their address: that makes the account none of the team's.
      ADD COLUMN vouched boolean NOT NULL DEFAULT true;

    -- Who somebody is to an identity provider.
    CREATE TABLE user_identities (
      issuer text NOT NULL,
      subject text NOT NULL,
      user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      created_at timestamptz NOT NULL DEFAULT now(),
      last_used_at timestamptz,
      PRIMARY KEY (issuer, subject)
    );
    CREATE INDEX user_identities_user ON user_identities (user_id);

    -- At most one row.
    CREATE TABLE oidc_settings (
      id text PRIMARY KEY DEFAULT 'oidc' CHECK (id = 'oidc'),
      issuer text NOT NULL,
      client_id text NOT NULL,
      -- Null for a public client.
      sealed_client_secret text,
      display_name text,
      token_endpoint_auth_method text NOT NULL,
      updated_at timestamptz NOT NULL DEFAULT now()
    );

    -- Sign-ins that came back from the identity provider: each is taken once. Kept as long as they could be.
    CREATE TABLE oidc_attempts_used (
      state_hash bytea PRIMARY KEY,
      expires_at timestamptz NOT NULL
    );

    -- Groups, of SCIM and of the claims that people signed in with; what teams they lead to.

    CREATE TABLE directory_groups (
      id text PRIMARY KEY,
      source text NOT NULL CHECK (source IN ('scim', 'oidc')),
      display_name text NOT NULL,
      external_id text,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    -- Claims are compared as they are; to SCIM two names that differ in case only are one.
    CREATE UNIQUE INDEX directory_groups_scim_name_unique ON directory_groups (lower(display_name)) WHERE source = 'scim';
    CREATE UNIQUE INDEX directory_groups_oidc_name_unique ON directory_groups (display_name) WHERE source = 'oidc';
    CREATE INDEX directory_groups_external ON directory_groups (external_id) WHERE external_id IS NOT NULL;

    CREATE TABLE directory_group_members (
      group_id text NOT NULL REFERENCES directory_groups (id) ON DELETE CASCADE,
      user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      PRIMARY KEY (group_id, user_id)
    );
    CREATE INDEX directory_group_members_user ON directory_group_members (user_id);

    CREATE TABLE team_mappings (
      group_name text NOT NULL,
      team_id text NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
      role text NOT NULL CHECK (role IN ('VIEWER', 'EDITOR', 'ADMIN')),
      position integer NOT NULL,
      PRIMARY KEY (group_name, team_id)
    );

    -- At most one row: what else is said of groups.
    CREATE TABLE group_settings (
      id text PRIMARY KEY DEFAULT 'groups' CHECK (id = 'groups'),
      default_team_id text REFERENCES teams (id) ON DELETE SET NULL,
      default_role text CHECK (default_role IN ('VIEWER', 'EDITOR', 'ADMIN')),
      group_sync_enabled boolean NOT NULL DEFAULT false,
      groups_scope text,
      groups_claim text,
      -- Names of groups, comma-separated: their role in the default team.
      admin_groups text,
      editor_groups text,
      updated_at timestamptz NOT NULL DEFAULT now()
    );

    -- SCIM

    -- At most one row.
    CREATE TABLE scim_settings (
      id text PRIMARY KEY DEFAULT 'scim' CHECK (id = 'scim'),
      enabled boolean NOT NULL DEFAULT false,
      sealed_token text,
      token_created_at timestamptz,
      last_used_at timestamptz
    );

    -- The accounts that SCIM made or adopted: it sees and touches no others.
    CREATE TABLE scim_users (
      user_id text PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
      user_name text NOT NULL,
      external_id text,
      -- What the provider says, whatever an administrator's lock says.
      active boolean NOT NULL DEFAULT true,
      -- name, displayName, emails as they were given.
      attributes jsonb NOT NULL DEFAULT '{}',
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      -- Deleted by the provider: not there to it, and brought back under the same user name.
      deleted_at timestamptz
    );
    CREATE UNIQUE INDEX scim_users_name_unique ON scim_users (lower(user_name));
    CREATE INDEX scim_users_external ON scim_users (external_id) WHERE external_id IS NOT NULL;

    -- What is asked of the audit log

    -- Pages of it, newest first. Rows come into these when they are numbered, not before.
    CREATE INDEX audit_log_team_seq ON audit_log (team_id, seq) WHERE seq IS NOT NULL;
    CREATE INDEX audit_log_user_seq ON audit_log (user_id, seq) WHERE seq IS NOT NULL;
    CREATE INDEX audit_log_action_seq ON audit_log (action, seq) WHERE seq IS NOT NULL;
    CREATE INDEX audit_log_entity_type_seq ON audit_log (entity_type, seq) WHERE seq IS NOT NULL;
    -- What git does has no team; what people do of their own has neither.
    CREATE INDEX audit_log_git_seq ON audit_log (environment_id, seq) WHERE team_id IS NULL AND seq IS NOT NULL;
    CREATE INDEX audit_log_own_seq ON audit_log (user_id, seq)
      WHERE team_id IS NULL AND environment_id IS NULL AND seq IS NOT NULL;
    -- The words that occur in a team: next to next. Few different values, so these are small.
    CREATE INDEX audit_log_team_action ON audit_log (team_id, action) WHERE seq IS NOT NULL;
    CREATE INDEX audit_log_team_entity_type ON audit_log (team_id, entity_type) WHERE seq IS NOT NULL;
    CREATE INDEX audit_log_team_user ON audit_log (team_id, user_id) WHERE seq IS NOT NULL;
  `);
}
