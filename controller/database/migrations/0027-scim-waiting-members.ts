/** Members of SCIM groups who are not here yet, and the requests of SCIM that were refused last. */
import type { Knex } from 'knex';

export const name = '0027-scim-waiting-members';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE scim_waiting_members (
      group_id text NOT NULL REFERENCES directory_groups (id) ON DELETE CASCADE,
      -- As the provider named the member: an id, or by mistake an externalId or a userName.
      value text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (group_id, value)
    );
    CREATE INDEX scim_waiting_members_value ON scim_waiting_members (lower(value));
    CREATE TABLE scim_refusals (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      created_at timestamptz NOT NULL,
      method text NOT NULL,
      path text NOT NULL,
      status integer NOT NULL,
      scim_type text,
      detail text NOT NULL
    );
  `);
}
