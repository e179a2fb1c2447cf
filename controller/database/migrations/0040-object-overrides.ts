/**
 * Renames `git_object_words` to `object_overrides`, and the columns that hold the actions of plans.
 *
 * Controllers of the version before may run on for a moment. They read and write by the old names meanwhile: the table through
 * a view that PostgreSQL updates by itself, the columns through a trigger that keeps old and new equal. A later version drops
 * the view, the triggers and the old columns.
 */
import type { Knex } from 'knex';

export const name = '0040-object-overrides';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE git_object_words RENAME TO object_overrides;
    ALTER TABLE object_overrides RENAME COLUMN word TO action;
    ALTER TABLE object_overrides RENAME COLUMN said_by_id TO set_by_id;
    ALTER TABLE object_overrides RENAME COLUMN said_by TO set_by;
    ALTER TABLE object_overrides RENAME COLUMN said_at TO set_at;
    -- Since PostgreSQL 18 NOT NULL is a constraint with a name, too.
    DO $$
    DECLARE old text;
    BEGIN
      FOR old IN SELECT conname FROM pg_constraint WHERE conrelid = 'object_overrides'::regclass LOOP
        EXECUTE format('ALTER TABLE object_overrides RENAME CONSTRAINT %I TO %I', old,
          replace(replace(replace(old, 'git_object_words', 'object_overrides'), '_said_', '_set_'), '_word_', '_action_'));
      END LOOP;
    END $$;
    CREATE VIEW git_object_words AS
      SELECT binding_id, kind, name_key, action AS word, reason, set_by_id AS said_by_id, set_by AS said_by, set_at AS said_at
      FROM object_overrides;

    ALTER FUNCTION refuse_audit_without_mac() RENAME TO reject_audit_without_mac;
  `);
  await renameActions(db, { table: 'git_approvals', old: 'deeds', column: 'actions' });
  await renameActions(db, { table: 'git_bindings', old: 'waiting_deeds', column: 'waiting_actions' });
}

/** Adds `column` beside `old`. Whichever of the two a statement changes is copied to the other. */
async function renameActions(
  db: Knex,
  { table, old, column }: { table: string; old: string; column: string },
): Promise<void> {
  await db.raw(`
    ALTER TABLE ${table} ADD COLUMN ${column} text[] NOT NULL DEFAULT '{}';
    UPDATE ${table} SET ${column} = ${old} WHERE ${old} <> '{}';
    CREATE FUNCTION ${table}_copy_${column}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'INSERT' THEN
        IF NEW.${column} = '{}' THEN NEW.${column} := NEW.${old}; ELSE NEW.${old} := NEW.${column}; END IF;
      ELSIF NEW.${column} IS DISTINCT FROM OLD.${column} THEN
        NEW.${old} := NEW.${column};
      ELSE
        NEW.${column} := NEW.${old};
      END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER copy_${column} BEFORE INSERT OR UPDATE OF ${old}, ${column} ON ${table}
      FOR EACH ROW EXECUTE FUNCTION ${table}_copy_${column}();
  `);
}
