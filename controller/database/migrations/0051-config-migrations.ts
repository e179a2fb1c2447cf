/** Migrations: configurations of another product, their blocks, and what each became. */
import type { Knex } from 'knex';

export const name = '0051-config-migrations';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE config_migrations (
      id text NOT NULL CONSTRAINT config_migrations_pkey PRIMARY KEY,
      team_id text NOT NULL CONSTRAINT config_migrations_team_fkey REFERENCES teams (id) ON DELETE CASCADE,
      name text NOT NULL,
      platform text NOT NULL CONSTRAINT config_migrations_platform_check CHECK (platform IN ('FLUENTD')),
      status text NOT NULL DEFAULT 'CREATED' CONSTRAINT config_migrations_status_check
        CHECK (status IN ('CREATED', 'PARSED', 'TRANSLATED', 'VALIDATED', 'GENERATED')),
      -- The whole text: it may hold passwords.
      sealed_original text NOT NULL,
      -- Of the text before it was sealed.
      bytes integer NOT NULL,
      -- Without their text, which is read from the original by their lines.
      blocks jsonb NOT NULL DEFAULT '[]',
      problems jsonb NOT NULL DEFAULT '[]',
      -- By block.
      translations jsonb NOT NULL DEFAULT '[]',
      -- Null where none stands for what the translations are now.
      validation jsonb,
      -- What was made of it: a pipeline, or a pull request with its manifest.
      generated_name text,
      generated_by text,
      generated_at timestamptz,
      environment_id text CONSTRAINT config_migrations_environment_fkey REFERENCES environments (id) ON DELETE SET NULL,
      pipeline_id text CONSTRAINT config_migrations_pipeline_fkey REFERENCES pipelines (id) ON DELETE SET NULL,
      pull_request_id text CONSTRAINT config_migrations_pull_request_fkey
        REFERENCES pull_requests (id) ON DELETE SET NULL,
      revision integer NOT NULL DEFAULT 1,
      created_by text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX config_migrations_name_unique ON config_migrations (team_id, lower(name));
    CREATE INDEX config_migrations_environment ON config_migrations (environment_id) WHERE environment_id IS NOT NULL;
    CREATE INDEX config_migrations_pipeline ON config_migrations (pipeline_id) WHERE pipeline_id IS NOT NULL;
    CREATE INDEX config_migrations_pull_request ON config_migrations (pull_request_id)
      WHERE pull_request_id IS NOT NULL;
  `);
}
