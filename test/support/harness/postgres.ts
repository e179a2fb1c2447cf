import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../controller/database/embedded/embedded-postgres.ts';
import { memoryFolder } from '../fixtures/memory-folder.ts';
import { closeAtEnd } from '../runner/warm.ts';

/** A migrated database of its own for a test file or a case. */
export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

interface Cluster {
  url: string;
  /** Null where its url was given. */
  pid: number | null;
  /** Holds the shared lock that tells other test processes that the cluster is in use. */
  session: pg.Client;
  template: Promise<string>;
  stop(): Promise<void>;
}

const ARTIFACTS = fileURLToPath(new URL('../../.artifacts', import.meta.url));
const MIGRATIONS = fileURLToPath(new URL('../../../controller/database/', import.meta.url));
/** What a crash of the machine may cost here is a test run. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
  max_wal_size: '256MB',
};

// Advisory locks of the cluster's own database.
const USERS = 7_236_101;
const TEMPLATE = 7_236_102;

const ATTEMPTS = 5;

let cluster: Promise<Cluster> | undefined;

// Loaded by a plain mocha run: the cluster is up before the first case, outside of any case's time limit.
if (typeof before === 'function' && !process.env.HEADGATE_TEST_DATABASE_URL)
  before('test database cluster', async function () {
    this.timeout(60_000);
    await (await openCluster()).template;
  });
closeAtEnd('test database cluster', closeTestCluster);

/**
 * A fresh database, cloned from a template that is migrated once per cluster and set of migrations. Its cluster is the one
 * of HEADGATE_TEST_DATABASE_URL (a superuser's), else an embedded one shared by all test processes.
 * Outside of mocha, call `closeTestCluster()` at the end.
 */
export async function testDatabase(): Promise<TestDatabase> {
  const { url, session, template } = await openCluster();
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`;
  await session.query(`create database ${name} template ${await template} strategy file_copy`);
  let dropping: Promise<void> | undefined;
  return {
    url: withDatabase(url, name),
    drop() {
      dropping ??= session.query(`drop database if exists ${name} with (force)`).then(() => undefined);
      return dropping;
    },
  };
}

/**
 * Starts the cluster of the tests, or joins that of another run in this clone, for a runner that passes its url to workers as
 * HEADGATE_TEST_DATABASE_URL. `closeTestCluster()` leaves it.
 */
export async function joinTestCluster(): Promise<{ url: string; pid: number }> {
  const { url, pid } = await openCluster();
  if (pid === null) throw new Error('unset HEADGATE_TEST_DATABASE_URL: the runner has a database of its own');
  return { url, pid };
}

async function startTestCluster(): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir: await dataDir(), log: () => undefined, settings: SETTINGS });
}

/** One per clone and user, kept between runs. A folder in memory that somebody else made is not trusted. */
async function dataDir(): Promise<string> {
  const onDisk = `${ARTIFACTS}/postgres`;
  const parent = memoryFolder(ARTIFACTS);
  if (parent === ARTIFACTS) return onDisk;
  const uid = process.getuid?.();
  const inMemory = `${parent}/headgate-test-${createHash('sha256').update(`${uid} ${ARTIFACTS}`).digest('hex').slice(0, 16)}`;
  await mkdir(inMemory, { recursive: true, mode: 0o711 });
  return (await stat(inMemory)).uid === uid ? inMemory : onDisk;
}

/** Leaves the cluster; the last test process to leave stops it. */
export async function closeTestCluster(): Promise<void> {
  const opened = cluster;
  cluster = undefined;
  if (!opened) return;
  const { session, stop } = await opened;
  await session.query('select pg_advisory_unlock_shared($1)', [USERS]);
  // Kept while it stops: whoever comes now waits for the lock, loses its connection and starts anew.
  if (await isAlone(session)) await stop();
  await session.end().catch(() => undefined);
}

function openCluster(): Promise<Cluster> {
  cluster ??= joinCluster().catch((error: unknown) => {
    cluster = undefined;
    throw error;
  });
  return cluster;
}

async function joinCluster(attempt = 1): Promise<Cluster> {
  try {
    return await tryJoin();
  } catch (error) {
    // Another process may have stopped the cluster that we were about to use.
    if (attempt >= ATTEMPTS) throw error;
    return joinCluster(attempt + 1);
  }
}

async function tryJoin(): Promise<Cluster> {
  const given = process.env.HEADGATE_TEST_DATABASE_URL;
  const running = given ? { url: given, pid: null, stop: async () => undefined } : await startTestCluster();
  const session = new pg.Client({ connectionString: running.url, application_name: 'headgate-tests' });
  session.on('error', () => undefined); // the query in flight reports it
  try {
    await session.connect();
    const wanted = await templateName();
    if (await isAlone(session)) await removeLeftovers(session, wanted);
    await session.query('select pg_advisory_lock_shared($1)', [USERS]);
    await session.query('select pg_advisory_unlock($1)', [USERS]);
    const template = ensureTemplate(session, running.url, wanted);
    template.catch(() => undefined); // reported to whoever awaits it
    return { url: running.url, pid: running.pid, session, template, stop: running.stop };
  } catch (error) {
    await session.end().catch(() => undefined);
    throw error;
  }
}

/** Takes the exclusive lock, and keeps it, when no other test process uses the cluster. */
async function isAlone(session: pg.Client): Promise<boolean> {
  const { rows } = await session.query<{ alone: boolean }>('select pg_try_advisory_lock($1) as alone', [
    USERS,
  ]);
  return rows[0]?.alone === true;
}

/** Databases of killed test processes, and templates of other migrations. */
async function removeLeftovers(session: pg.Client, wanted: string): Promise<void> {
  const { rows } = await session.query<{ name: string }>(
    `select datname as name from pg_database where datname ~ '^test_([0-9]+|template)_[0-9a-z_]+$' and datname <> $1`,
    [wanted],
  );
  for (const { name } of rows) {
    await session.query(`alter database ${name} is_template false`);
    await session.query(`drop database if exists ${name} with (force)`);
  }
}

async function templateName(): Promise<string> {
  const hash = createHash('sha256');
  const files = (await readdir(MIGRATIONS, { recursive: true })).filter((name) =>
    /^migrat.*\.(ts|sql)$/.test(name),
  );
  for (const name of files.sort()) hash.update(name).update(await readFile(`${MIGRATIONS}/${name}`));
  hash.update(await readFile(new URL('../../../package.json', import.meta.url))); // graphile-worker brings its own tables
  return `test_template_${hash.digest('hex').slice(0, 16)}`;
}

async function ensureTemplate(session: pg.Client, url: string, name: string): Promise<string> {
  await session.query('select pg_advisory_lock($1)', [TEMPLATE]);
  try {
    const { rowCount } = await session.query('select from pg_database where datname = $1', [name]);
    if (rowCount) return name;
    const staging = `${name}_new`;
    await session.query(`drop database if exists ${staging} with (force)`);
    await session.query(`create database ${staging}`);
    const { migrateAll } = await import('../../../controller/database/migrate.ts');
    await migrateAll(withDatabase(url, staging));
    // A template may have no connections; pools that were told to end may still be closing theirs.
    await session.query(`alter database ${staging} allow_connections false`);
    await session.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1', [
      staging,
    ]);
    await session.query(`alter database ${staging} rename to ${name}`);
    await session.query(`alter database ${name} is_template true`);
    return name;
  } finally {
    await session.query('select pg_advisory_unlock($1)', [TEMPLATE]);
  }
}

function withDatabase(url: string, name: string): string {
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}
