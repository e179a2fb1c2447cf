/** Values that mean something to COPY, to JSON or to PostgreSQL come back from a backup as they were. */
import { expect } from 'chai';
import fc from 'fast-check';
import { SIGNATURE_PURPOSE } from '../../../controller/backups/archive/manifest.ts';
import { sha256 } from '../../../controller/backups/archive/verify-archive.ts';
import { connect } from '../../../controller/database/connect.ts';
import { createKeyring } from '../../../controller/platform/crypto/keyring.ts';
import { newId } from '../../../controller/platform/operation/ids.ts';
import { testDatabase } from '../../support/harness/postgres.ts';
import type { TestDb } from '../../support/harness/test-db.ts';
import { use } from '../../support/harness/use.ts';
import { archiveOf, filesOf, packFiles, restoreInto } from '../../support/scenes/backups/archives.ts';
import { contentOf } from '../../support/scenes/backups/backups.ts';

const keyring = createKeyring('0123456789abcdef0123456789abcdef');
const MEANT = [
  '',
  '\\N',
  '\\.',
  '\\',
  '\t',
  '\n',
  '\r\n',
  'a\tb',
  '\\t',
  '"',
  '{}',
  'null',
  '\u0001',
  'ä😀',
  '\u2028',
];
/** PostgreSQL stores no NUL. */
const ANY = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\u0000', ''));

describe('values in a backup', function () {
  this.timeout(60_000);
  const source = use(testDatabase, (database) => database.drop());
  const target = use(testDatabase, (database) => database.drop());
  let from: TestDb;
  let to: TestDb;
  before(() => {
    from = connect(source.url, { poolSize: 1 });
    to = connect(target.url, { poolSize: 1 });
  });
  after(() => Promise.all([from?.destroy(), to?.destroy()]));

  it('are the same after a restore: texts, JSON, arrays, moments with all their digits, and nulls', async () => {
    const texts = [...MEANT, ...fc.sample(ANY, { numRuns: 300, seed: 7 })];
    await from('audit_log').insert(
      texts.map((text, index) => ({
        ...{
          id: newId(),
          actor_type: 'system',
          action: 'a',
          entity_type: text,
          entity_id: index % 2 ? text : null,
        },
        metadata: index % 3 ? JSON.stringify({ text, [text]: [1.5, null] }) : null,
        created_at: from.raw("timestamptz '2026-01-31 03:00:00.123456+02' + ? * interval '1 microsecond'", [
          index,
        ]),
      })),
    );
    await from('audit_log').insert({
      ...{ id: newId(), actor_type: 'system', action: 'a', entity_type: 'a JSON null', metadata: 'null' },
    });
    const archive = await archiveOf(source.url, { keyring });
    await restoreInto(archive, { databaseUrl: target.url, keyring });
    const [before, after] = [await contentOf(from), await contentOf(to)];
    // It says which backup was restored last.
    for (const content of [before, after]) delete content.settings;
    expect(after).to.deep.equal(before);
    const kept = await to('audit_log').whereNotNull('metadata').pluck('id');
    expect(kept).to.have.length.greaterThan(200);
  });

  it('that PostgreSQL does not take are refused without being quoted', async () => {
    const files = await filesOf(await archiveOf(source.url, { keyring }));
    const rows = files.find(({ name }) => name === 'tables/audit_log/000001.ndjson');
    const manifest = files.find(({ name }) => name === 'manifest.json');
    const signature = files.find(({ name }) => name === 'manifest.sig');
    if (!rows || !manifest || !signature) throw new Error('a file is missing');
    const changed = rows.content.toString().replace('"actor_type":"system"', '"actor_type":"hunter2"');
    rows.content = Buffer.from(changed);
    const content = JSON.parse(manifest.content.toString());
    for (const file of content.files)
      if (file.name === rows.name)
        Object.assign(file, { bytes: rows.content.length, sha256: sha256(rows.content) });
    manifest.content = Buffer.from(JSON.stringify(content));
    signature.content = Buffer.from(keyring.sign(manifest.content.toString(), SIGNATURE_PURPOSE));
    const error = await restoreInto(await packFiles(files), { databaseUrl: target.url, keyring }).then(
      () => null,
      (thrown: Error) => thrown,
    );
    expect(error?.message).to.include('PostgreSQL does not take its rows of audit_log (23514)');
    expect(JSON.stringify(Object.values(error ?? {}))).not.to.include('hunter2');
  });
});
