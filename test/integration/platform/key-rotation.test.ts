/** Changing the key for encryption at rest: nothing is lost, wherever it is ended and whoever writes meanwhile. */
import { spawn } from 'node:child_process';
import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { agreeOnKeys, listKeys, openKeyring, rotateKeys } from '../../../controller/compose/keys.ts';
import { type Config, readConfig } from '../../../controller/config.ts';
import { connect } from '../../../controller/database/connect.ts';
import { insertEnvironment } from '../../../controller/fleet/environments/store.ts';
import { insertTeam } from '../../../controller/identity/teams/store.ts';
import { addKey, ensureKeyFile, keyFile, readKeyFile } from '../../../controller/platform/crypto/key-file.ts';
import { countByKey, resealAll } from '../../../controller/platform/crypto/key-rotation.ts';
import {
  createKeyring,
  type Keyring,
  KeyringError,
  keyIdOf,
} from '../../../controller/platform/crypto/keyring.ts';
import { SEALED_COLUMNS, sealingContext } from '../../../controller/platform/crypto/sealed-columns.ts';
import { readSetting } from '../../../controller/platform/runtime/settings-store.ts';
import { insertSecret, readSecrets, updateSecretValue } from '../../../controller/secrets/stored/store.ts';
import { BIN, headgate, headgateInProcess } from '../../support/clients/command.ts';
import { startTestController } from '../../support/harness/controller.ts';
import { type TestDatabase, testDatabase } from '../../support/harness/postgres.ts';
import type { TestDb } from '../../support/harness/test-db.ts';
import { until } from '../../support/harness/until.ts';

const RUNS = Number(process.env.HEADGATE_TEST_SEQUENCES ?? 10);
const OLD = 'the first key of the test, which is long';
const NEW = 'the second key of the test, which is long';

function fault(code: string): never {
  throw Object.assign(new Error(code), { code });
}
/** Some of what the system does of files goes so for the length of `work`. */
function withFaults(faults: Partial<typeof fs>, work: () => void): void {
  const names = Object.keys(faults) as (keyof typeof fs)[];
  const real = Object.fromEntries(names.map((name) => [name, fs[name]]));
  Object.assign(fs, faults);
  syncBuiltinESMExports();
  try {
    work();
  } finally {
    Object.assign(fs, real);
    syncBuiltinESMExports();
  }
}

describe('the keys', function () {
  this.timeout(30_000);
  let database: TestDatabase;
  let db: TestDb;
  let environmentId: string;
  const folder = mkdtempSync(join(tmpdir(), 'headgate-keys-'));
  let folders = 0;

  before(async () => {
    database = await testDatabase();
    db = connect(database.url, { poolSize: 6, name: 'headgate-test' });
    environmentId = await insertEnvironment(db, { name: 'e', teamId: await insertTeam(db, 't') });
  });
  after(async () => {
    await db?.destroy();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    await db('secrets').delete();
    await db('settings').delete();
  });

  function dataDir(): string {
    const made = join(folder, String(++folders));
    mkdirSync(made);
    return made;
  }
  const configOf = (more: Partial<Config> = {}): Config => ({
    ...readConfig({}),
    dataDir: folder,
    databaseUrl: database.url,
    ...more,
  });
  let secrets = 0;
  async function seal(keyring: Keyring, value: string): Promise<string> {
    const id = `s${String(++secrets).padStart(6, '0')}`;
    const variable = `SVC_SECRET_${id.toUpperCase()}`;
    await insertSecret(db, keyring, { id, environmentId, name: id, variable, value });
    return id;
  }
  /** By id. */
  async function values(keyring: Keyring): Promise<Record<string, string>> {
    const all = await readSecrets(db, keyring, environmentId);
    return Object.fromEntries(
      [...all].map(([variable, open]) => [variable.slice('SVC_SECRET_'.length).toLowerCase(), open()]),
    );
  }
  const said: string[] = [];
  const options = { say: (line: string) => void said.push(line), followMs: 1_000 };
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => 'nothing was refused',
      (error: Error) => `${error.name}: ${error.message}`,
    );

  it('know every column that holds sealed texts', async () => {
    const { rows } = await db.raw<{ rows: { table_name: string; column_name: string }[] }>(
      `SELECT table_name, column_name FROM information_schema.columns
       WHERE table_schema = 'public' AND column_name LIKE 'sealed\\_%'`,
    );
    const named = rows.map((row) => `${row.table_name}.${row.column_name}`).sort();
    expect(SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`).sort()).to.deep.equal(named);
  });

  it('open with each of them and seal with the newest', () => {
    const sealed = createKeyring(OLD).seal('x', 'p');
    const both = createKeyring([NEW, OLD]);
    expect(both.open(sealed, 'p')).to.equal('x');
    expect(both.fingerprint).to.equal(createKeyring(NEW).fingerprint);
    expect(both.fingerprints).to.deep.equal([NEW, OLD].map((key) => createKeyring(key).fingerprint));
    expect(createKeyring(NEW).open(both.seal('y', 'p'), 'p')).to.equal('y');
    expect(() => createKeyring([NEW, 'short'])).to.throw(KeyringError, 'HEADGATE_PREVIOUS_SECRET_KEYS');
    expect(() => createKeyring([])).to.throw(KeyringError);
  });

  it('are looked for again when a text names an unknown one, and not for each text', () => {
    let asked = 0;
    let known = [OLD];
    const keyring = createKeyring(known, () => {
      asked += 1;
      return known;
    });
    known = [NEW, OLD];
    const sealed = createKeyring(NEW).seal('x', 'p');
    expect(keyring.open(sealed, 'p')).to.equal('x');
    expect(keyring.fingerprint, 'and seals with it from now on').to.equal(createKeyring(NEW).fingerprint);
    const lost = createKeyring('a key that nobody has any longer, is it?').seal('x', 'p');
    for (let n = 0; n < 100; n += 1)
      expect(() => keyring.open(lost, 'p')).to.throw(KeyringError, 'sealed with key');
    expect(asked).to.equal(1);
  });

  it('stay usable while their file cannot be read', () => {
    const keyring = createKeyring(OLD, () => {
      throw new Error('ENOENT');
    });
    expect(() => keyring.open(createKeyring(NEW).seal('x', 'p'), 'p')).to.throw(KeyringError, 'sealed with');
    expect(keyring.open(keyring.seal('x', 'p'), 'p')).to.equal('x');
  });

  it('stand in a file that only its owner may read, the newest first', () => {
    const file = keyFile(dataDir());
    ensureKeyFile(file);
    const [first] = readKeyFile(file);
    ensureKeyFile(file);
    addKey(file);
    const keys = readKeyFile(file);
    expect(keys).to.have.length(2);
    expect(keys[1]).to.equal(first);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    // A rotation that was killed while it wrote.
    writeFileSync(`${file}.new`, 'half a k');
    addKey(file);
    expect(readKeyFile(file).slice(1)).to.deep.equal(keys);
    expect(existsSync(`${file}.new`)).to.equal(false);
  });

  it('stay where they are when no file can be opened any more', () => {
    const file = keyFile(dataDir());
    ensureKeyFile(file);
    const keys = readKeyFile(file);
    // As the system answers a process that has too many files open: it does not look whether there is one.
    const full = { openSync: () => fault('EMFILE'), writeFileSync: () => fault('EMFILE') };
    for (const faults of [full, { ...full, existsSync: () => false }]) {
      expect(() => withFaults(faults, () => ensureKeyFile(file))).to.throw('EMFILE');
      expect(readKeyFile(file)).to.deep.equal(keys);
    }
  });

  it('are whole or not there: one that could not be written leaves no file, nor does another that was quicker', () => {
    const file = keyFile(dataDir());
    for (const faults of [{}, { linkSync: () => fault('EPERM') }]) {
      const full = { ...faults, fsyncSync: () => fault('ENOSPC') };
      expect(() => withFaults(full, () => ensureKeyFile(file))).to.throw('ENOSPC');
      expect(readdirSync(dirname(file))).to.deep.equal([]);
    }
    const link = fs.linkSync;
    const linkSync = (from: fs.PathLike, to: fs.PathLike) => {
      writeFileSync(file, 'the key of another controller\n');
      link(from, to);
    };
    withFaults({ linkSync }, () => ensureKeyFile(file));
    expect(readKeyFile(file)).to.deep.equal(['the key of another controller']);
    expect(readdirSync(dirname(file))).to.deep.equal(['secret-key']);
  });

  it('are made where a file system has no hard links, whatever it says of that', () => {
    for (const code of ['EPERM', 'ENOTSUP', 'ENOSYS', 'EOPNOTSUPP']) {
      const file = keyFile(dataDir());
      const none = { linkSync: () => fault(code) };
      withFaults(none, () => ensureKeyFile(file));
      const keys = readKeyFile(file);
      expect(keys[0], code).to.match(/^[0-9a-f]{64}$/);
      expect(statSync(file).mode & 0o777).to.equal(0o600);
      withFaults(none, () => ensureKeyFile(file));
      expect(readKeyFile(file)).to.deep.equal(keys);
      expect(readdirSync(dirname(file))).to.deep.equal(['secret-key']);
    }
  });

  it('are on the disk before anything is sealed with them: the first file is flushed, and its folder', () => {
    const file = keyFile(dataDir());
    const flushed: string[] = [];
    const real = fs.fsyncSync;
    const fsyncSync = (handle: number) => {
      const path = readlinkSync(`/proc/self/fd/${handle}`);
      flushed.push(path === dirname(file) ? path : `${readFileSync(path, 'utf8')}${existsSync(file)}`);
      real(handle);
    };
    withFaults({ fsyncSync }, () => ensureKeyFile(file));
    const [key] = readKeyFile(file);
    expect(flushed, 'the whole key before it has its name, then the folder that names it').to.deep.equal([
      `${key}\nfalse`,
      `${key}\ntrue`,
      dirname(file),
    ]);
  });

  it('change in the data directory, and everything is sealed with the new one', async () => {
    const config = configOf({ dataDir: dataDir() });
    const before = openKeyring(config);
    await agreeOnKeys(db, before);
    const id = await seal(before, 'first');
    const setting = before.seal('{"kind":"EXEC"}', sealingContext('environments', environmentId));
    await db('environments').where({ id: environmentId }).update({ sealed_secret_backend_config: setting });
    try {
      said.length = 0;
      await rotateKeys(config, options);
      const after = openKeyring(config);
      expect(after.fingerprints).to.deep.equal([after.fingerprint, before.fingerprint]);
      expect([...(await countByKey(db))]).to.deep.equal([[keyIdOf(after.fingerprint), 2]]);
      expect(await readSetting(db, 'secretKeyFingerprint')).to.equal(after.fingerprint);
      expect(await values(after)).to.deep.equal({ [id]: 'first' });
      expect(await agreeOnKeys(db, after)).to.equal(true);
      const told = said.join('\n');
      expect(told).to.include('2 texts were resealed').and.include('Back up the file secret-key');
      for (const key of readKeyFile(keyFile(config.dataDir))) expect(told).not.to.include(key);
      const audit = await db('audit_log').where({ action: 'keys.rotated' }).first();
      expect(audit.diff).to.deep.equal({ fingerprint: [before.fingerprint, after.fingerprint] });
      said.length = 0;
      await listKeys(config, options);
      expect(said).to.deep.equal([
        `${after.fingerprint}  seals, the database's key, 2 texts`,
        `${before.fingerprint}  0 texts`,
      ]);
    } finally {
      await db('environments').where({ id: environmentId }).update({ sealed_secret_backend_config: null });
    }
  });

  it('change in the environment, where both are given', async () => {
    const old = createKeyring(OLD);
    await agreeOnKeys(db, old);
    const id = await seal(old, 'first');
    const config = configOf({ secretKey: NEW, previousSecretKeys: [OLD] });
    await rotateKeys(config, options);
    expect(await values(createKeyring(NEW))).to.deep.equal({ [id]: 'first' });
    expect(await failure(rotateKeys(config, options))).to.match(
      /^KeyringError: HEADGATE_SECRET_KEY is the key of the database already/,
    );
    expect(await failure(agreeOnKeys(db, old))).to.match(/^ConfigError: HEADGATE_SECRET_KEY is not the key/);
  });

  it('do not change where the earlier one is not given, and say which one that is', async () => {
    const old = createKeyring(OLD);
    await agreeOnKeys(db, old);
    expect(await failure(rotateKeys(configOf({ secretKey: NEW }), options))).to.equal(
      `KeyringError: the database is encrypted with key ${keyIdOf(old.fingerprint)}; give that one in HEADGATE_PREVIOUS_SECRET_KEYS`,
    );
    const config = configOf({ dataDir: dataDir() });
    ensureKeyFile(keyFile(config.dataDir));
    expect(await failure(rotateKeys(config, options))).to.include('put it back as the last line');
    expect(await failure(listKeys(configOf({ dataDir: dataDir() }), options))).to.include(
      'there is no key in',
    );
  });

  it('leave what no key opens as it is, tell of it, and go on', async () => {
    const old = createKeyring(OLD);
    await agreeOnKeys(db, old);
    const [damaged, good] = [await seal(old, 'first'), await seal(old, 'second')];
    await db('secrets').where({ id: damaged }).update({ sealed_value: 'no sealed text' });
    said.length = 0;
    await rotateKeys(configOf({ secretKey: NEW, previousSecretKeys: [OLD] }), options);
    expect(said).to.include(`Left as it is, no key opens it: secrets ${damaged}: not a sealed text`);
    const rows = await db('secrets').orderBy('id').pluck('sealed_value');
    expect(rows[0]).to.equal('no sealed text');
    expect(createKeyring(NEW).open(rows[1], sealingContext('secrets', good))).to.equal('second');
  });

  it('go on where a rotation was ended, without making a third one', async () => {
    const config = configOf({ dataDir: dataDir() });
    const before = openKeyring(config);
    await agreeOnKeys(db, before);
    const ids = [await seal(before, 'first'), await seal(before, 'second')];
    // Ended in the middle: the key is there, one text is sealed with it.
    addKey(keyFile(config.dataDir));
    const middle = openKeyring(config);
    await updateSecretValue(db, middle, { id: ids[0] ?? '', value: 'first', fetched: false });
    expect(await agreeOnKeys(db, middle), 'a controller starts in between').to.equal(false);
    expect(await failure(agreeOnKeys(db, before)), 'one that lacks the new key does not').to.match(
      /ConfigError: the keys of this database are being changed to .* headgate keys rotate/,
    );
    await rotateKeys(config, options);
    const after = openKeyring(config);
    expect(after.fingerprints).to.deep.equal(middle.fingerprints);
    expect(await values(createKeyring(readKeyFile(keyFile(config.dataDir))[0] ?? ''))).to.deep.equal({
      [ids[0] ?? '']: 'first',
      [ids[1] ?? '']: 'second',
    });
  });

  it('lose nothing, however writes and rotations fall', async function () {
    this.timeout(60_000);
    this.slow(30_000);
    const step = fc.oneof(
      fc.record({ do: fc.constant('insert' as const), writer: fc.nat(2) }),
      fc.record({ do: fc.constant('update' as const), writer: fc.nat(2), at: fc.nat(50) }),
      fc.record({ do: fc.constant('delete' as const), at: fc.nat(50) }),
      fc.record({ do: fc.constant('rotate' as const), killedAfter: fc.option(fc.nat(20)) }),
      fc.record({ do: fc.constant('settle' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        await db('secrets').delete();
        const file = keyFile(dataDir());
        ensureKeyFile(file);
        const read = () => readKeyFile(file);
        // Writers that learn of a new key at different times, as controllers do.
        const writers = Array.from({ length: 3 }, () => createKeyring(read(), read));
        const expected = new Map<string, string>();
        const ongoing: Promise<unknown>[] = [];
        let n = 0;
        for (const one of steps) {
          const ids = [...expected.keys()];
          const keyring = writers['writer' in one ? one.writer : 0] as Keyring;
          switch (one.do) {
            case 'insert': {
              const value = `value ${++n}`;
              expected.set(await seal(keyring, value), value);
              break;
            }
            case 'update': {
              const id = ids[one.at % ids.length];
              if (id === undefined) break;
              const value = `value ${++n}`;
              await updateSecretValue(db, keyring, { id, value, fetched: false });
              expected.set(id, value);
              break;
            }
            case 'delete': {
              const id = ids[one.at % ids.length];
              if (id === undefined) break;
              await db('secrets').where({ id }).delete();
              expected.delete(id);
              break;
            }
            case 'rotate': {
              // Two at once wait for one another, by a lock of the database.
              await Promise.all(ongoing.splice(0));
              addKey(file);
              let left = one.killedAfter ?? Number.POSITIVE_INFINITY;
              const rotator = createKeyring(read(), read);
              const dying: Keyring = {
                ...rotator,
                fingerprint: rotator.fingerprint,
                fingerprints: rotator.fingerprints,
                open(sealed, place) {
                  left -= 1;
                  if (left < 0) throw new Error('killed');
                  return rotator.open(sealed, place);
                },
              };
              ongoing.push(
                resealAll(db, dying).catch((error: Error) => expect(error.message).to.equal('killed')),
              );
              break;
            }
            case 'settle':
              await Promise.all(ongoing.splice(0));
          }
        }
        await Promise.all(ongoing);
        const last = createKeyring(read(), read);
        expect(await values(last)).to.deep.equal(Object.fromEntries(expected));
        await resealAll(db, last);
        expect(await values(createKeyring(read()[0] ?? '')), 'the newest key alone').to.deep.equal(
          Object.fromEntries(expected),
        );
      }),
      { numRuns: RUNS },
    );
  });

  describe('beside a running controller', () => {
    it('are taken over by it, and what it serves and stores goes on', async () => {
      const test = await startTestController();
      try {
        const root = await test.root();
        const { id: teamId } = await root.mutate<{ id: string }>('team.create', { name: 'T' });
        const { id } = await root.mutate<{ id: string }>('environment.create', { name: 'e', teamId });
        await root.mutate('secret.create', { environmentId: id, name: 'first', value: 'one' });
        const before = openKeyring(test.config);
        await rotateKeys(test.config, { ...options, followMs: 10_000 });
        const after = openKeyring(test.config);
        expect(after.fingerprint).not.to.equal(before.fingerprint);
        await root.mutate('secret.create', { environmentId: id, name: 'second', value: 'two' });
        await until(async () => (await test.db('audit_keys')).length === 1, {
          what: 'the key of the audit log',
        });
        expect([...(await countByKey(test.db))], 'two secrets, the key of the audit log').to.deep.equal([
          [keyIdOf(after.fingerprint), 3],
        ]);
        const opened = await readSecrets(test.db, test.controller.systemContext('t').services.keyring, id);
        expect([...opened].map(([name, open]) => [name, open()])).to.deep.equal([
          ['SVC_SECRET_FIRST', 'one'],
          ['SVC_SECRET_SECOND', 'two'],
        ]);
        expect(test.log()).to.include('there are other keys');
      } finally {
        await test.stop();
      }
    });

    it('do not change while it lacks the new one: nothing is touched, and it is told what to do', async () => {
      const test = await startTestController({ secretKey: OLD });
      try {
        const rotation = { ...test.config, secretKey: NEW, previousSecretKeys: [OLD] };
        expect(await failure(rotateKeys(rotation, { ...options, followMs: 500 }))).to.match(
          /^KeyringError: 1 running controller does not seal with the new key [0-9a-f]{8}; nothing was changed yet\. Restart them with it in HEADGATE_SECRET_KEY/,
        );
        expect(await readSetting(test.db, 'secretKeyFingerprint')).to.equal(createKeyring(OLD).fingerprint);
        expect(await readSetting(test.db, 'secretKeyNext')).to.equal(null);
        // One that can open it, and still seals with the earlier one.
        const half = await startTestController({
          ...rotation,
          ...{ secretKey: OLD, previousSecretKeys: [NEW], databaseUrl: test.databaseUrl, port: 0 },
        });
        await test.controller.stop();
        expect(await failure(rotateKeys(rotation, { ...options, followMs: 500 }))).to.include(
          'not seal with',
        );
        await half.stop();
        // One that was restarted as it says.
        const second = await startTestController({ ...rotation, databaseUrl: test.databaseUrl, port: 0 });
        await rotateKeys(rotation, { ...options, followMs: 10_000 });
        await second.stop();
      } finally {
        await test.stop();
      }
    });
  });

  describe('on the command line', () => {
    it('are told by their fingerprints and changed', async () => {
      const config = configOf({ dataDir: dataDir() });
      const before = openKeyring(config);
      await agreeOnKeys(db, before);
      await seal(before, 'first');
      const run = (
        args: string[],
        variables: Record<string, string> = { HEADGATE_DATA_DIR: config.dataDir },
      ) => headgateInProcess(args, { env: { HEADGATE_DATABASE_URL: database.url, ...variables } });
      const list = await run(['keys', 'list']);
      expect(list.stdout).to.equal(`${before.fingerprint}  seals, the database's key, 1 text\n`);
      const rotate = await run(['keys', 'rotate']);
      expect([rotate.code, rotate.stderr]).to.deep.equal([0, '']);
      expect(rotate.stdout).to.include('1 texts were resealed');
      const keys = readFileSync(keyFile(config.dataDir), 'utf8').trim().split('\n');
      for (const text of [list.stdout, rotate.stdout])
        for (const key of keys) expect(text).not.to.include(key);
      expect((await run(['keys'])).code).to.equal(2);
      expect((await run(['keys', '--help'])).stdout).to.include('HEADGATE_PREVIOUS_SECRET_KEYS');
      const wrong = await run(['keys', 'rotate'], { HEADGATE_SECRET_KEY: NEW });
      expect(wrong.code).to.equal(1);
      expect(wrong.stderr).to.match(/^headgate: the database is encrypted with key .*\n$/);
    });

    it('survive a rotation that is killed at any point, and the next one ends it', async function () {
      this.timeout(60_000);
      this.slow(30_000);
      const config = configOf({ dataDir: dataDir() });
      const first = openKeyring(config);
      await agreeOnKeys(db, first);
      const expected: Record<string, string> = {};
      for (let n = 0; n < 60; n += 1) expected[await seal(first, `value ${n}`)] = `value ${n}`;
      const env = {
        PATH: process.env.PATH ?? '',
        HEADGATE_DATABASE_URL: database.url,
        HEADGATE_DATA_DIR: config.dataDir,
      };
      for (const waitFor of ['New key', 'texts were resealed']) {
        const child = spawn(BIN, ['keys', 'rotate'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
        let out = '';
        child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')));
        await until(() => out.includes(waitFor), { what: `it to say ${waitFor}`, timeoutMs: 20_000 });
        child.kill('SIGKILL');
        await until(() => child.signalCode !== null || child.exitCode !== null, { what: 'its end' });
        expect(await values(openKeyring(config)), waitFor).to.deep.equal(expected);
      }
      const { code, stderr } = await headgate(['keys', 'rotate'], { env });
      expect([code, stderr]).to.deep.equal([0, '']);
      expect(await values(createKeyring(readKeyFile(keyFile(config.dataDir))[0] ?? ''))).to.deep.equal(
        expected,
      );
    });
  });

  it('that nobody knows any longer are told of by the list', async () => {
    const config = configOf({ secretKey: NEW });
    await agreeOnKeys(db, createKeyring(NEW));
    await seal(createKeyring(OLD), 'first');
    said.length = 0;
    await listKeys(config, options);
    expect(said[1]).to.equal(
      `${keyIdOf(createKeyring(OLD).fingerprint)}          not here: 1 text cannot be read`,
    );
  });
});
