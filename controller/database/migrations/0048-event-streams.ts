/** Streams: where the audit log and alert events are sent as they happen, and how far each has come. */
import type { Knex } from 'knex';

export const name = '0048-event-streams';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE event_streams (
      id text NOT NULL CONSTRAINT event_streams_pkey PRIMARY KEY,
      name text NOT NULL,
      source text NOT NULL CONSTRAINT event_streams_source_check CHECK (source IN ('audit', 'alerts')),
      kind text NOT NULL CONSTRAINT event_streams_kind_check CHECK (kind IN ('webhook', 'otlp')),
      url text NOT NULL,
      -- A JSON object of names and values; the names are those that users see.
      sealed_headers text,
      header_names jsonb NOT NULL DEFAULT '[]',
      sealed_signing_secret text,
      enabled boolean NOT NULL DEFAULT true,
      -- The number of the last entry that was taken; batch_end is that of the batch that is under way.
      cursor bigint NOT NULL,
      batch_end bigint,
      delivered bigint NOT NULL DEFAULT 0,
      last_delivered_at timestamptz,
      last_error text,
      last_error_at timestamptz,
      -- In a row.
      failures integer NOT NULL DEFAULT 0,
      -- Entries that were never taken: deleted by the retention before, or refused one by one.
      missed bigint NOT NULL DEFAULT 0,
      missed_reason text,
      missed_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    ) WITH (fillfactor = 60);
    CREATE UNIQUE INDEX event_streams_name_unique ON event_streams (lower(name));
  `);
}
