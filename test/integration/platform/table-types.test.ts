import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { connect } from '../../../controller/database/connect.ts';
import { testDatabase } from '../../support/harness/postgres.ts';
import { renderTableTypes, TABLES_FILE } from '../../tools/database/table-types.ts';

describe('the types of tables', () => {
  it('are those of the migrated schema', async () => {
    const database = await testDatabase();
    const db = connect(database.url, { poolSize: 1 });
    try {
      expect(await readFile(TABLES_FILE, 'utf8'), 'run bin/node test/tools/database/table-types.ts').to.equal(
        await renderTableTypes(db),
      );
    } finally {
      await db.destroy();
      await database.drop();
    }
  });
});
