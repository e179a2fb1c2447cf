/** Nodes that are looked after from here: updates of agents, samples and live taps of what runs on them. */
import type { Knex } from 'knex';

export const name = '0006-fleet';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- Key patterns whose values are blanked in samples and taps; null for the usual ones.
    ALTER TABLE environments ADD COLUMN redact_keys text[];

    ALTER TABLE nodes ADD COLUMN api_port integer;
    -- What the agent is asked to do: {type, targetVersion, downloadUrl, checksum, signature?}.
    ALTER TABLE nodes ADD COLUMN pending_action jsonb;
    ALTER TABLE nodes ADD COLUMN pending_action_at timestamptz;
    -- How often it was begun without an outcome, and when last.
    ALTER TABLE nodes ADD COLUMN pending_action_tries integer NOT NULL DEFAULT 0;
    ALTER TABLE nodes ADD COLUMN pending_action_tried_at timestamptz;
    -- What the agent reported as an error when it was asked: that is of an earlier update.
    ALTER TABLE nodes ADD COLUMN pending_action_error_before text;
    -- [{targetVersion, checksum, reason, at}]: not offered to this node again.
    ALTER TABLE nodes ADD COLUMN failed_updates jsonb NOT NULL DEFAULT '[]';
    CREATE INDEX nodes_pending_action ON nodes (pending_action_at) WHERE pending_action IS NOT NULL;
    -- Made by hand: the first agent that enrolls from the host takes it over.
    CREATE UNIQUE INDEX nodes_waiting_unique ON nodes (environment_id, host) WHERE enrolled_at IS NULL;

    CREATE TABLE sample_requests (
      id text PRIMARY KEY,
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      pipeline_id text NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
      component_keys text[] NOT NULL,
      sink_keys text[] NOT NULL,
      event_limit integer NOT NULL,
      -- The node that is to answer, and those that were asked before it.
      node_id text REFERENCES nodes (id) ON DELETE SET NULL,
      assigned_at timestamptz NOT NULL,
      earlier_node_ids text[] NOT NULL DEFAULT '{}',
      requested_by_id text REFERENCES users (id) ON DELETE SET NULL,
      created_at timestamptz NOT NULL,
      -- Every component has answered, or the time was over.
      done_at timestamptz
    );
    CREATE INDEX sample_requests_open ON sample_requests (node_id) WHERE done_at IS NULL;
    CREATE INDEX sample_requests_pipeline ON sample_requests (pipeline_id, created_at DESC);
    CREATE INDEX sample_requests_age ON sample_requests (created_at);

    CREATE TABLE sample_results (
      request_id text NOT NULL REFERENCES sample_requests (id) ON DELETE CASCADE,
      component_key text NOT NULL,
      -- Not jsonb: events keep the order of their fields.
      events json NOT NULL,
      fields json NOT NULL,
      error text,
      -- The patterns by which it was blanked, as environments have them. What others hide is blanked when it is read.
      redact_keys text[],
      received_at timestamptz NOT NULL,
      PRIMARY KEY (request_id, component_key)
    );

    CREATE TABLE taps (
      id text PRIMARY KEY,
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      pipeline_id text NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
      component_key text NOT NULL,
      is_sink boolean NOT NULL,
      node_id text NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
      user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      created_at timestamptz NOT NULL,
      ends_at timestamptz NOT NULL,
      -- The controller that somebody watches it at, null while nobody does; when that was so last. One that nobody
      -- watches ends.
      watched_by text,
      watched_at timestamptz NOT NULL
    );
    CREATE INDEX taps_node ON taps (node_id);
    CREATE INDEX taps_user ON taps (user_id);

    -- Events on their way to a viewer who is connected to another controller. A crash may lose them.
    CREATE UNLOGGED TABLE tap_batches (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      tap_id text NOT NULL,
      body json NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX tap_batches_tap ON tap_batches (tap_id, id);
  `);
}
