/** Looks before anything else whether the database of an operator can be used, and waits for one that is not up yet. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { DatabaseError, explainConnection, messagesOf, readOnly, targetOf } from './database-error.ts';
import { assertTlsFiles } from './tls-files.ts';

export interface AssertDatabaseOptions {
  /** How long a server that does not answer yet is waited for, in milliseconds. */
  waitMs: number;
  pauseMs?: number;
  /** Called once, with a sentence, before it is waited for. */
  onWait?: (sentence: string) => void;
}

const CONNECT_MS = 10_000;
const PAUSE_MS = 1_000;

/** @throws DatabaseError */
export async function assertDatabase(url: string, options: AssertDatabaseOptions): Promise<void> {
  const { waitMs, pauseMs = PAUSE_MS, onWait } = options;
  const end = performance.now() + waitMs;
  assertTlsFiles(url);
  for (let waited = false; ; waited = true) {
    try {
      return await inspect(url);
    } catch (error) {
      const known = explainConnection(error, url);
      if (!known?.transient || performance.now() + pauseMs > end) throw known ?? error;
      if (!waited) onWait?.(`${known.message}. It is tried again for ${Math.round(waitMs / 1_000)} s`);
      await sleep(pauseMs);
    }
  }
}

async function inspect(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rows } = await client.query<Facts>(FACTS);
    if (rows[0]) assertFacts(rows[0], url);
    await withClient(url, (other) => assertNoTransactionPooler(client, other, url));
  });
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = newClient(url);
  // What goes wrong later is thrown by the statement that waits for it.
  client.on('error', () => {});
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

function newClient(url: string): pg.Client {
  try {
    return new pg.Client({
      connectionString: url,
      application_name: 'headgate-start',
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: CONNECT_MS,
    });
  } catch (error) {
    // Parameters that do not go together. Nothing has been connected yet.
    throw new DatabaseError(`HEADGATE_DATABASE_URL cannot be used: ${messagesOf(error)}`);
  }
}

interface Facts {
  encoding: string;
  standby: boolean;
  read_only: string;
  schema: string | null;
  may_create_tables: boolean | null;
  may_create_schema: boolean;
}

const FACTS = `SELECT pg_encoding_to_char(encoding) AS encoding, pg_is_in_recovery() AS standby,
    current_setting('default_transaction_read_only') AS read_only, current_schema() AS schema,
    has_schema_privilege(current_schema(), 'CREATE') AS may_create_tables,
    to_regnamespace('graphile_worker') IS NOT NULL OR has_database_privilege(datname, 'CREATE') AS may_create_schema
  FROM pg_database WHERE datname = current_database()`;

function assertFacts(facts: Facts, url: string): void {
  const target = targetOf(url);
  const { user, database } = target;
  const { encoding, schema } = facts;
  if (facts.standby || facts.read_only === 'on') throw new DatabaseError(readOnly(target));
  if (encoding !== 'UTF8')
    throw new DatabaseError(
      `database "${database}" has the encoding ${encoding}, which cannot hold every character of a manifest; create one with UTF-8: CREATE DATABASE "<name>" OWNER "${user}" ENCODING 'UTF8' TEMPLATE template0`,
    );
  const toTables =
    schema === null || !facts.may_create_tables
      ? [`GRANT USAGE, CREATE ON SCHEMA ${schema ?? 'public'} TO "${user}"`]
      : [];
  const toSchema = facts.may_create_schema ? [] : [`GRANT CREATE ON DATABASE "${database}" TO "${user}"`];
  const grants = [...toTables, ...toSchema];
  if (grants.length === 0) return;
  const what = toTables.length > 0 ? 'tables' : 'the schema of the job queue';
  throw new DatabaseError(
    `user "${user}" may not create ${what} in database "${database}"; make it the owner: ALTER DATABASE "${database}" OWNER TO "${user}", or give it the rights in that database: ${grants.join('; ')}`,
  );
}

/**
 * A pooler in transaction mode gives one server process to several connections, one after the other: what a session holds
 * (LISTEN, advisory locks, SET) is lost between statements. It shows in the number of the server process: two open
 * connections have the same one, or one connection has two.
 */
async function assertNoTransactionPooler(one: pg.Client, other: pg.Client, url: string): Promise<void> {
  const { server } = targetOf(url);
  const pooled = new DatabaseError(
    `at ${server} is a connection pooler in transaction mode, which loses what Headgate tells a session (LISTEN, locks); connect to PostgreSQL directly, or set pool_mode = session there`,
  );
  const before = await processOf(one);
  try {
    await other.query('BEGIN');
    if ((await processOf(other)) === before || (await processOf(one)) !== before) throw pooled;
    await other.query('ROLLBACK');
  } catch (error) {
    // PgBouncer in statement mode takes no transactions at all.
    throw /pooling mode/.test(String(error)) ? pooled : error;
  }
}

async function processOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid ?? 0;
}
