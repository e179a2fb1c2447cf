/**
 * Endpoints of environments may be described in git. Git holds no secret, so such a row names secrets of its environment in
 * the place of sealed texts. Those made by hand get a name, by which a manifest may adopt them.
 */
import type { Knex } from 'knex';

export const name = '0049-webhook-endpoints-in-git';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE webhook_endpoints
      ADD COLUMN uid text,
      ADD COLUMN labels jsonb NOT NULL DEFAULT '{}',
      ADD COLUMN managed_by text NOT NULL DEFAULT 'ui' CHECK (managed_by IN ('ui', 'git')),
      ADD COLUMN spec_hash text,
      -- As the manifest has it; one of these, or sealed_url.
      ADD COLUMN plain_url text,
      ADD COLUMN url_ref text,
      ADD COLUMN secret_ref text,
      -- Name to value, with placeholders of secrets.
      ADD COLUMN header_templates jsonb NOT NULL DEFAULT '{}',
      ADD COLUMN tombstoned_at timestamptz,
      ALTER COLUMN sealed_url DROP NOT NULL,
      DROP CONSTRAINT webhook_endpoints_named,
      ADD CONSTRAINT webhook_endpoints_address CHECK (num_nonnulls(sealed_url, plain_url, url_ref) = 1);

    -- By a trigger, since controllers of the version before write no name.
    CREATE FUNCTION name_webhook_endpoint() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.name := coalesce(NEW.name, 'webhook ' || lower(NEW.id));
      RETURN NEW;
    END $$;
    CREATE TRIGGER name_webhook_endpoint BEFORE INSERT OR UPDATE ON webhook_endpoints
      FOR EACH ROW EXECUTE FUNCTION name_webhook_endpoint();
    UPDATE webhook_endpoints SET name = NULL WHERE name IS NULL;

    DROP INDEX webhook_endpoints_name_unique;
    CREATE UNIQUE INDEX webhook_endpoints_name_unique ON webhook_endpoints (coalesce(team_id, environment_id), lower(name))
      WHERE tombstoned_at IS NULL;
    CREATE UNIQUE INDEX webhook_endpoints_uid_unique ON webhook_endpoints (environment_id, uid)
      WHERE tombstoned_at IS NULL AND uid IS NOT NULL;
    CREATE TRIGGER forget_spec_hash BEFORE UPDATE ON webhook_endpoints
      FOR EACH ROW WHEN (NEW.managed_by = 'git') EXECUTE FUNCTION forget_spec_hash();
  `);
  for (const [event, side] of [
    ['INSERT', 'NEW'],
    ['UPDATE', 'NEW'],
    ['DELETE', 'OLD'],
  ] as const)
    await db.raw(
      `CREATE TRIGGER note_${event.toLowerCase()} AFTER ${event} ON webhook_endpoints
       REFERENCING ${side} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_object_changes()`,
    );
}
