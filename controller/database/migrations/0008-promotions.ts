/** Promotions: pull requests of any forge with what is checked of them, requests to promote, rollouts by stages. */
import type { Knex } from 'knex';

export const name = '0008-promotions';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- Where pull requests of the repository live. 'none': a remote whose pull requests Headgate keeps itself.
    ALTER TABLE git_bindings ALTER COLUMN forge SET DEFAULT 'none';
    UPDATE git_bindings SET forge = 'none';
    -- One name for one branch: rules of a branch, and its pull requests, are found by it.
    UPDATE git_bindings SET ref = regexp_replace(ref, '^refs/heads/', '');
    -- Of a forge: the address of its API without credentials, and the project's path on it (owner/name).
    ALTER TABLE git_bindings ADD COLUMN forge_url text;
    ALTER TABLE git_bindings ADD COLUMN forge_project text;
    ALTER TABLE git_bindings ADD COLUMN sealed_forge_token text;
    ALTER TABLE git_bindings ADD COLUMN sealed_webhook_secret text;
    -- {message, at}: why the forge did not do what it was asked last; null where it did.
    ALTER TABLE git_bindings ADD COLUMN forge_error jsonb;
    -- Of the embedded repository: the branch takes pull requests only, with so many approvals.
    ALTER TABLE git_bindings ADD COLUMN protect_branch boolean NOT NULL DEFAULT false;
    ALTER TABLE git_bindings ADD COLUMN required_approvals integer NOT NULL DEFAULT 0;

    -- They outlive the binding for which they were opened; those that people open on a forge have none.
    ALTER TABLE pull_requests ALTER COLUMN binding_id DROP NOT NULL;
    ALTER TABLE pull_requests DROP CONSTRAINT pull_requests_binding_id_fkey;
    ALTER TABLE pull_requests ADD CONSTRAINT pull_requests_binding_id_fkey
      FOREIGN KEY (binding_id) REFERENCES git_bindings (id) ON DELETE SET NULL;
    -- 'headgate': kept here (the embedded repository, or a remote without a forge). Else numbers are the forge's.
    ALTER TABLE pull_requests ADD COLUMN forge text NOT NULL DEFAULT 'headgate'
      CONSTRAINT pull_requests_forge_check CHECK (forge IN ('headgate', 'github', 'gitlab', 'gitea', 'bitbucket'));
    ALTER TABLE pull_requests DROP CONSTRAINT pull_requests_repository_number_key;
    -- Of a forge: the address of its API and the project there, so that no other server speaks of the same ones.
    ALTER TABLE pull_requests ADD COLUMN project text NOT NULL DEFAULT '';
    ALTER TABLE pull_requests ADD CONSTRAINT pull_requests_repository_number_key UNIQUE (repository, forge, project, number);
    -- Where people read it on the forge; null for those that are kept here.
    ALTER TABLE pull_requests ADD COLUMN url text;
    ALTER TABLE pull_requests ADD COLUMN is_fork boolean NOT NULL DEFAULT false;
    ALTER TABLE pull_requests ADD COLUMN is_draft boolean NOT NULL DEFAULT false;
    -- The last commit that Headgate pushed to the branch: another head is the work of people.
    ALTER TABLE pull_requests ADD COLUMN pushed_sha text;
    ALTER TABLE pull_requests ADD COLUMN base_sha text;
    -- Against base_sha and head_sha. Conflicts are paths.
    ALTER TABLE pull_requests ADD COLUMN mergeable text NOT NULL DEFAULT 'unknown'
      CONSTRAINT pull_requests_mergeable_check CHECK (mergeable IN ('unknown', 'clean', 'conflict'));
    ALTER TABLE pull_requests ADD COLUMN conflicts text[] NOT NULL DEFAULT '{}';
    -- The commit of the base with which the content has come in; null where nobody can tell.
    ALTER TABLE pull_requests ADD COLUMN merge_sha text;
    ALTER TABLE pull_requests ADD COLUMN merge_method text;
    ALTER TABLE pull_requests ADD COLUMN merged_by text;
    -- Users whose work came onto the branch since it was opened: they review it as little as the author does.
    ALTER TABLE pull_requests ADD COLUMN contributor_ids text[] NOT NULL DEFAULT '{}';
    -- Of those that are kept here: a second request for the same goes on with the first.
    CREATE UNIQUE INDEX pull_requests_one_open ON pull_requests (repository, base, branch)
      WHERE state = 'open' AND forge = 'headgate';
    CREATE INDEX pull_requests_open ON pull_requests (repository, base, number DESC) WHERE state = 'open';

    CREATE TABLE pull_request_comments (
      id text PRIMARY KEY,
      pull_request_id text NOT NULL REFERENCES pull_requests (id) ON DELETE CASCADE,
      -- Of a comment that is kept up to date instead of written again, what it is about.
      marker text,
      author_id text REFERENCES users (id) ON DELETE SET NULL,
      author text NOT NULL,
      body text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT pull_request_comments_marker UNIQUE (pull_request_id, marker)
    );
    CREATE INDEX pull_request_comments_of ON pull_request_comments (pull_request_id, created_at);

    -- A verdict is about one commit: after another push it is history.
    CREATE TABLE pull_request_reviews (
      id text PRIMARY KEY,
      pull_request_id text NOT NULL REFERENCES pull_requests (id) ON DELETE CASCADE,
      reviewer_id text REFERENCES users (id) ON DELETE SET NULL,
      reviewer text NOT NULL,
      verdict text NOT NULL CHECK (verdict IN ('approve', 'request-changes')),
      head_sha text NOT NULL,
      body text NOT NULL DEFAULT '',
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX pull_request_reviews_of ON pull_request_reviews (pull_request_id, created_at);

    -- What a pull request would do to one environment, and how far that was told to the forge.
    CREATE TABLE pull_request_checks (
      pull_request_id text NOT NULL REFERENCES pull_requests (id) ON DELETE CASCADE,
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      head_sha text NOT NULL,
      base_sha text NOT NULL,
      state text NOT NULL CHECK (state IN ('pending', 'success', 'failure', 'error')),
      summary text NOT NULL,
      -- The plan as schemas/api/delivery/git-plan.ts has it; null where none could be made.
      plan jsonb,
      -- What kept a plan from being made, or what was looked at instead.
      reason text,
      -- Digest of all that it was made from; empty where it was not made yet at this head.
      inputs text NOT NULL DEFAULT '',
      computed_at timestamptz,
      -- Digests of what was told last, so that nothing is told twice.
      posted_status text,
      posted_comment text,
      comment_id text,
      PRIMARY KEY (pull_request_id, environment_id)
    );

    -- What the forge is told of a commit after it came into the branch, until it is rolled out or has failed.
    CREATE TABLE commit_statuses (
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      sha text NOT NULL,
      state text NOT NULL CHECK (state IN ('pending', 'success', 'failure', 'error')),
      description text NOT NULL,
      posted text,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (environment_id, sha)
    );

    -- Deliveries of webhooks that were taken, so that one that is sent again is known.
    CREATE TABLE webhook_deliveries (
      binding_id text NOT NULL REFERENCES git_bindings (id) ON DELETE CASCADE,
      delivery_id text NOT NULL,
      received_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (binding_id, delivery_id)
    );
    CREATE INDEX webhook_deliveries_age ON webhook_deliveries (received_at);

    CREATE TABLE promotions (
      id text PRIMARY KEY,
      -- Both stay when the pipeline is deleted: history is told of names.
      pipeline_id text REFERENCES pipelines (id) ON DELETE SET NULL,
      source_environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      target_environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      target_pipeline_id text REFERENCES pipelines (id) ON DELETE SET NULL,
      pipeline_name text NOT NULL,
      target_name text NOT NULL,
      status text NOT NULL
        CHECK (status IN ('PENDING', 'DEPLOYED', 'AWAITING_PR_MERGE', 'REJECTED', 'CANCELLED')),
      source_version integer,
      target_version integer,
      -- The source's manifest when it was asked for: what ships, and what the next promotion is compared with.
      snapshot jsonb NOT NULL,
      -- Of one that goes through git: its branch, chosen before it is pushed, and the snapshot that the branch holds;
      -- that is null until it does.
      branch text,
      written jsonb,
      pull_request_id text REFERENCES pull_requests (id) ON DELETE SET NULL,
      requested_by_id text REFERENCES users (id) ON DELETE SET NULL,
      requested_by text NOT NULL,
      decided_by_id text REFERENCES users (id) ON DELETE SET NULL,
      decided_by text,
      note text,
      -- Why it is not done yet though it was approved or merged; null where nothing is in the way.
      last_error text,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      decided_at timestamptz,
      deployed_at timestamptz
    );
    CREATE INDEX promotions_pipeline ON promotions (pipeline_id, created_at DESC);
    CREATE INDEX promotions_target ON promotions (target_environment_id, created_at DESC);
    CREATE INDEX promotions_waiting ON promotions (status) WHERE status IN ('PENDING', 'AWAITING_PR_MERGE');
    -- The second request for the same goes on with the first.
    CREATE UNIQUE INDEX promotions_one_waiting ON promotions (pipeline_id, target_environment_id, lower(target_name))
      WHERE status IN ('PENDING', 'AWAITING_PR_MERGE');

    -- While one is active, nodes that the selector matches get its version and the others the pipeline's deployed one.
    CREATE TABLE rollouts (
      id text PRIMARY KEY,
      pipeline_id text NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
      environment_id text NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      -- What the other nodes run, and what all run again after a rollback; null where nothing was deployed.
      previous_version_id text REFERENCES pipeline_versions (id) ON DELETE SET NULL,
      canary_version_id text NOT NULL REFERENCES pipeline_versions (id) ON DELETE CASCADE,
      canary_selector jsonb NOT NULL,
      window_minutes integer NOT NULL CHECK (window_minutes > 0),
      on_pass text NOT NULL DEFAULT 'broaden' CHECK (on_pass IN ('broaden', 'hold')),
      on_fail text NOT NULL DEFAULT 'rollback' CHECK (on_fail IN ('rollback', 'hold')),
      status text NOT NULL CHECK (status IN ('CANARY_DEPLOYED', 'HEALTH_CHECK', 'BROADENED', 'ROLLED_BACK')),
      changelog text NOT NULL DEFAULT '',
      source text NOT NULL CHECK (source IN ('ui', 'git')),
      commit_sha text,
      created_by_id text REFERENCES users (id) ON DELETE SET NULL,
      created_by text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      health_started_at timestamptz,
      -- Counters of each node since the window began; the last verdict with its figures.
      observed jsonb NOT NULL DEFAULT '{}',
      verdict jsonb,
      -- Why it waits for a person; null while it goes on by itself.
      held_reason text,
      ended_at timestamptz,
      ended_by text,
      end_reason text,
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX rollouts_pipeline ON rollouts (pipeline_id, created_at DESC);
    CREATE UNIQUE INDEX rollouts_one_active ON rollouts (pipeline_id)
      WHERE status IN ('CANARY_DEPLOYED', 'HEALTH_CHECK');
  `);
}
