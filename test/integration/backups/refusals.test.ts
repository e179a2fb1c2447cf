/** What is refused by a restore, with the reason, and with nothing changed. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import pg from 'pg';
import {
  type ArchiveHeader,
  type ArchiveManifest,
  SIGNATURE_PURPOSE,
} from '../../../controller/backups/archive/manifest.ts';
import { connect } from '../../../controller/database/connect.ts';
import { insertEnvironment } from '../../../controller/fleet/environments/store.ts';
import { insertTeam } from '../../../controller/identity/teams/store.ts';
import { createKeyring } from '../../../controller/platform/crypto/keyring.ts';
import { writeSetting } from '../../../controller/platform/runtime/settings-store.ts';
import { type TestDatabase, testDatabase } from '../../support/harness/postgres.ts';
import type { TestDb } from '../../support/harness/test-db.ts';
import {
  type ArchiveFile,
  archiveOf,
  filesOf,
  packFiles,
  restoreInto,
} from '../../support/scenes/backups/archives.ts';
import { contentOf } from '../../support/scenes/backups/backups.ts';

const keyring = createKeyring('0123456789abcdef0123456789abcdef');
const otherKeyring = createKeyring('fedcba9876543210fedcba9876543210');

describe('a restore that is refused', function () {
  this.timeout(60_000);
  let database: TestDatabase;
  let db: TestDb;
  let archive: Buffer;
  let content: Record<string, string>;

  before(async () => {
    database = await testDatabase();
    db = connect(database.url, { poolSize: 2 });
    await writeSetting(db, 'secretKeyFingerprint', keyring.fingerprint);
    const teamId = await insertTeam(db, 'team');
    await insertEnvironment(db, { name: 'before', teamId });
    archive = await archiveOf(database.url, { keyring });
    await insertEnvironment(db, { name: 'after', teamId });
    content = await contentOf(db);
  });
  after(async () => {
    await db?.destroy();
    await database?.drop();
  });

  const schemas = async (): Promise<string[]> =>
    db('pg_namespace').whereRaw("nspname ~ 'restore'").orderBy('nspname').pluck('nspname');

  async function expectRefusal(changed: Buffer, reason: RegExp, keys = keyring): Promise<void> {
    const error = await restoreInto(changed, { databaseUrl: database.url, keyring: keys }).then(
      () => null,
      (thrown: Error) => thrown,
    );
    expect(error?.message).to.match(reason);
    expect(await contentOf(db)).to.deep.equal(content);
    expect(await schemas()).to.deep.equal([]);
  }

  /** As a program would change it that knows the format, with or without the key. */
  async function rewritten(change: (files: ArchiveFile[]) => void, resign: boolean): Promise<Buffer> {
    const files = await filesOf(archive);
    change(files);
    const manifest = files.find(({ name }) => name === 'manifest.json');
    const signature = files.find(({ name }) => name === 'manifest.sig');
    if (resign && manifest && signature)
      signature.content = Buffer.from(keyring.sign(manifest.content.toString(), SIGNATURE_PURPOSE));
    return packFiles(files);
  }
  const edit = <T>(files: ArchiveFile[], name: string, change: (value: T) => void) => {
    const file = files.find((one) => one.name === name);
    if (!file) throw new Error(`there is no ${name}`);
    const value = JSON.parse(file.content.toString()) as T;
    change(value);
    file.content = Buffer.from(JSON.stringify(value));
  };

  it('for a key that is not here', () =>
    expectRefusal(
      archive,
      /encrypted with key [0-9a-f]{8}, which this controller does not have/,
      otherKeyring,
    ));

  it('for a newer version', async () => {
    const newer = await rewritten(
      (files) =>
        edit<ArchiveHeader>(files, 'backup.json', (header) => {
          header.schema.push('9999-of-the-future');
        }),
      true,
    );
    await expectRefusal(newer, /A newer Headgate made this backup .*9999-of-the-future/);
  });

  it('for one byte that changed', async () => {
    const at = Math.floor(archive.length / 2);
    const flipped = Buffer.from(archive);
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    await expectRefusal(flipped, /The backup is damaged/);
  });

  it('for a value that somebody changed, checksum and all', async () => {
    const rows = (files: ArchiveFile[]) => files.find(({ name }) => name === 'tables/teams/000001.ndjson');
    const changed = await rewritten((files) => {
      const file = rows(files);
      if (file) file.content = Buffer.from(file.content.toString().replace('"team"', '"evil"'));
    }, false);
    await expectRefusal(changed, /the checksum of tables\/teams\/000001\.ndjson is wrong/);
    const forged = await rewritten((files) => {
      const file = rows(files);
      if (!file) return;
      file.content = Buffer.from(file.content.toString().replace('"team"', '"evil"'));
      edit<ArchiveManifest>(files, 'manifest.json', (manifest) => {
        for (const one of manifest.files)
          if (one.name === file.name) one.sha256 = createHash('sha256').update(file.content).digest('hex');
      });
    }, false);
    await expectRefusal(forged, /its manifest was changed after it was made/);
  });

  it('for one that is cut off', async () => {
    await expectRefusal(archive.subarray(0, archive.length - 2_000), /The backup is damaged: it is cut off/);
    const files = await filesOf(archive);
    await expectRefusal(await packFiles(files.slice(0, -1)), /its end is missing/);
    await expectRefusal(Buffer.from('no archive at all'), /The backup is damaged/);
  });

  it('for a file that would climb out of its folder', async () => {
    const climbing = await rewritten((files) => {
      files.splice(1, 0, { name: '../../etc/headgate', content: Buffer.from('x') });
    }, true);
    await expectRefusal(climbing, /a file that no backup has, "\.\.\/\.\.\/etc\/headgate"/);
  });

  it('for a table that its version does not have', async () => {
    const strange = await rewritten(
      (files) =>
        edit<ArchiveManifest>(files, 'manifest.json', (manifest) => {
          manifest.tables.push({ name: 'strange', columns: ['id'], rows: 0 });
        }),
      true,
    );
    await expectRefusal(strange, /a table strange, which its version does not have/);
  });

  it('while somebody else keeps a table locked, and not once they let go', async () => {
    const session = new pg.Client({ connectionString: database.url, application_name: 'psql' });
    await session.connect();
    try {
      await session.query('BEGIN; SELECT * FROM teams');
      const waiting = restoreInto(archive, { databaseUrl: database.url, keyring });
      // Its first try gives up after 3 s.
      setTimeout(() => void session.query('COMMIT'), 4_000);
      await waiting;
    } finally {
      await session.end();
    }
    const names: string[] = await db('environments').pluck('name');
    expect(names).to.deep.equal(['before']);
    expect(await schemas()).to.have.length(1);
  });
});
