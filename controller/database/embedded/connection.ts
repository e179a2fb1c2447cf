/** Connections of our own to the embedded cluster: is it ours, is our database there, may we in. */
import pg from 'pg';
import { ROLE } from './cluster.ts';
import { diskFull, EmbeddedPostgresError, reportsDiskFull } from './embedded-postgres-error.ts';

const WRONG_PASSWORD = '28P01';
const NO_SUCH_DATABASE = '3D000';
const DATABASE_EXISTS = ['42P04', '23505'];

/** Holds the password: never to be logged. */
export function databaseUrl(port: number, password: string, database: string = ROLE): string {
  return `postgres://${ROLE}:${password}@127.0.0.1:${port}/${database}`;
}

/** A connection outside of any pool. It may break at any time; the query in flight reports that. */
export async function openClient(url: string, options: Partial<pg.ClientConfig> = {}): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, ...options });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await openClient(url);
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Whether the cluster answers at that port: only it knows the password and names that folder. */
export async function serves(cluster: string, port: number, password: string): Promise<boolean> {
  try {
    return await withClient(databaseUrl(port, password, 'postgres'), async (client) => {
      const { rows } = await client.query<{ data_directory: string }>('show data_directory');
      return rows[0]?.data_directory === cluster;
    });
  } catch (error) {
    if (hasCode(error, WRONG_PASSWORD)) throw isConnectionRefused(error);
    return false;
  }
}

export async function ensureDatabase(port: number, password: string): Promise<void> {
  try {
    await withClient(databaseUrl(port, password), (client) => client.query('select 1'));
  } catch (error) {
    if (!hasCode(error, NO_SUCH_DATABASE)) throw isConnectionRefused(error);
    await withClient(databaseUrl(port, password, 'postgres'), async (client) => {
      await client.query(`create database ${ROLE}`).catch((failure: unknown) => {
        // Two starters may create it at the same moment.
        if (!DATABASE_EXISTS.some((code) => hasCode(failure, code))) throw isConnectionRefused(failure);
      });
    });
  }
}

/** The clear form of what a running PostgreSQL said to a connection of ours. */
export function isConnectionRefused(error: unknown): EmbeddedPostgresError {
  const message = error instanceof Error ? error.message : String(error);
  if (reportsDiskFull(message)) return diskFull('the database');
  if (hasCode(error, WRONG_PASSWORD)) {
    return new EmbeddedPostgresError(
      'The database does not take the password kept beside it: restore the file postgres-password it was made with',
    );
  }
  return new EmbeddedPostgresError(`PostgreSQL runs but refuses us: ${message}`);
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
