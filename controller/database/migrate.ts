/** Runs the migrations at every start, one replica at a time. They go forward only, and a merged one never changes. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { migrateJobs } from '../platform/runtime/jobs.ts';
import { connect } from './connect.ts';
import * as foundation from './migrations/0001-foundation.ts';
import * as kinds from './migrations/0002-alert-rules-and-node-groups.ts';
import * as logs from './migrations/0003-logs.ts';
import * as accounts from './migrations/0004-service-accounts.ts';
import * as editing from './migrations/0005-editing.ts';
import * as fleet from './migrations/0006-fleet.ts';
import * as gitops from './migrations/0007-gitops.ts';
import * as promotions from './migrations/0008-promotions.ts';
import * as users from './migrations/0009-people.ts';
import * as retention from './migrations/0012-retention.ts';
import * as gitMaintenance from './migrations/0013-git-maintenance.ts';
import * as promotionHistory from './migrations/0014-promotion-history.ts';
import * as repositoryReaders from './migrations/0015-repository-readers.ts';
import * as confirmation from './migrations/0016-confirmation-and-audit-key.ts';
import * as enginePorts from './migrations/0017-engine-ports.ts';
import * as enrolledEngine from './migrations/0018-enrolled-engine.ts';
import * as leaseEpochKey from './migrations/0019-lease-epoch-key.ts';
import * as automaticRevert from './migrations/0020-automatic-revert.ts';
import * as drain from './migrations/0021-drain.ts';
import * as engineComponents from './migrations/0022-engine-components.ts';
import * as ageOfMetrics from './migrations/0023-age-of-metrics.ts';
import * as leavers from './migrations/0025-leavers.ts';
import * as scimWaitingMembers from './migrations/0027-scim-waiting-members.ts';
import * as gitHubApps from './migrations/0028-github-apps.ts';
import * as forgePullRequests from './migrations/0029-forge-pull-requests.ts';
import * as secretPaths from './migrations/0031-secret-paths.ts';
import * as redirectedRepositories from './migrations/0032-redirected-repositories.ts';
import * as identityProviders from './migrations/0034-identity-providers.ts';
import * as twoMoreForges from './migrations/0039-two-more-forges.ts';
import * as objectOverrides from './migrations/0040-object-overrides.ts';
import * as telemetry from './migrations/0041-telemetry.ts';
import * as presence from './migrations/0042-presence.ts';
import * as packedMinutes from './migrations/0043-packed-minutes.ts';
import * as alertEvents from './migrations/0044-alert-events.ts';
import * as notifications from './migrations/0045-notifications.ts';
import * as anomalies from './migrations/0046-anomalies.ts';
import * as costRecommendations from './migrations/0047-cost-recommendations.ts';
import * as eventStreams from './migrations/0048-event-streams.ts';
import * as endpointsInGit from './migrations/0049-webhook-endpoints-in-git.ts';
import * as backups from './migrations/0050-backups.ts';
import * as configMigrations from './migrations/0051-config-migrations.ts';
import * as assistant from './migrations/0052-assistant.ts';
import * as tokenScopes from './migrations/0053-token-scopes.ts';
import { lockedTables, newerSchema } from './schema-error.ts';

export interface Migration {
  name: string;
  up(db: Knex): Promise<void>;
}

export const MIGRATIONS: readonly Migration[] = [
  foundation,
  kinds,
  logs,
  accounts,
  editing,
  fleet,
  gitops,
  promotions,
  users,
  retention,
  gitMaintenance,
  promotionHistory,
  repositoryReaders,
  confirmation,
  enginePorts,
  enrolledEngine,
  leaseEpochKey,
  automaticRevert,
  drain,
  engineComponents,
  ageOfMetrics,
  leavers,
  scimWaitingMembers,
  redirectedRepositories,
  identityProviders,
  gitHubApps,
  secretPaths,
  forgePullRequests,
  twoMoreForges,
  objectOverrides,
  telemetry,
  presence,
  packedMinutes,
  alertEvents,
  notifications,
  anomalies,
  costRecommendations,
  eventStreams,
  endpointsInGit,
  configMigrations,
  assistant,
  tokenScopes,
  backups,
];

/** Changes when a migration is added: names a migrated template database in tests. */
export const migrationsHash = createHash('sha256')
  .update(MIGRATIONS.map((migration) => `${migration.name}\n${migration.up.toString()}`).join('\n'))
  .digest('hex')
  .slice(0, 12);

const LOCK = 7_236_001;
const LOCK_NOT_AVAILABLE = '55P03';

export interface MigrateOptions {
  migrations?: readonly Migration[];
  /**
   * How long a migration waits for the lock on a table. Every query that needs the table waits behind it, so the migration
   * gives up soon, lets them through, and tries again.
   */
  lockTimeoutMs?: number;
  attempts?: number;
  pauseMs?: number;
  /** Where the tables are, if not in the schema of the role. */
  schema?: string;
}

const DEFAULTS = { migrations: MIGRATIONS, lockTimeoutMs: 3_000, attempts: 10, pauseMs: 2_000 };

/**
 * Brings the database at `url` up to date. Returns the names of the migrations that it ran.
 * @throws SchemaError when a newer version has migrated the database, or when its tables stay locked.
 */
export async function migrate(url: string, given: MigrateOptions = {}): Promise<string[]> {
  const options = { ...DEFAULTS, ...given };
  return withConnection(
    url,
    (db) =>
      withLockRetries(db, options, (running) => db.transaction((tx) => runMissing(tx, options, running))),
    given.schema,
  );
}

async function runMissing(
  tx: Knex,
  { migrations, lockTimeoutMs }: typeof DEFAULTS,
  running: (name: string) => void,
): Promise<string[]> {
  // Without a limit: another replica may be migrating.
  await tx.raw('SELECT pg_advisory_xact_lock(?)', [LOCK]);
  await tx.raw("SELECT set_config('lock_timeout', ?, true)", [String(lockTimeoutMs)]);
  await tx.raw(
    'CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, ran_at timestamptz NOT NULL DEFAULT now())',
  );
  const done = await namesOfDone(tx);
  assertKnown(done, migrations);
  const ran: string[] = [];
  for (const migration of migrations) {
    if (done.has(migration.name)) continue;
    running(migration.name);
    await migration.up(tx);
    await tx('schema_migrations').insert({ name: migration.name });
    ran.push(migration.name);
  }
  return ran;
}

/** Migrates the database, and the job queue's own schema too where anything is new. Returns the names of the migrations that it ran. */
export async function migrateAll(url: string): Promise<string[]> {
  const ran = await migrate(url);
  await withConnection(url, async (db) => {
    const { rows } = await db.raw("SELECT to_regnamespace('graphile_worker') IS NOT NULL AS there");
    if (ran.length === 0 && rows[0].there) return;
    await withLockRetries(db, DEFAULTS, async (running) => {
      running('the schema of the job queue');
      await migrateJobs(url, DEFAULTS.lockTimeoutMs);
    });
  });
  return ran;
}

/** For commands that do not migrate. @throws SchemaError where the database is newer than this version */
export async function assertSchemaKnown(url: string): Promise<void> {
  await withConnection(url, async (db) => {
    const { rows } = await db.raw("SELECT to_regclass('schema_migrations') IS NOT NULL AS there");
    if (rows[0].there) assertKnown(await namesOfDone(db), MIGRATIONS);
  });
}

async function namesOfDone(db: Knex): Promise<ReadonlySet<string>> {
  const rows: { name: string }[] = await db('schema_migrations').select('name').orderBy('name');
  return new Set(rows.map(({ name }) => name));
}

function assertKnown(done: ReadonlySet<string>, migrations: readonly Migration[]): void {
  const known = new Set(migrations.map(({ name }) => name));
  const unknown = [...done].filter((name) => !known.has(name));
  if (unknown.length > 0) throw newerSchema(unknown);
}

/** `work` reports what it is about to run, so that the error can name it. */
async function withLockRetries<T>(
  db: Knex,
  { attempts, pauseMs }: Pick<typeof DEFAULTS, 'attempts' | 'pauseMs'>,
  work: (running: (name: string) => void) => Promise<T>,
): Promise<T> {
  let current = 'the migration';
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work((name) => {
        current = name;
      });
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error;
      if (attempt >= attempts) throw lockedTables(current, await oldestTransactions(db));
    }
    await sleep(pauseMs);
  }
}

/** The sessions that most likely hold the lock, such as `process 4711 (psql, for 65 s)`. */
async function oldestTransactions(db: Knex): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { pid: number; name: string; seconds: number }[] }>(
    `SELECT pid, application_name AS name, round(extract(epoch FROM now() - xact_start)) AS seconds
     FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
     ORDER BY xact_start LIMIT 2`,
  );
  return rows.map(({ pid, name, seconds }) => `process ${pid} (${name || 'unnamed'}, for ${seconds} s)`);
}

async function withConnection<T>(url: string, work: (db: Knex) => Promise<T>, schema?: string): Promise<T> {
  const db = connect(url, { poolSize: 1, name: 'headgate-migrate', schema });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}
