/** Keys for programs. A key works within one environment, with the permissions that it was made with. */
import type { Knex } from 'knex';

export const name = '0004-service-accounts';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE service_accounts (
      id text PRIMARY KEY,
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      name text NOT NULL,
      description text,
      -- SHA-256 of the key's secret part.
      key_hash bytea NOT NULL,
      permissions jsonb NOT NULL,
      created_by_id text REFERENCES users (id) ON DELETE SET NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz,
      revoked_at timestamptz,
      last_used_at timestamptz
    );
    CREATE UNIQUE INDEX service_accounts_name_unique ON service_accounts (environment_id, lower(name))
      WHERE revoked_at IS NULL;
  `);
}
