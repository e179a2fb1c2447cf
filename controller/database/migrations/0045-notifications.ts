/**
 * Notifications: endpoints that alerts are sent to, deliveries, and which alerts are open.
 *
 * A lane is what is delivered in order: the deliveries of one rule at one endpoint, by `seq`. The body of a delivery is set
 * at its first try and stays; until then further events may join. Texts in `notice` and `body` hold no secret.
 */
import type { Knex } from 'knex';

export const name = '0045-notifications';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE webhook_endpoints (
      id text PRIMARY KEY,
      -- One of the two: an endpoint of a whole team, with a name, or of one environment.
      team_id text REFERENCES teams (id) ON DELETE CASCADE,
      environment_id text REFERENCES environments (id) ON DELETE CASCADE,
      name text,
      format text NOT NULL DEFAULT 'standard',
      -- Metrics of rules; those of an environment's endpoint are all.
      event_types text[] NOT NULL DEFAULT '{}',
      sealed_url text NOT NULL,
      sealed_secret text,
      sealed_previous_secret text,
      previous_secret_until timestamptz,
      -- JSON, name to value.
      sealed_headers text,
      header_names text[] NOT NULL DEFAULT '{}',
      enabled boolean NOT NULL DEFAULT true,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT webhook_endpoints_owner CHECK ((team_id IS NULL) <> (environment_id IS NULL)),
      CONSTRAINT webhook_endpoints_named CHECK ((team_id IS NULL) = (name IS NULL))
    );
    CREATE UNIQUE INDEX webhook_endpoints_name_unique ON webhook_endpoints (team_id, lower(name));
    CREATE INDEX webhook_endpoints_environment ON webhook_endpoints (environment_id);

    CREATE TABLE notification_deliveries (
      id text PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      endpoint_id text NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
      -- The id of the rule; that of the delivery for a test.
      lane text NOT NULL,
      kind text NOT NULL CHECK (kind IN ('firing', 'resolved', 'test')),
      -- Repeats alerts that are still open, for receivers that forget them.
      repeats boolean NOT NULL DEFAULT false,
      state text NOT NULL CHECK (state IN ('collecting', 'waiting', 'delivered', 'failed')),
      total integer NOT NULL,
      body text,
      -- Of the body.
      format text,
      attempts integer NOT NULL DEFAULT 0,
      next_at timestamptz,
      last_attempt_at timestamptz,
      last_status integer,
      last_error text,
      last_duration_ms integer,
      created_at timestamptz NOT NULL,
      finished_at timestamptz
    );
    CREATE INDEX notification_deliveries_unfinished ON notification_deliveries (endpoint_id, lane, seq)
      WHERE state IN ('collecting', 'waiting');
    CREATE INDEX notification_deliveries_endpoint ON notification_deliveries (endpoint_id, seq);
    CREATE INDEX notification_deliveries_finished ON notification_deliveries (finished_at)
      WHERE state IN ('delivered', 'failed');

    CREATE TABLE notification_delivery_events (
      delivery_id text NOT NULL REFERENCES notification_deliveries (id) ON DELETE CASCADE,
      event_id text NOT NULL,
      position integer NOT NULL,
      status text NOT NULL CHECK (status IN ('firing', 'resolved')),
      notice jsonb NOT NULL,
      CONSTRAINT notification_delivery_events_pkey PRIMARY KEY (delivery_id, event_id)
    );

    -- The notice by which each open alert fired.
    CREATE TABLE notification_open_events (
      event_id text PRIMARY KEY,
      rule_id text NOT NULL,
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      metric text NOT NULL,
      fired_at timestamptz NOT NULL,
      notice jsonb NOT NULL
    );
    CREATE INDEX notification_open_events_rule ON notification_open_events (rule_id);
    CREATE INDEX notification_open_events_environment ON notification_open_events (environment_id);
  `);
}
