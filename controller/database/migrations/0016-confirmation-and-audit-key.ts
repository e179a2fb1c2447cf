/** When a session last gave its password, the key of the audit chain, and which service account created a version. */
import type { Knex } from 'knex';

export const name = '0016-confirmation-and-audit-key';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- At sign-in, and whenever the password was given again. Null for sessions from before this migration.
    ALTER TABLE sessions ADD COLUMN confirmed_at timestamptz;

    -- At most one row: the key of the audit chain, sealed together with the event after which it counts.
    CREATE TABLE audit_keys (
      id text PRIMARY KEY DEFAULT 'chain' CHECK (id = 'chain'),
      sealed_key text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    -- HMAC-SHA256 by that key. Null for events that were numbered before there was one.
    ALTER TABLE audit_log ADD COLUMN mac text;

    -- A controller of the version before knows no key: its numbers wait for a leader that does.
    CREATE FUNCTION refuse_audit_without_mac() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (SELECT 1 FROM audit_keys) THEN
        RAISE EXCEPTION 'the audit log has a key, which this controller does not know; a newer one numbers it';
      END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER audit_log_has_mac BEFORE UPDATE OF seq ON audit_log FOR EACH ROW
      WHEN (NEW.seq IS NOT NULL AND NEW.mac IS NULL) EXECUTE FUNCTION refuse_audit_without_mac();

    ALTER TABLE pipeline_versions
      -- Of a service account, which may be deleted since: no reference. created_by_id names users.
      ADD COLUMN created_by_account_id text,
      ADD COLUMN created_by_account_name text,
      DROP CONSTRAINT pipeline_versions_source_check,
      ADD CONSTRAINT pipeline_versions_source_check CHECK (source IN ('ui', 'git', 'api'));
  `);
}
