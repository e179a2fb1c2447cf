/** What the controller says of a database that it cannot use, before anything else is done. */
import { chownSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { readConfig } from '../../../controller/config.ts';
import { assertDatabase } from '../../../controller/database/assert-database.ts';
import { DatabaseError } from '../../../controller/database/database-error.ts';
import { startEmbeddedPostgres } from '../../../controller/database/embedded/embedded-postgres.ts';
import { listBusNames } from '../../../controller/platform/runtime/bus.ts';
import { headgate, headgateInProcess } from '../../support/clients/command.ts';
import { AUTHORITY, EXPIRED, LEAF, LEAF_KEY } from '../../support/fixtures/certificates.ts';
import { startTestController } from '../../support/harness/controller.ts';
import { ask, clusterFolder } from '../../support/harness/embedded-cluster.ts';
import { freePort } from '../../support/harness/headgate.ts';
import { type TestDatabase, testDatabase } from '../../support/harness/postgres.ts';
import { findPgBouncer, startPgBouncer } from '../../support/servers/pgbouncer.ts';

const refusal = async (url: string): Promise<string> => {
  try {
    await assertDatabase(url, { waitMs: 0 });
  } catch (error) {
    expect(error, String(error)).to.be.instanceOf(DatabaseError);
    const { message } = error as DatabaseError;
    expect(message).not.to.match(/\n|hunter2/);
    return message;
  }
  return 'usable';
};

const SECRET_KEY = '1'.repeat(16) + 'a'.repeat(16);
const ofUrl = (url: string) => ({
  env: { HEADGATE_DATABASE_URL: url, HEADGATE_SECRET_KEY: SECRET_KEY },
});

describe('a database of an operator', function () {
  this.timeout(60_000);
  let test: TestDatabase;
  const made: string[] = [];
  before(async () => {
    test = await testDatabase();
  });
  after(async () => {
    for (const statement of made.reverse()) await ask(test.url, statement);
    await test.drop();
  });

  const changed = (change: (url: URL) => void): string => {
    const url = new URL(test.url);
    change(url);
    return url.href;
  };
  const inDatabase = (name: string) => changed((url) => (url.pathname = `/${name}`));
  const name = (what: string) => `start_${process.pid}_${what}`;
  async function create(what: string, options: string): Promise<string> {
    await ask(test.url, `CREATE DATABASE ${name(what)} ${options}`);
    made.push(`DROP DATABASE ${name(what)} WITH (FORCE)`);
    return inDatabase(name(what));
  }

  it('is refused where its encoding is not UTF-8, with the statement that makes another, which ends the start of a controller', async () => {
    const url = await create('latin', "ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0");
    const says =
      /has the encoding LATIN1, which cannot hold every character .*CREATE DATABASE .* ENCODING 'UTF8' TEMPLATE template0$/;
    expect(await refusal(url)).to.match(says);
    const error: unknown = await startTestController({ databaseUrl: url }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(DatabaseError);
    expect((error as Error).message).to.match(says);
  });

  it('is refused where it takes no writes', async () => {
    const url = await create('readonly', '');
    await ask(test.url, `ALTER DATABASE ${name('readonly')} SET default_transaction_read_only = on`);
    expect(await refusal(url)).to.match(/takes no writes: .*give the address of the primary/);
  });

  it('is refused where the password is wrong, the user unknown, or the database not there', async () => {
    expect(await refusal(changed((url) => (url.password = 'hunter2')))).to.match(
      /does not let user "\w+" in: the password is wrong, or there is no such user; correct HEADGATE_DATABASE_URL/,
    );
    expect(
      await refusal(changed((url) => Object.assign(url, { username: 'nobody_here', password: 'hunter2' }))),
    ).to.match(/does not let user "nobody_here" in: .* no such user/);
    expect(await refusal(changed((url) => (url.password = '')))).to.match(
      /asks for the password of user "\w+", and HEADGATE_DATABASE_URL has none/,
    );
    expect(await refusal(inDatabase('nowhere'))).to.match(
      /has no database "nowhere"; create it: CREATE DATABASE "nowhere"/,
    );
  });

  it('is refused where it takes no connections, with the statement that allows them', async () => {
    const url = await create('closed', '');
    await ask(test.url, `ALTER DATABASE ${name('closed')} ALLOW_CONNECTIONS false`);
    expect(await refusal(url)).to.match(
      /takes no connections; allow them, .*: ALTER DATABASE ".*closed" ALLOW_CONNECTIONS true$/,
    );
  });

  it('is refused where the user may not create tables, or no schema, with the grant that is missing', async () => {
    const url = await create('rights', '');
    const role = name('reader');
    await ask(test.url, `CREATE ROLE ${role} LOGIN PASSWORD 'reader'`);
    made.push(`DROP ROLE ${role}`);
    const asReader = new URL(url);
    Object.assign(asReader, { username: role, password: 'reader' });
    expect(await refusal(asReader.href)).to.match(
      /may not create tables in database .*ALTER DATABASE .* OWNER TO .*: GRANT USAGE, CREATE ON SCHEMA public TO "\w+"; GRANT CREATE ON DATABASE "\w+" TO "\w+"$/,
    );
    await ask(url, `GRANT CREATE ON SCHEMA public TO ${role}`);
    expect(await refusal(asReader.href)).to.match(
      /may not create the schema of the job queue .*: GRANT CREATE ON DATABASE "\w+" TO "\w+"$/,
    );
    await ask(test.url, `GRANT CREATE ON DATABASE ${name('rights')} TO ${role}`);
    expect(await refusal(asReader.href)).to.equal('usable');
    await ask(test.url, `REVOKE ALL ON DATABASE ${name('rights')} FROM ${role}`);
    await ask(url, `REVOKE ALL ON SCHEMA public FROM ${role}`);
    await ask(test.url, `ALTER DATABASE ${name('rights')} CONNECTION LIMIT 0`);
    expect(await refusal(asReader.href)).to.match(/has no connection left .*a controller needs 27/);
  });

  it('is refused where nothing listens, or something else', async () => {
    const port = await freePort();
    expect(await refusal(`postgres://a:hunter2@127.0.0.1:${port}/a`)).to.equal(
      `nothing listens at 127.0.0.1:${port}; start PostgreSQL there, or look at HEADGATE_DATABASE_URL`,
    );
    expect(await refusal('postgres://a:hunter2@no-such-host.invalid/a')).to.include(
      'no name server knows the host of no-such-host.invalid:5432',
    );
    expect(await refusal('postgres://a:hunter2@/a?host=/nowhere')).to.equal(
      'nothing listens at /nowhere:5432; start PostgreSQL there, or look at HEADGATE_DATABASE_URL',
    );
    const closing = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await new Promise((resolve) => closing.once('listening', resolve));
    const { port: other } = closing.address() as { port: number };
    expect(await refusal(`postgres://a:hunter2@127.0.0.1:${other}/a`)).to.include('does not answer');
    closing.close();
  });

  it('is refused by each command in one line, without the password', async () => {
    const port = await freePort();
    const unreadable = 'HEADGATE_DATABASE_URL cannot be read';
    for (const [args, url, says] of [
      [['serve'], `postgres://u:hunter2@127.0.0.1:${port}/x?sslmde=require`, 'did you mean sslmode?'],
      [['migrate'], 'postgres://u:hunter2/w@127.0.0.1/x', unreadable],
      [['migrate'], 'postgres://u:hunter2%ff@127.0.0.1/x', unreadable],
      [['keys', 'list'], `postgres://u:hunter2@127.0.0.1:${port}/x`, 'nothing listens at'],
      [['audit', 'verify'], `postgres://u:hunter2@127.0.0.1:${port}/x`, 'nothing listens at'],
      [['recover', 'a@b.example'], `postgres://u:hunter2@127.0.0.1:${port}/x`, 'nothing listens at'],
    ] as const) {
      // The first one as an operator starts it.
      const run = args[0] === 'serve' ? headgate : headgateInProcess;
      const { code, stdout, stderr } = await run(args, ofUrl(url));
      expect([code !== 0, stdout], args[0]).to.deep.equal([true, '']);
      expect(stderr)
        .to.match(/^headgate: [^\n]+\n$/)
        .and.to.include(says)
        .and.not.to.include('hunter2');
    }
  });

  it('is waited for while it is not up yet', async () => {
    const port = await freePort();
    const server = new URL(test.url);
    const waits: string[] = [];
    // Listens once it is waited for, and passes on to the real one.
    const late = createServer((near) => {
      const far = connect(Number(server.port), server.hostname);
      for (const socket of [near, far]) socket.on('error', () => {});
      near.pipe(far).pipe(near);
    });
    await assertDatabase(
      changed((one) => Object.assign(one, { hostname: '127.0.0.1', port: String(port) })),
      {
        ...{ waitMs: 30_000, pauseMs: 20 },
        onWait(sentence) {
          waits.push(sentence);
          late.listen(port, '127.0.0.1');
        },
      },
    );
    late.close();
    expect(waits).to.have.length(1);
    expect(waits[0]).to.match(/nothing listens .* It is tried again for 30 s$/);
  });

  describe('over TLS', () => {
    const folder = clusterFolder();
    let cluster: Awaited<ReturnType<typeof startEmbeddedPostgres>>;
    before(async () => {
      cluster = await startEmbeddedPostgres({ dataDir: folder, log: () => undefined });
      const data = join(folder, 'postgres');
      const { uid, gid } = statSync(data);
      for (const [file, text] of [
        ['server.crt', LEAF],
        ['server.key', LEAF_KEY],
      ] as const) {
        writeFileSync(join(data, file), text, { mode: 0o600 });
        chownSync(join(data, file), uid, gid);
      }
      writeFileSync(join(folder, 'authority.pem'), AUTHORITY);
    });
    after(async () => {
      await cluster.stop();
      await rm(folder, { recursive: true, force: true });
    });
    const withMode = (query: string, host = 'localhost') => {
      const url = new URL(cluster.url);
      url.hostname = host;
      url.search = query;
      return url.href;
    };

    it('is told to have none where it has none', async () => {
      expect(await refusal(withMode('sslmode=verify-full'))).to.match(
        /has no TLS; switch it on there, or take sslmode out/,
      );
    });

    it('is trusted by the authority that sslrootcert names, and refused without, by sentences that say so', async () => {
      await ask(cluster.url, 'ALTER SYSTEM SET ssl = on');
      await ask(cluster.url, 'SELECT pg_reload_conf()');
      const authority = encodeURIComponent(join(folder, 'authority.pem'));
      let answer = '';
      // The setting is read by the next connection, a moment later.
      for (let tries = 0; tries < 100 && !answer.includes('not trusted'); tries += 1)
        answer = await refusal(withMode('sslmode=verify-full'));
      expect(answer)
        .to.match(/is not trusted \(.*\); add &sslrootcert=<file with the authority/)
        .and.not.to.match(/Node\.js|--use/);
      expect(await refusal(withMode(`sslmode=verify-full&sslrootcert=${authority}`))).to.equal('usable');
      for (const query of [
        'sslmode=no-verify',
        'ssl=no-verify',
        'ssl=0',
        'uselibpqcompat=true&sslmode=require',
        `ssl=true&sslrootcert=${authority}`,
        `sslnegotiation=direct&sslmode=verify-full&sslrootcert=${authority}`,
      ])
        expect(await refusal(withMode(query)), query).to.equal('usable');
      expect(await refusal(withMode('ssl=true'))).to.include('is not trusted');
      expect(await refusal(withMode('sslmode=disable&sslnegotiation=direct'))).to.match(
        /^HEADGATE_DATABASE_URL cannot be used: sslnegotiation=direct requires/,
      );
    });

    it('is refused where a file of its address is not there or holds something else', async () => {
      const named = (parameter: string, file: string) =>
        refusal(withMode(`sslmode=verify-full&${parameter}=${encodeURIComponent(join(folder, file))}`));
      for (const parameter of ['sslrootcert', 'sslcert', 'sslkey'])
        expect(await named(parameter, 'nowhere.pem')).to.match(
          new RegExp(
            `^${parameter} of HEADGATE_DATABASE_URL names the file .*nowhere\\.pem, which does not exist`,
          ),
        );
      writeFileSync(join(folder, 'empty.pem'), '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n');
      for (const [parameter, file, holds] of [
        ['sslrootcert', 'empty.pem', 'certificate'],
        ['sslrootcert', 'postgres/server.key', 'certificate'],
        ['sslcert', 'postgres/server.key', 'certificate'],
        ['sslkey', 'authority.pem', 'private key'],
      ] as const)
        expect(await named(parameter, file)).to.match(new RegExp(`which holds no ${holds}`));
      expect(await named('sslrootcert', 'postgres')).to.match(/which cannot be read \(EISDIR\)/);
    });

    it('is refused where sslrootcert names another authority, and does not ask for what is there', async () => {
      writeFileSync(join(folder, 'other.pem'), EXPIRED);
      const other = encodeURIComponent(join(folder, 'other.pem'));
      expect(await refusal(withMode(`sslmode=verify-full&sslrootcert=${other}`)))
        .to.match(/is not signed by an authority in the file that sslrootcert .* names/)
        .and.not.to.include('add &');
    });

    it('is taken by commands with each word for a TLS that is checked, without a warning, and not by less than verify-full', async () => {
      const authority = encodeURIComponent(join(folder, 'authority.pem'));
      const { code, stderr } = await headgate(
        ['migrate'],
        ofUrl(withMode(`sslmode=require&sslrootcert=${authority}`)),
      );
      expect([code, stderr]).to.deep.equal([0, '']);
      for (const mode of ['require', 'verify-ca', 'prefer', 'verify-full']) {
        const checked = readConfig({
          HEADGATE_DATABASE_URL: withMode(`sslmode=${mode}&sslrootcert=${authority}`),
        }).databaseUrl as string;
        expect(await refusal(checked), mode).to.equal('usable');
        const elsewhere = new URL(checked);
        elsewhere.hostname = '0.0.0.0';
        expect(await refusal(elsewhere.href), mode).to.match(/made out for another name/);
      }
    });
  });

  describe('behind PgBouncer', () => {
    before(function () {
      if (findPgBouncer() === null) this.skip();
    });
    for (const [mode, says] of [
      ['session', /^usable$/],
      ['transaction', /a connection pooler in transaction mode.*pool_mode = session/],
      ['statement', /a connection pooler in transaction mode.*pool_mode = session/],
    ] as const)
      it(`is ${mode === 'session' ? 'taken' : 'refused'} in ${mode} mode`, async () => {
        const pooler = await startPgBouncer(test.url, mode);
        try {
          expect(await refusal(pooler.url)).to.match(says);
        } finally {
          await pooler.stop();
        }
      });
  });

  it('has no limit of its role on what must come to its end, and keeps the name by which controllers know each other', async () => {
    const url = await create('limits', '');
    await ask(test.url, `ALTER DATABASE ${name('limits')} SET statement_timeout = '1s'`);
    expect(await ask(url, 'SHOW statement_timeout')).to.deep.equal({ statement_timeout: '1s' });
    const controller = await startTestController({ databaseUrl: `${url}?application_name=ours` });
    try {
      const { db } = controller.controller.systemContext('test');
      const { rows } = await db.raw(
        `SELECT current_setting('statement_timeout') AS timeout, current_setting('application_name') AS name`,
      );
      expect(rows[0]).to.deep.equal({ timeout: '0', name: 'ours' });
      expect(await listBusNames(db)).to.have.length(1);
    } finally {
      await controller.stop();
    }
  });
});
