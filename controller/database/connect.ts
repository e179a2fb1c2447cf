/** Connections to the database. Counts and 64-bit numbers come back as numbers: none of ours passes 2^53. */
import { Socket } from 'node:net';
import knex, { type Knex } from 'knex';
import pg from 'pg';

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number);

export type Database = Knex;

export interface ConnectOptions {
  poolSize?: number;
  name?: string;
  /**
   * Postgres cancels a statement that runs or waits for longer (SQLSTATE 57014). Without it there is no limit, whatever the
   * role or the database sets: a migration or a pass that is cut off each time would never come to its end.
   */
  statementTimeoutMs?: number;
  /**
   * A connection on which nothing passes for so long is closed, and its statement fails: nothing else tells one that hangs from one that
   * waits. Longer than any statement may take; an idle connection is reopened when it is needed.
   */
  silenceMs?: number;
  /** The schema in place of the one of the role. */
  schema?: string;
}

export function connect(url: string, options: ConnectOptions = {}): Database {
  const { statementTimeoutMs = 0, silenceMs, schema } = options;
  const searchPath = schema === undefined ? '' : `; SET search_path = "${schema.replaceAll('"', '""')}"`;
  const db = knex({
    client: 'pg',
    connection: { connectionString: url, application_name: options.name ?? 'headgate', keepAlive: true },
    pool: {
      min: 0,
      max: options.poolSize ?? 10,
      afterCreate(connection: pg.Client, done: (error: Error | null, connection: pg.Client) => void) {
        // A connection that dies while idle must not end the process; the pool drops it.
        connection.on('error', () => {});
        const { stream } = connection.connection;
        if (silenceMs !== undefined && stream instanceof Socket) {
          const silent = Object.assign(new Error(`no answer within ${silenceMs} ms`), { code: 'ETIMEDOUT' });
          stream.setTimeout(silenceMs, () => stream.destroy(silent));
        }
        // By SET and not at the start of the connection, where poolers such as PgBouncer refuse it.
        // Compiling a query takes longer than any of ours runs.
        connection.query(`SET statement_timeout = ${statementTimeoutMs}; SET jit = off${searchPath}`).then(
          () => done(null, connection),
          (error: Error) => done(error, connection),
        );
      },
    },
    acquireConnectionTimeout: 10_000,
    // What goes wrong is thrown as well; knex would print it, with a stack, past our logger.
    log: { warn() {}, error() {}, deprecate() {}, debug() {} },
  });
  rejectOnceClosing(db.client);
  return db;
}

/** What of knex's client is ours to change; its types name none of it. */
interface PoolClient {
  acquireConnection(): Promise<unknown>;
  destroy(callback?: unknown): Promise<void>;
}

/**
 * The pool (tarn) keeps who asks while it is being closed until `acquireConnectionTimeout` is over. Such a query is rejected
 * at once, as it is once the pool is closed.
 */
function rejectOnceClosing(client: PoolClient): void {
  const acquire = client.acquireConnection.bind(client);
  const destroy = client.destroy.bind(client);
  let isClosing = false;
  client.acquireConnection = async () => {
    if (isClosing) throw new Error('the connections to the database are being closed');
    return acquire();
  };
  client.destroy = (callback) => {
    isClosing = true;
    return destroy(callback);
  };
}
