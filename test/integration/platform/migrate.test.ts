/** Migrations beside sessions that hold locks, and of a version that comes too late. */
import { expect } from 'chai';
import { withDatabaseUrl } from '../../../controller/cli/database-url.ts';
import { readConfig } from '../../../controller/config.ts';
import { connect } from '../../../controller/database/connect.ts';
import { MIGRATIONS, type Migration, migrate } from '../../../controller/database/migrate.ts';
import { startTestController } from '../../support/harness/controller.ts';
import { type TestDatabase, testDatabase } from '../../support/harness/postgres.ts';
import type { TestDb } from '../../support/harness/test-db.ts';

describe('migrations', function () {
  this.timeout(30_000);
  let database: TestDatabase;
  let db: TestDb;

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
        /^9999-of-tomorrow did not get a lock on its tables in time, and nothing was changed: end the long/,
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

  describe('to object_overrides', () => {
    beforeEach(() => addBinding(db));

    it('let a controller of the version before go on by the name git_object_words', async () => {
      const set = (reason: string) =>
        db('git_object_words')
          .insert({ ...OVERRIDE_KEY, word: 'suspend', reason, said_by: 'Ada' })
          .onConflict(['binding_id', 'kind', 'name_key', 'word'])
          .merge();
      await set('first');
      await set('second');
      expect(await db('object_overrides').select('action', 'reason', 'set_by')).to.deep.equal([
        { action: 'suspend', reason: 'second', set_by: 'Ada' },
      ]);
      await db('object_overrides').update({ set_by: 'Grace' });
      expect(await db('git_object_words').first('word', 'said_by', 'said_at')).to.include({
        word: 'suspend',
        said_by: 'Grace',
      });
      await db.raw(
        `DELETE FROM git_object_words w USING unnest(?::text[], ?::text[], ?::text[]) AS done(kind, name_key, word)
         WHERE w.binding_id = ? AND w.kind = done.kind AND w.name_key = done.name_key AND w.word = done.word`,
        [['Pipeline'], ['web'], ['suspend'], OVERRIDE_KEY.binding_id],
      );
      expect(await db('object_overrides')).to.deep.equal([]);
    });

    it('leave a note of what the version before writes, so that the next pass reads again', async () => {
      await db('git_bindings').update({ mode: 'sync' });
      await db('object_changes').delete();
      await db('git_object_words').insert({ ...OVERRIDE_KEY, word: 'adopt', said_by: 'Ada' });
      expect(await db('object_changes').pluck('environment_id')).to.deep.equal(['env']);
    });

    for (const [by, written, read] of [
      ['the version before', 'waiting_deeds', 'waiting_actions'],
      ['this version', 'waiting_actions', 'waiting_deeds'],
    ] as const)
      it(`copy what ${by} writes of the actions that wait`, async () => {
        await db('git_bindings').update({ [written]: ['a', 'b'] });
        expect(await db('git_bindings').pluck(read)).to.deep.equal([['a', 'b']]);
        await db('git_bindings').update({ [written]: [] });
        expect(await db('git_bindings').pluck(read)).to.deep.equal([[]]);
      });

    for (const [by, written, read] of [
      ['the version before', 'deeds', 'actions'],
      ['this version', 'actions', 'deeds'],
    ] as const)
      it(`copy what ${by} writes of the actions that are approved`, async () => {
        await db('git_approvals').insert({
          ...APPROVAL,
          [written]: ['a'],
        });
        expect(await db('git_approvals').pluck(read)).to.deep.equal([['a']]);
      });

    it('leave no old name but those of the view and the copied columns', async () => {
      const { rows } = await db.raw<{ rows: { name: string }[] }>(
        `SELECT conname AS name FROM pg_constraint WHERE conrelid = 'object_overrides'::regclass
         UNION SELECT indexname FROM pg_indexes WHERE tablename = 'object_overrides'
         UNION SELECT attname FROM pg_attribute WHERE attrelid = 'object_overrides'::regclass`,
      );
      expect(rows.filter(({ name }) => /word|said/.test(name))).to.deep.equal([]);
    });
  });

  it('to object_overrides keep what the version before has stored', async () => {
    await db.raw('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    const at = MIGRATIONS.findIndex(({ name }) => name === '0040-object-overrides');
    await migrate(database.url, { migrations: MIGRATIONS.slice(0, at) });
    await addBinding(db, { waiting_deeds: ['a', 'b'] });
    await db('git_object_words').insert({ ...OVERRIDE_KEY, word: 'prune', reason: 'why', said_by: 'Ada' });
    await db('git_approvals').insert({ ...APPROVAL, deeds: ['c'] });
    await migrate(database.url);
    expect(await db('object_overrides').select('action', 'reason', 'set_by')).to.deep.equal([
      { action: 'prune', reason: 'why', set_by: 'Ada' },
    ]);
    expect(await db('git_bindings').pluck('waiting_actions')).to.deep.equal([['a', 'b']]);
    expect(await db('git_approvals').pluck('actions')).to.deep.equal([['c']]);
  });
});

const OVERRIDE_KEY = { binding_id: 'binding', kind: 'Pipeline', name_key: 'web' };
const APPROVAL = { binding_id: 'binding', plan_hash: 'hash', approved_by: 'Ada' };

async function addBinding(db: TestDb, more: Record<string, unknown> = {}): Promise<void> {
  await db('teams').insert({ id: 'team', name: 'a team' });
  await db('environments').insert({ id: 'env', team_id: 'team', name: 'production' });
  await db('git_bindings').insert({ id: 'binding', environment_id: 'env', ...more });
}
