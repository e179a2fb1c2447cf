/** Several identity providers side by side, what else is said of each, and what of an account or a session is theirs. */
import type { Knex } from 'knex';

export const name = '0034-identity-providers';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- A row a provider from now on; that of before keeps its id.
    ALTER TABLE oidc_settings
      DROP CONSTRAINT oidc_settings_id_check,
      ADD CONSTRAINT oidc_settings_id_check CHECK (id ~ '^[a-z0-9][a-z0-9-]{0,39}$'),
      -- In the order of the sign-in page.
      ADD COLUMN position integer NOT NULL DEFAULT 0,
      ADD COLUMN options jsonb NOT NULL DEFAULT '{}',
      -- Of HEADGATE_OIDC_FILE, and changed there.
      ADD COLUMN is_from_file boolean NOT NULL DEFAULT false,
      ADD CONSTRAINT oidc_settings_issuer_unique UNIQUE (issuer);

    -- What administrators are told of sign-ins: the last of each kind.
    CREATE TABLE oidc_reports (
      provider_id text NOT NULL REFERENCES oidc_settings (id) ON DELETE CASCADE,
      kind text NOT NULL CHECK (kind IN ('failure', 'warning')),
      message text NOT NULL,
      at timestamptz NOT NULL,
      PRIMARY KEY (provider_id, kind)
    );

    -- Whose sign-in told of a membership: two providers may name the same group. Empty for SCIM.
    ALTER TABLE directory_group_members ADD COLUMN issuer text NOT NULL DEFAULT '';
    UPDATE directory_group_members m SET issuer = o.issuer FROM directory_groups g, oidc_settings o
      WHERE g.id = m.group_id AND g.source = 'oidc';
    ALTER TABLE directory_group_members
      DROP CONSTRAINT directory_group_members_pkey,
      ADD PRIMARY KEY (group_id, user_id, issuer);

    -- Groups whose path names the team.
    CREATE TABLE team_mapping_patterns (
      pattern text PRIMARY KEY,
      role text NOT NULL CHECK (role IN ('VIEWER', 'EDITOR', 'ADMIN')),
      position integer NOT NULL
    );

    ALTER TABLE users
      -- The provider whose group makes this account a super admin; null where somebody did.
      ADD COLUMN super_admin_by text,
      -- Signs in by password though only providers are to be used.
      ADD COLUMN is_break_glass boolean NOT NULL DEFAULT false;

    ALTER TABLE sessions
      -- How a second factor was shown in it. Sessions from before the upgrade are taken to have one.
      ADD COLUMN second_factor text CHECK (second_factor IN ('provider', 'totp'));
    UPDATE sessions SET second_factor = 'provider' WHERE method = 'oidc';
  `);
}
