/** Backups: where they are stored and when they are made, and each run that makes, verifies or restores one. */
import type { Knex } from 'knex';

export const name = '0050-backups';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- One row at most.
    CREATE TABLE backup_settings (
      id text NOT NULL CONSTRAINT backup_settings_pkey PRIMARY KEY
        CONSTRAINT backup_settings_id_check CHECK (id = 'backups'),
      backend text NOT NULL DEFAULT 'local'
        CONSTRAINT backup_settings_backend_check CHECK (backend IN ('local', 's3')),
      bucket text,
      region text,
      prefix text NOT NULL DEFAULT '',
      endpoint text,
      access_key_id text,
      sealed_secret_access_key text,
      schedule_enabled boolean NOT NULL DEFAULT false,
      cron text NOT NULL DEFAULT '0 3 * * *',
      retention_count integer NOT NULL DEFAULT 7,
      -- Up to when the schedule was followed: what was due since then is made up for once.
      scheduled_through timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE TABLE backup_runs (
      id text NOT NULL CONSTRAINT backup_runs_pkey PRIMARY KEY,
      kind text NOT NULL CONSTRAINT backup_runs_kind_check CHECK (kind IN ('create', 'restore', 'verify')),
      status text NOT NULL DEFAULT 'RUNNING'
        CONSTRAINT backup_runs_status_check CHECK (status IN ('RUNNING', 'COMPLETED', 'FAILED')),
      triggered_by text NOT NULL
        CONSTRAINT backup_runs_triggered_by_check CHECK (triggered_by IN ('manual', 'scheduled', 'command')),
      filename text NOT NULL,
      -- A name, since the account may be gone after a restore.
      requested_by text NOT NULL,
      phase text NOT NULL DEFAULT '',
      tables_done integer NOT NULL DEFAULT 0,
      tables_total integer NOT NULL DEFAULT 0,
      rows bigint NOT NULL DEFAULT 0,
      bytes bigint NOT NULL DEFAULT 0,
      size bigint,
      error text,
      started_at timestamptz NOT NULL DEFAULT now(),
      finished_at timestamptz
    );
    -- One at a time.
    CREATE UNIQUE INDEX backup_runs_one_running ON backup_runs ((true)) WHERE status = 'RUNNING';
    CREATE INDEX backup_runs_started ON backup_runs (started_at DESC);
  `);
}
