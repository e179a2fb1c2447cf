/** Migrations beside sessions that hold locks, and of a version that comes too late. */
import { expect } from 'chai';
import { withDatabaseUrl } from '../../../controller/cli/database-url.ts';
import { readConfig } from '../../../controller/config.ts';
import { connect, type Database } from '../../../controller/database/connect.ts';
import { MIGRATIONS, type Migration, migrate } from '../../../controller/database/migrate.ts';
import { startTestController } from '../../support/harness/controller.ts';
import { type TestDatabase, testDatabase } from '../../support/harness/postgres.ts';

describe('migrations', function () {
  this.timeout(30_000);
  let database: TestDatabase;
  let db: Database;

  beforeEach(async () => {
    database = await testDatabase();
    db = connect(database.url, { poolSize: 2, name: 'somebody' });
  });
  afterEach(async () => {
    await db.destroy();
    await database.drop();
  });

  const LATER: Migration = {
    name: '9999-of-tomorrow',
    async up(tx) {
      await tx.raw('ALTER TABLE nodes ADD COLUMN tomorrow text');
    },
  };
  const later = { migrations: [...MIGRATIONS, LATER], lockTimeoutMs: 50, pauseMs: 10 };
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error: Error) => error,
    );

  it('give up a lock that somebody holds on to, change nothing, and say who it is', async () => {
    const held = await db.transaction();
    const { rows } = await held.raw(
      'SELECT pg_backend_pid() AS pid FROM nodes RIGHT JOIN (SELECT 1) one ON true',
    );
    const error = await failure(migrate(database.url, { ...later, attempts: 3 }));
    // Whoever comes after a migration that waited is not held up by it.
    await db('nodes').count();
    await held.rollback();
    expect(error?.name).to.equal('SchemaError');
    expect(error?.message)
      .to.match(
        /^9999-of-tomorrow waits in vain for a lock on its tables, and nothing was changed: end the long/,
      )
      .and.include(`process ${rows[0].pid} (somebody, for`);
    expect(await db('schema_migrations').where({ name: LATER.name })).to.deep.equal([]);
  });

  it('try again until the lock is free', async () => {
    const held = await db.transaction();
    await held.raw('SELECT 1 FROM nodes');
    let tries = 0;
    const counted: Migration = {
      name: LATER.name,
      async up(tx) {
        tries += 1;
        if (tries === 3) await held.rollback();
        await LATER.up(tx);
      },
    };
    const ran = await migrate(database.url, { ...later, migrations: [...MIGRATIONS, counted], attempts: 50 });
    expect(ran).to.deep.equal([LATER.name]);
    expect(tries).to.be.at.least(3);
  });

  it('of a newer version keep an older one from starting, and from its commands, with one line', async () => {
    await migrate(database.url, later);
    const line = /^a newer Headgate has migrated this database \(9999-of-tomorrow\): run that version/;
    const refused = [
      await failure(migrate(database.url)),
      await failure(startTestController({ databaseUrl: database.url })),
      await failure(
        withDatabaseUrl(
          readConfig({ HEADGATE_DATABASE_URL: database.url }),
          { existing: true },
          async () => 'done',
        ),
      ),
    ];
    for (const error of refused) {
      expect(error?.name).to.equal('SchemaError');
      expect(error?.message).to.match(line).and.not.include('\n');
    }
  });
});
