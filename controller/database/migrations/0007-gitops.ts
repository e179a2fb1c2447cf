/** The loop with git to its end: policy, approvals, adoption, suspensions, remotes with credentials, proposals. */
import type { Knex } from 'knex';

export const name = '0007-gitops';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- Of an ssh remote: lines of a known_hosts file; of an https remote: a private CA as PEM. Neither is a secret.
    ALTER TABLE git_bindings ADD COLUMN known_hosts text;
    ALTER TABLE git_bindings ADD COLUMN ca_certificate text;
    -- What the Environment manifest of the applied commit says; it tightens the binding's own policy.
    ALTER TABLE git_bindings ADD COLUMN manifest_policy jsonb NOT NULL DEFAULT '{}';
    -- When the first plan was empty or approved. Until then nothing is applied, whatever the mode.
    ALTER TABLE git_bindings ADD COLUMN begun_at timestamptz;
    -- {hash, guards, since}: a plan that is not applied before somebody approves it.
    ALTER TABLE git_bindings ADD COLUMN waiting_plan jsonb;
    ALTER TABLE git_bindings ADD COLUMN suspended_by text;
    ALTER TABLE git_bindings ADD COLUMN suspend_reason text;
    -- What was bound before goes on as it went.
    UPDATE git_bindings SET begun_at = now() WHERE applied_commit IS NOT NULL;

    -- An ADMIN's word for one exact plan.
    CREATE TABLE git_approvals (
      binding_id text NOT NULL REFERENCES git_bindings (id) ON DELETE CASCADE,
      plan_hash text NOT NULL,
      approved_by_id text REFERENCES users (id) ON DELETE SET NULL,
      approved_by text NOT NULL,
      approved_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (binding_id, plan_hash)
    );

    -- An operator's word for one object, by the identity that its manifest has: adopt a namesake of the UI, leave alone.
    CREATE TABLE git_object_words (
      binding_id text NOT NULL REFERENCES git_bindings (id) ON DELETE CASCADE,
      kind text NOT NULL,
      name_key text NOT NULL,
      word text NOT NULL CHECK (word IN ('adopt', 'suspend', 'prune')),
      reason text NOT NULL DEFAULT '',
      said_by_id text REFERENCES users (id) ON DELETE SET NULL,
      said_by text NOT NULL,
      said_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (binding_id, kind, name_key, word)
    );

    ALTER TABLE git_holds ADD COLUMN name text NOT NULL DEFAULT '';
    ALTER TABLE git_holds ADD COLUMN created_by text NOT NULL DEFAULT '';
    ALTER TABLE git_holds ADD COLUMN released_by text;
    CREATE UNIQUE INDEX git_holds_one ON git_holds (binding_id, kind, name_key, spec_hash) WHERE released_at IS NULL;

    -- Changes that wait for a review, as the embedded forge keeps them. The branch holds the content.
    CREATE TABLE pull_requests (
      id text PRIMARY KEY,
      binding_id text NOT NULL REFERENCES git_bindings (id) ON DELETE CASCADE,
      -- Where the branches live: 'embedded', or the remote's address without credentials.
      repository text NOT NULL,
      number integer NOT NULL,
      title text NOT NULL,
      body text NOT NULL DEFAULT '',
      base text NOT NULL,
      branch text NOT NULL,
      head_sha text NOT NULL,
      state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'merged', 'closed')),
      -- What it was made for, for example {kind, name, operation}.
      subject jsonb NOT NULL DEFAULT '{}',
      author_id text REFERENCES users (id) ON DELETE SET NULL,
      author text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      closed_at timestamptz,
      UNIQUE (repository, number)
    );
    CREATE INDEX pull_requests_binding ON pull_requests (binding_id, state, number DESC);
  `);
  // A pass keeps what it read in memory: whoever says a word leaves a note, so that the next one reads again.
  for (const table of ['git_approvals', 'git_object_words', 'git_holds']) {
    for (const [event, side] of [
      ['INSERT', 'NEW'],
      ['UPDATE', 'NEW'],
      ['DELETE', 'OLD'],
    ] as const) {
      await db.raw(
        `CREATE TRIGGER note_${event.toLowerCase()} AFTER ${event} ON ${table}
         REFERENCING ${side} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_manifest_changes()`,
      );
    }
  }
}
