/**
 * The assistant: the provider of each team, its requests with the tokens that they took, and the conversations of users.
 *
 * A request counts with `reserved_tokens` until it is finished, so that requests side by side keep the limits.
 */
import type { Knex } from 'knex';

export const name = '0052-assistant';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE ai_providers (
      id text NOT NULL CONSTRAINT ai_providers_pkey PRIMARY KEY,
      team_id text NOT NULL CONSTRAINT ai_providers_team_fkey REFERENCES teams (id) ON DELETE CASCADE,
      kind text NOT NULL CONSTRAINT ai_providers_kind_check CHECK (kind IN ('openai', 'anthropic')),
      -- Null for the vendor's own.
      base_url text,
      model text NOT NULL,
      -- Null for an endpoint that asks for none.
      sealed_api_key text,
      requests_per_user_per_hour integer NOT NULL,
      tokens_per_day bigint NOT NULL,
      tokens_per_month bigint NOT NULL,
      -- How long it may be silent.
      timeout_seconds integer NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX ai_providers_team_unique ON ai_providers (team_id);

    CREATE TABLE ai_requests (
      id text NOT NULL CONSTRAINT ai_requests_pkey PRIMARY KEY,
      team_id text NOT NULL CONSTRAINT ai_requests_team_fkey REFERENCES teams (id) ON DELETE CASCADE,
      user_id text CONSTRAINT ai_requests_user_fkey REFERENCES users (id) ON DELETE SET NULL,
      purpose text NOT NULL,
      started_at timestamptz NOT NULL,
      finished_at timestamptz,
      reserved_tokens integer NOT NULL,
      input_tokens integer NOT NULL DEFAULT 0,
      output_tokens integer NOT NULL DEFAULT 0
    );
    CREATE INDEX ai_requests_team ON ai_requests (team_id, started_at);
    CREATE INDEX ai_requests_user ON ai_requests (user_id, started_at);
    CREATE INDEX ai_requests_age ON ai_requests (started_at);

    CREATE TABLE ai_conversations (
      id text NOT NULL CONSTRAINT ai_conversations_pkey PRIMARY KEY,
      kind text NOT NULL CONSTRAINT ai_conversations_kind_check CHECK (kind IN ('pipeline', 'debug', 'vrl')),
      pipeline_id text NOT NULL CONSTRAINT ai_conversations_pipeline_fkey
        REFERENCES pipelines (id) ON DELETE CASCADE,
      user_id text NOT NULL CONSTRAINT ai_conversations_user_fkey REFERENCES users (id) ON DELETE CASCADE,
      -- Of a conversation about a VRL program; empty for the others.
      component_key text NOT NULL DEFAULT '',
      created_at timestamptz NOT NULL,
      used_at timestamptz NOT NULL
    );
    CREATE UNIQUE INDEX ai_conversations_unique ON ai_conversations (user_id, pipeline_id, kind, component_key);
    CREATE INDEX ai_conversations_pipeline ON ai_conversations (pipeline_id);
    CREATE INDEX ai_conversations_used ON ai_conversations (used_at);

    CREATE TABLE ai_messages (
      id text NOT NULL CONSTRAINT ai_messages_pkey PRIMARY KEY,
      conversation_id text NOT NULL CONSTRAINT ai_messages_conversation_fkey
        REFERENCES ai_conversations (id) ON DELETE CASCADE,
      author text NOT NULL CONSTRAINT ai_messages_author_check CHECK (author IN ('user', 'assistant')),
      state text NOT NULL CONSTRAINT ai_messages_state_check
        CHECK (state IN ('running', 'done', 'stopped', 'failed')),
      content text NOT NULL,
      -- Why it failed, or what was left out of it.
      note text,
      suggestions jsonb NOT NULL DEFAULT '[]',
      input_tokens integer NOT NULL DEFAULT 0,
      output_tokens integer NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL,
      -- Of a running one: when its controller last stored it.
      alive_at timestamptz,
      stop_requested boolean NOT NULL DEFAULT false
    );
    CREATE INDEX ai_messages_conversation ON ai_messages (conversation_id, created_at, id);
    CREATE UNIQUE INDEX ai_messages_one_running ON ai_messages (conversation_id) WHERE state = 'running';
  `);
}
