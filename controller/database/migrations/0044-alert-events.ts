/**
 * Alerts: what each rule has found. A row of `alert_states` stands for a subject (a node, a pipeline, or a pipeline on a node)
 * whose condition holds; an event begins when it has held for long enough. Ids of rules, nodes and
 * pipelines are no foreign keys: the history of an event stays when they are deleted.
 */
import type { Knex } from 'knex';

export const name = '0044-alert-events';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE alert_events (
      id text PRIMARY KEY,
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      rule_id text NOT NULL,
      subject text NOT NULL,
      rule_name text NOT NULL,
      metric text NOT NULL,
      condition text NOT NULL,
      threshold double precision NOT NULL,
      duration_seconds integer NOT NULL,
      node_id text,
      node_name text,
      node_labels jsonb,
      pipeline_id text,
      pipeline_name text,
      status text NOT NULL CHECK (status IN ('firing', 'acknowledged', 'resolved')),
      message text NOT NULL,
      value double precision,
      -- The value that was farthest beyond the threshold.
      peak double precision,
      -- How often it has fired: an event that fires again soon after it was resolved is opened again.
      times integer NOT NULL DEFAULT 1,
      fired_at timestamptz NOT NULL,
      -- When it last fired; the same as fired_at until it is opened again.
      opened_at timestamptz NOT NULL,
      resolved_at timestamptz,
      resolved_reason text,
      acknowledged_at timestamptz,
      acknowledged_by text,
      -- What mutes it now: 'maintenance', or the id of a silence.
      muted_by text,
      -- Whether its firing was sent and its resolution was not yet.
      notified boolean NOT NULL DEFAULT false
    );
    CREATE UNIQUE INDEX alert_events_open ON alert_events (rule_id, subject) WHERE status <> 'resolved';
    CREATE INDEX alert_events_environment_open ON alert_events (environment_id) WHERE status <> 'resolved';
    CREATE INDEX alert_events_environment ON alert_events (environment_id, opened_at DESC, id DESC);
    CREATE INDEX alert_events_rule ON alert_events (rule_id, subject, resolved_at);
    CREATE INDEX alert_events_pipeline ON alert_events (pipeline_id, opened_at);
    CREATE INDEX alert_events_node ON alert_events (node_id, opened_at);
    CREATE INDEX alert_events_resolved ON alert_events (resolved_at) WHERE status = 'resolved';

    -- The timeline of an event.
    CREATE TABLE alert_event_changes (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      event_id text NOT NULL REFERENCES alert_events (id) ON DELETE CASCADE,
      at timestamptz NOT NULL,
      kind text NOT NULL CHECK (kind IN ('fired', 'fired_again', 'acknowledged', 'muted', 'unmuted', 'resolved')),
      value double precision,
      -- Why, or what a user wrote.
      note text,
      user_email text
    );
    CREATE INDEX alert_event_changes_event ON alert_event_changes (event_id, id);

    CREATE TABLE alert_states (
      rule_id text NOT NULL REFERENCES alert_rules (id) ON DELETE CASCADE,
      subject text NOT NULL,
      -- Since when the condition holds; since when it has not held any more while an event is open.
      since timestamptz,
      clear_since timestamptz,
      -- Evaluations in a row without a value.
      missing smallint NOT NULL DEFAULT 0,
      CONSTRAINT alert_states_pkey PRIMARY KEY (rule_id, subject)
    );

    -- What the last evaluation of a rule saw; apart from the rule, whose changes are noted as drift.
    CREATE TABLE alert_rule_evaluations (
      rule_id text PRIMARY KEY REFERENCES alert_rules (id) ON DELETE CASCADE,
      evaluated_at timestamptz NOT NULL,
      series integer NOT NULL,
      with_value integer NOT NULL,
      pending integer NOT NULL,
      firing integer NOT NULL
    );

    CREATE TABLE alert_silences (
      id text PRIMARY KEY,
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      name text NOT NULL,
      uid text,
      labels jsonb NOT NULL DEFAULT '{}',
      managed_by text NOT NULL DEFAULT 'ui' CHECK (managed_by IN ('ui', 'git')),
      spec_hash text,
      -- Each label with the value that an event must carry.
      matchers jsonb NOT NULL,
      reason text NOT NULL,
      starts_at timestamptz NOT NULL,
      ends_at timestamptz NOT NULL,
      created_by text,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      tombstoned_at timestamptz,
      CONSTRAINT alert_silences_period CHECK (starts_at < ends_at)
    );
    CREATE UNIQUE INDEX alert_silences_name_unique ON alert_silences (environment_id, lower(name)) WHERE tombstoned_at IS NULL;
    CREATE UNIQUE INDEX alert_silences_uid_unique ON alert_silences (environment_id, uid)
      WHERE tombstoned_at IS NULL AND uid IS NOT NULL;
    CREATE INDEX alert_silences_environment ON alert_silences (environment_id, ends_at);
    CREATE INDEX alert_silences_ends ON alert_silences (ends_at);
    CREATE TRIGGER forget_spec_hash BEFORE UPDATE ON alert_silences
      FOR EACH ROW WHEN (NEW.managed_by = 'git') EXECUTE FUNCTION forget_spec_hash();
  `);
  for (const [event, side] of [
    ['INSERT', 'NEW'],
    ['UPDATE', 'NEW'],
    ['DELETE', 'OLD'],
  ] as const)
    await db.raw(
      `CREATE TRIGGER note_${event.toLowerCase()} AFTER ${event} ON alert_silences
       REFERENCING ${side} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_object_changes()`,
    );
}
