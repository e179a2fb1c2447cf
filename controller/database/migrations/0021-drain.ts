/**
 * How long an engine may deliver what it holds when it is stopped, and what nodes report of that: what was left at the last
 * stop, what is being drained, what the engine warned of, and which part of it does not run.
 */
import type { Knex } from 'knex';

export const name = '0021-drain';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE pipelines ADD COLUMN drain_seconds integer CHECK (drain_seconds BETWEEN 1 AND 600);
    ALTER TABLE pipeline_versions ADD COLUMN drain_seconds integer CHECK (drain_seconds BETWEEN 1 AND 600);
    ALTER TABLE node_pipelines
      ADD COLUMN degraded text,
      ADD COLUMN warnings jsonb NOT NULL DEFAULT '[]',
      ADD COLUMN draining jsonb,
      ADD COLUMN last_drain jsonb;
  `);
}
