import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import pg from 'pg';
import { closeTestCluster, testDatabase } from '../support/harness/postgres.ts';

describe('test databases', () => {
  it('are migrated, apart from each other, and gone when dropped', async () => {
    const [one, other] = await Promise.all([testDatabase(), testDatabase()]);
    await query(one.url, 'create table here (id int)');
    expect(await query(other.url, `select to_regclass('here') as found`)).to.deep.equal([{ found: null }]);
    expect(await query(other.url, 'select count(*) > 0 as migrated from schema_migrations')).to.deep.equal([
      { migrated: true },
    ]);
    await one.drop();
    await one.drop();
    const gone = await query(one.url, 'select 1').catch((error: Error) => error);
    expect(gone)
      .to.be.an('error')
      .with.property('message')
      .that.matches(/does not exist/);
    await other.drop();
  });

  it('serve several test processes at once, while others come and go', async function () {
    this.timeout(60_000);
    await closeTestCluster();
    const script = `
      import { closeTestCluster, testDatabase } from ${JSON.stringify(new URL('../support/harness/postgres.ts', import.meta.url).href)};
      for (let round = 0; round < 3; round += 1) {
        await (await testDatabase()).drop();
        await closeTestCluster();
      }`;
    const runs = [1, 2, 3].map(() =>
      promisify(execFile)(process.execPath, ['--input-type=module-typescript', '-e', script]),
    );
    for (const { stderr } of await Promise.all(runs)) expect(stderr).to.equal('');
    await (await testDatabase()).drop();
  });
});

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
