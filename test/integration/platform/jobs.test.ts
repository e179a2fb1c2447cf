/** Jobs: done once asked for in a transaction that committed, through whatever happens to the connection. */

import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { connect } from '../../../controller/database/connect.ts';
import {
  createJobs,
  type JobHandler,
  type Jobs,
  unlockAbandonedJobs,
} from '../../../controller/platform/runtime/jobs.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { type TestDatabase, testDatabase } from '../../support/harness/postgres.ts';
import { logInto } from '../../support/harness/recorded-log.ts';
import type { TestDb } from '../../support/harness/test-db.ts';
import { until } from '../../support/harness/until.ts';

describe('jobs', function () {
  this.timeout(30_000);
  this.slow(8_000);
  let database: TestDatabase;
  let db: TestDb;
  let jobs: Jobs;
  let log: string;
  let done: unknown[];
  let handler: JobHandler;

  beforeEach(async () => {
    database = await testDatabase();
    db = connect(database.url, { name: 'headgate-test' });
    log = '';
    done = [];
    jobs = createJobs({ url: database.url, log: logInto('info', (text) => (log += text)) });
    handler = async (payload) => void done.push(payload.name);
    await jobs.start({ work: (payload) => handler(payload) });
  });
  afterEach(async () => {
    await jobs.stop();
    await db.destroy();
    await database.drop();
  });

  const cut = () =>
    db.raw(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'headgate-jobs'`,
    );
  const untilDone = (names: string[]) =>
    until(() => names.every((name) => done.includes(name)), {
      what: () => `${names.join()} to be done, not ${done.join()}:\n${log}`,
      timeoutMs: 15_000,
    });
  const waiting = async () => Number((await db('graphile_worker.jobs').count({ count: '*' }).first())?.count);

  it('are done after the transaction that asks for them, and not where it fails', async () => {
    await db.transaction((tx) => jobs.add(tx, 'work', { name: 'kept' }));
    await db
      .transaction(async (tx) => {
        await jobs.add(tx, 'work', { name: 'lost' });
        throw new Error('no');
      })
      .catch(() => {});
    await untilDone(['kept']);
    await until(async () => (await waiting()) === 0, { what: 'the queue to be empty' });
    expect(done).to.deep.equal(['kept']);
  });

  it('go on after their connections broke', async () => {
    await cut();
    await jobs.add(db, 'work', { name: 'after' });
    await untilDone(['after']);
  });

  it('go on where the very first question of a runner was lost', async () => {
    await jobs.stop();
    jobs = createJobs({
      url: database.url,
      log: logInto('info', () => {}),
    });
    await db.transaction(async (tx) => {
      await tx.raw('LOCK TABLE graphile_worker._private_tasks IN ACCESS EXCLUSIVE MODE');
      await jobs.start({ work: (payload) => handler(payload) });
      const asking = async () => {
        const { rows } = await db.raw(
          `SELECT 1 FROM pg_stat_activity WHERE application_name = 'headgate-jobs' AND datname = current_database()
           AND wait_event_type = 'Lock'`,
        );
        return rows.length > 0;
      };
      await until(asking, { what: 'the runner to ask', everyMs: 20 });
      await cut();
    });
    await jobs.add(db, 'work', { name: 'late' });
    await untilDone(['late']);
  });

  it('are done again by another runner where the end of one could not be written', async () => {
    let began = 0;
    let finish = () => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    handler = async (payload) => {
      began += 1;
      if (began === 1) await held;
      done.push(payload.name);
    };
    await jobs.add(db, 'work', { name: 'cut' });
    await until(() => began === 1, { what: 'the job to begin' });
    // Nothing of this database's may be reached while the job ends.
    const name = new URL(database.url).pathname.slice(1);
    const outside = connect(database.url.replace(/\/[^/]*$/, '/headgate'), { poolSize: 1 });
    try {
      await outside.raw(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`);
      await outside.raw(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = ?`, [
        name,
      ]);
      finish();
      await until(() => log.includes('gave up'), {
        what: () => `the runner to give up:\n${log}`,
        timeoutMs: 15_000,
      });
      await until(() => log.includes('does not start yet'), { what: 'a start in vain', timeoutMs: 5_000 });
    } finally {
      await outside.raw(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`);
      await outside.destroy();
    }
    await until(() => done.length === 2, {
      what: () => `the job to be done again:\n${log}`,
      timeoutMs: 15_000,
    });
    await until(async () => (await waiting()) === 0, { what: 'the queue to be empty' });
  });

  it('of a controller that was killed are done by another one, once no job takes that long', async () => {
    const locked = async (name: string, minutes: number) =>
      db.transaction(async (tx) => {
        await jobs.add(tx, 'work', { name }, { key: name });
        await tx('graphile_worker._private_jobs')
          .where({ key: name })
          .update({
            ...{ locked_by: `runner of ${name}`, attempts: 1 },
            locked_at: tx.raw('now() - make_interval(mins => ?)', [minutes]),
          });
      });
    await locked('abandoned', 16);
    await locked('under way', 14);
    expect(await unlockAbandonedJobs(db)).to.deep.equal(['runner of abandoned']);
    await untilDone(['abandoned']);
    const holders = () => db('graphile_worker.jobs').pluck('locked_by');
    await until(async () => (await holders()).length === 1, { what: 'the other one to be left' });
    expect(await holders()).to.deep.equal(['runner of under way']);
  });

  it('hold nothing of their handlers once they have stopped', async () => {
    const own = createJobs({ url: database.url, log: createLogger('silent') });
    const held = await startHolding(own);
    await own.stop();
    collectGarbage();
    expect(held.deref(), 'what the handler of a stopped queue holds').to.equal(undefined);
  });
});

/** In a function of its own: what a frame has seen is alive as long as the frame. */
async function startHolding(jobs: Jobs): Promise<WeakRef<object>> {
  const large = { rows: Array.from({ length: 1_000 }, (_, index) => index) };
  await jobs.start({ work: async () => void large.rows.length });
  return new WeakRef(large);
}

function collectGarbage(): void {
  v8.setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
