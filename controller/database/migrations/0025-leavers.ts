/** When an identity provider last confirmed somebody, and how it is asked again; which session at the provider one began with. */
import type { Knex } from 'knex';

export const name = '0025-leavers';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- Tokens without an end get one, counted from the upgrade so that none stops at once.
    UPDATE personal_tokens SET expires_at = now() + interval '90 days' WHERE expires_at IS NULL;

    ALTER TABLE user_identities
      ADD COLUMN id text NOT NULL DEFAULT gen_random_uuid()::text,
      -- At a sign-in or a refresh. Accounts from before the upgrade have a whole period from it.
      ADD COLUMN confirmed_at timestamptz NOT NULL DEFAULT now(),
      -- The provider refused to confirm; the next sign-in empties it.
      ADD COLUMN withdrawn_at timestamptz,
      ADD COLUMN sealed_refresh_token text,
      -- It outlives the session at the provider (offline_access): a refusal then says that the person is gone.
      ADD COLUMN refresh_is_offline boolean NOT NULL DEFAULT false,
      ADD COLUMN refresh_due_at timestamptz,
      -- A refresh whose answer was not stored: the token may have been replaced at the provider.
      ADD COLUMN refresh_began_at timestamptz,
      ADD CONSTRAINT user_identities_id_unique UNIQUE (id);
    CREATE INDEX user_identities_refresh ON user_identities (refresh_due_at) WHERE sealed_refresh_token IS NOT NULL;
    CREATE INDEX user_identities_confirmed ON user_identities (confirmed_at);

    ALTER TABLE sessions
      -- Who signed in, and in which session at the provider: what a back-channel logout names.
      ADD COLUMN provider_issuer text,
      ADD COLUMN provider_subject text,
      ADD COLUMN provider_sid text;
    CREATE INDEX sessions_provider_subject ON sessions (provider_subject) WHERE provider_subject IS NOT NULL;
    CREATE INDEX sessions_provider_sid ON sessions (provider_sid) WHERE provider_sid IS NOT NULL;

    ALTER TABLE users
      -- A super admin unlinked it: the next sign-in with its verified address is joined to it.
      ADD COLUMN relink_allowed_at timestamptz;
  `);
}
