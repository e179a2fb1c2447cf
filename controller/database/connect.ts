/** The pool. Counts and 64-bit numbers come back as numbers: none of ours passes 2^53. */
import knex, { type Knex } from 'knex';
import pg from 'pg';

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number);

export type Database = Knex;

export function connect(url: string, options: { poolSize?: number; name?: string } = {}): Database {
  const db = knex({
    client: 'pg',
    connection: { connectionString: url, application_name: options.name ?? 'headgate', keepAlive: true },
    pool: {
      min: 0,
      max: options.poolSize ?? 10,
      afterCreate(connection: pg.Client, done: (error: Error | null, connection: pg.Client) => void) {
        // A connection that dies while idle must not end the process; the pool drops it.
        connection.on('error', () => {});
        done(null, connection);
      },
    },
    acquireConnectionTimeout: 10_000,
    // What goes wrong is thrown as well; knex would print it, with a stack, past our logger.
    log: { warn() {}, error() {}, deprecate() {}, debug() {} },
  });
  return db;
}
