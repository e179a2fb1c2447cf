/** The connections of a controller: what cuts a statement off, and what does not. */
import { Socket } from 'node:net';
import { expect } from 'chai';
import type pg from 'pg';
import { connect } from '../../../controller/database/connect.ts';
import { unlessAway } from '../../../controller/database/errors.ts';
import { openPools, type Pools } from '../../../controller/database/pools.ts';
import { patient } from '../../support/harness/patience.ts';
import { type TestDatabase, testDatabase } from '../../support/harness/postgres.ts';
import type { TestDb } from '../../support/harness/test-db.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';

describe('the pools of a controller', () => {
  let database: TestDatabase;
  let pools: Pools;

  before(async () => {
    database = await testDatabase();
    pools = openPools(database.url);
  });
  after(async () => {
    await pools?.destroy();
    await database?.drop();
  });

  const limitOf = async (pool: TestDb) =>
    (await pool.raw<{ rows: { limit: string }[] }>(`SELECT current_setting('statement_timeout') AS limit`))
      .rows[0]?.limit;

  /** Milliseconds of silence after which the pool gives a connection up; 0 for never. */
  async function silenceOf(pool: TestDb): Promise<number | undefined> {
    const connection: pg.Client = await pool.client.acquireConnection();
    const { stream } = connection.connection;
    await pool.client.releaseConnection(connection);
    return stream instanceof Socket ? stream.timeout : undefined;
  }

  it('limit the statements of requests and of what is essential, in transactions too, and no others', async () => {
    for (const pool of [pools.requests, pools.essential]) {
      expect(await limitOf(pool)).to.equal('15s');
      expect(await pool.transaction((tx) => limitOf(tx))).to.equal('15s');
    }
    for (const pool of [pools.lease, pools.background]) expect(await limitOf(pool)).to.equal('0');
  });

  it('give every connection up that hangs, and none for as long as a statement may take', async () => {
    expect(await silenceOf(pools.lease)).to.equal(10_000);
    expect(await silenceOf(pools.essential)).to.equal(20_000);
    expect(await silenceOf(pools.requests)).to.equal(25_000);
    expect(await silenceOf(pools.background)).to.equal(900_000);
  });

  it('reject at once what asks while they are being closed', async () => {
    const closing = connect(database.url, { poolSize: 1, name: 'headgate-test' });
    const busy = await closing.transaction();
    const closed = closing.destroy();
    const outcome = closing('nodes')
      .count()
      .then(
        () => 'answered',
        (error: Error) => error.message,
      );
    expect(await outcome).to.equal('the connections to the database are being closed');
    await busy.rollback();
    await closed;
  });

  it('give a lock of one pool no connection of another', async () => {
    const held = await pools.background.transaction();
    try {
      await held.raw('LOCK TABLE nodes IN ACCESS EXCLUSIVE MODE');
      const waiting = Array.from({ length: 20 }, () => pools.requests('nodes').count());
      for (const one of waiting) one.catch(() => {});
      expect(await limitOf(pools.essential)).to.equal('15s');
      await held.rollback();
      await Promise.all(waiting);
    } finally {
      if (!held.isCompleted()) await held.rollback();
    }
  });

  it('leave a connection that hangs for another one, where they are told to', async () => {
    const proxy = await startTcpProxy(database.url);
    const silenceMs = patient(200);
    const db = connect(proxy.url, { poolSize: 1, silenceMs });
    try {
      await db.raw('SELECT 1');
      proxy.hang();
      const error = await db.raw('SELECT 2').then(
        () => null,
        (thrown: Error) => thrown,
      );
      expect(error?.message).to.include(`no answer within ${silenceMs} ms`);
      expect(unlessAway(error)).to.include({ code: 'UNAVAILABLE' });
      proxy.heal();
      expect((await db.raw('SELECT 3 AS three')).rows).to.deep.equal([{ three: 3 }]);
    } finally {
      await db.destroy();
      await proxy.close();
    }
  });

  it('answer a statement that is cut off with UNAVAILABLE, and go on with the connection', async () => {
    // Long enough for every other statement of a slow machine.
    const brief = connect(database.url, { poolSize: 1, statementTimeoutMs: 500 });
    try {
      const error = await brief.raw('SELECT pg_sleep(60)').then(
        () => null,
        (thrown: unknown) => unlessAway(thrown),
      );
      expect(error).to.include({ code: 'UNAVAILABLE' });
      expect((error as Error).message).to.match(/took too long/);
      expect(await limitOf(brief)).to.equal('500ms');
    } finally {
      await brief.destroy();
    }
  });
});
