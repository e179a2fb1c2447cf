/** The other two kinds that git owns, and the notes of what changed behind the git reconciler's back. */
import type { Knex } from 'knex';

export const name = '0002-alert-rules-and-node-groups';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE alert_rules (
      id text PRIMARY KEY,
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      name text NOT NULL,
      uid text,
      labels jsonb NOT NULL DEFAULT '{}',
      managed_by text NOT NULL DEFAULT 'ui' CHECK (managed_by IN ('ui', 'git')),
      -- The manifest's semantic hash where git made it.
      spec_hash text,
      -- Null watches the whole environment, so a rule must not outlive its pipeline.
      pipeline_id text REFERENCES pipelines (id) ON DELETE CASCADE,
      metric text NOT NULL,
      condition text NOT NULL CHECK (condition IN ('gt', 'lt', 'eq')),
      threshold double precision NOT NULL,
      duration_seconds integer NOT NULL DEFAULT 60,
      enabled boolean NOT NULL DEFAULT true,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      tombstoned_at timestamptz
    );
    CREATE UNIQUE INDEX alert_rules_name_unique ON alert_rules (environment_id, lower(name)) WHERE tombstoned_at IS NULL;
    CREATE UNIQUE INDEX alert_rules_uid_unique ON alert_rules (environment_id, uid)
      WHERE tombstoned_at IS NULL AND uid IS NOT NULL;
    CREATE INDEX alert_rules_pipeline ON alert_rules (pipeline_id);

    CREATE TABLE node_groups (
      id text PRIMARY KEY,
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      name text NOT NULL,
      uid text,
      labels jsonb NOT NULL DEFAULT '{}',
      managed_by text NOT NULL DEFAULT 'ui' CHECK (managed_by IN ('ui', 'git')),
      spec_hash text,
      -- A node belongs when its own labels carry every pair.
      criteria jsonb NOT NULL DEFAULT '{}',
      label_template jsonb NOT NULL DEFAULT '{}',
      required_labels jsonb NOT NULL DEFAULT '[]',
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      tombstoned_at timestamptz
    );
    CREATE UNIQUE INDEX node_groups_name_unique ON node_groups (environment_id, lower(name)) WHERE tombstoned_at IS NULL;
    CREATE UNIQUE INDEX node_groups_uid_unique ON node_groups (environment_id, uid)
      WHERE tombstoned_at IS NULL AND uid IS NOT NULL;

    -- Of the manifest that git applied last. Null once anybody else has changed the row, by SQL too: that is drift.
    ALTER TABLE pipelines ADD COLUMN spec_hash text;
    UPDATE pipelines p SET spec_hash = v.spec_hash FROM pipeline_versions v
      WHERE v.id = p.latest_version_id AND p.managed_by = 'git';

    CREATE FUNCTION forget_spec_hash() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF current_setting('headgate.reconciler', true) IS DISTINCT FROM 'on' THEN NEW.spec_hash := NULL; END IF;
      RETURN NEW;
    END $$;

    -- What of a manifest is not its spec (labels, uid, editor data), as it was applied.
    ALTER TABLE git_manifests ADD COLUMN applied_meta text;

    -- The git reconciler keeps its inventory in memory between passes. Whoever else changes what a pass looks at, by SQL
    -- too, leaves a row here in the same transaction; a pass takes the rows away and reads everything again. Rows and no
    -- counter: writers must not queue for one row.
    CREATE TABLE object_changes (
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX object_changes_environment ON object_changes (environment_id);

    CREATE FUNCTION note_object_changes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      -- Set by the reconciler in its own transactions: it knows what it wrote.
      IF current_setting('headgate.reconciler', true) = 'on' THEN RETURN NULL; END IF;
      INSERT INTO object_changes (environment_id)
      SELECT DISTINCT b.environment_id FROM changed c JOIN git_bindings b ON b.environment_id = c.environment_id
      WHERE b.mode <> 'off';
      RETURN NULL;
    END $$;

    -- A rule names its pipeline and holds its id: it is looked at again when the name has come to be another's.
    CREATE FUNCTION resolve_rules_again() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE alert_rules SET spec_hash = NULL
      WHERE pipeline_id = NEW.id AND managed_by = 'git' AND spec_hash IS NOT NULL;
      IF FOUND THEN INSERT INTO object_changes (environment_id) VALUES (NEW.environment_id); END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER resolve_rules_again AFTER UPDATE OF name, tombstoned_at ON pipelines
      FOR EACH ROW WHEN (OLD.name <> NEW.name OR OLD.tombstoned_at IS DISTINCT FROM NEW.tombstoned_at)
      EXECUTE FUNCTION resolve_rules_again();

    CREATE FUNCTION note_manifest_changes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF current_setting('headgate.reconciler', true) = 'on' THEN RETURN NULL; END IF;
      INSERT INTO object_changes (environment_id)
      SELECT DISTINCT b.environment_id FROM changed c JOIN git_bindings b ON b.id = c.binding_id
      WHERE b.mode <> 'off';
      RETURN NULL;
    END $$;
  `);
  for (const table of ['pipelines', 'alert_rules', 'node_groups']) {
    await db.raw(
      `CREATE TRIGGER forget_spec_hash BEFORE UPDATE ON ${table}
       FOR EACH ROW WHEN (NEW.managed_by = 'git') EXECUTE FUNCTION forget_spec_hash()`,
    );
  }
  // Transition tables allow one event a trigger.
  for (const table of ['pipelines', 'alert_rules', 'node_groups', 'secrets', 'git_manifests']) {
    const noter = table === 'git_manifests' ? 'note_manifest_changes' : 'note_object_changes';
    for (const [event, side] of [
      ['INSERT', 'NEW'],
      ['UPDATE', 'NEW'],
      ['DELETE', 'OLD'],
    ] as const) {
      await db.raw(
        `CREATE TRIGGER note_${event.toLowerCase()} AFTER ${event} ON ${table}
         REFERENCING ${side} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION ${noter}()`,
      );
    }
  }
}
