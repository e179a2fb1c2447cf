/** One embedded PostgreSQL for several controllers: who starts it, who starts it again, who stops it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { appendFile, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  joinEmbeddedPostgres,
  type SharedPostgres,
} from '../../controller/database/embedded/shared-postgres.ts';
import {
  ask,
  clusterFolder,
  clusterSeed,
  type Member,
  postmasterPid,
  postmastersOf,
  processesBelow,
  startMember,
  untilAnswers,
} from '../support/harness/embedded-cluster.ts';
import { logInto } from '../support/harness/recorded-log.ts';
import { until } from '../support/harness/until.ts';

describe('an embedded Postgres that is shared', function () {
  this.timeout(60_000);
  this.slow(5_000);

  let seed: Awaited<ReturnType<typeof clusterSeed>>;
  let dataDir: string;
  let log: string;
  let cleanups: (() => Promise<unknown> | unknown)[];

  before(async () => {
    seed = await clusterSeed();
  });
  after(() => seed.remove());

  beforeEach(() => {
    dataDir = clusterFolder();
    log = '';
    cleanups = [() => rm(dataDir, { recursive: true, force: true })];
  });
  afterEach(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
    expect(postmastersOf(dataDir)).to.deep.equal([]);
  });

  async function joinHere(settings: Record<string, string> = {}): Promise<SharedPostgres> {
    const postgres = await joinEmbeddedPostgres({
      dataDir,
      log: logInto('info', (text) => (log += text)),
      settings,
    });
    cleanups.push(() => postgres.leave());
    return postgres;
  }

  async function member(): Promise<Member> {
    const started = await startMember(dataDir);
    cleanups.push(() => started.end());
    return started;
  }

  async function killed(signal: NodeJS.Signals): Promise<number> {
    const pid = postmasterPid(dataDir);
    process.kill(pid, signal);
    await until(() => !postmastersOf(dataDir).includes(pid), { what: 'the postmaster to be gone' });
    return pid;
  }

  it('is started again on the same port after each signal that ends it, with what was committed', async () => {
    seed.copyTo(dataDir);
    const { url } = await joinHere();
    await ask(url, 'create table kept as select 42 as answer');
    for (const signal of ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGQUIT'] as const) {
      log = '';
      const pid = await killed(signal);
      await untilAnswers(url);
      expect(await ask(url, 'select answer from kept'), signal).to.deep.equal({ answer: 42 });
      expect(postmastersOf(dataDir), signal).to.have.length(1).and.not.include(pid);
      await until(() => log.includes('PostgreSQL runs again'), { what: 'the log to tell' });
      expect(log).to.contain('PostgreSQL ended unexpectedly');
    }
  });

  it('is waited for when only its connections break, and started again after one of its processes was killed, as by the kernel for want of memory', async () => {
    seed.copyTo(dataDir);
    const { url } = await joinHere();
    const pid = postmasterPid(dataDir);
    await ask(url, 'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()');
    await until(() => log.includes('connected to PostgreSQL again'), { what: 'a new connection' });
    expect(postmasterPid(dataDir)).to.equal(pid);
    const [, part = 0] = processesBelow(pid);
    process.kill(part, 'SIGKILL');
    await until(() => log.includes('PostgreSQL runs again'), { what: () => `a new start:\n${log}` });
    await untilAnswers(url);
    expect(postmasterPid(dataDir)).not.to.equal(pid);
  });

  it('is tried again with growing pauses while its port is taken, and comes back there', async () => {
    seed.copyTo(dataDir);
    const { url } = await joinHere();
    const port = Number(new URL(url).port);
    const cluster = join(dataDir, 'postgres');
    const failures = () => log.split('\n').filter((line) => line.includes('does not start yet'));
    // Kept from starting until the port is ours.
    await rename(cluster, `${cluster}-away`);
    process.kill(Number(execFileSync('head', ['-1', `${cluster}-away/postmaster.pid`])), 'SIGKILL');
    await until(() => failures().length === 1, { what: 'a first failure' });
    const squatter = createServer().listen(port, '127.0.0.1');
    await once(squatter, 'listening');
    await rename(`${cluster}-away`, cluster);
    await until(() => failures().length === 2, { what: 'a second failure' });
    expect(failures()[1]).to.contain(`its port ${port} is taken by another program`);
    expect(failures().map((line) => JSON.parse(line).retryInSeconds)).to.deep.equal([1, 2]);
    squatter.close();
    await untilAnswers(url);
    expect(new URL(url).port).to.equal(String(port));
  });

  it('does not make an empty database where its folder was removed', async () => {
    seed.copyTo(dataDir);
    const { url, leave } = await joinHere();
    const pid = postmasterPid(dataDir);
    rmSync(join(dataDir, 'postgres'), { recursive: true });
    process.kill(pid, 'SIGKILL');
    await until(() => log.includes('does not start yet'), { what: 'a failure' });
    await leave();
    const failure = await ask(url, 'select 1').catch((error: Error) => error);
    expect(failure).to.be.an('error');
  });

  it('may be left while it cannot be started', async () => {
    seed.copyTo(dataDir);
    const { leave } = await joinHere();
    await appendFile(join(dataDir, 'postgres/postgresql.conf'), '\nno_such_setting = 1\n');
    await killed('SIGKILL');
    await until(() => log.includes('does not start yet'), { what: 'a failure' });
    await leave();
    expect(log).to.contain('no_such_setting');
  });

  it('is started by one of several that come at the same moment, and stopped by the last', async () => {
    const members = await Promise.all([member(), member(), member()]);
    expect(new Set(members.map(({ url }) => url)).size).to.equal(1);
    expect(postmastersOf(dataDir)).to.have.length(1);
    const pid = postmasterPid(dataDir);
    const [first, second, third] = members;
    expect(await first?.end()).to.equal(0);
    expect(await second?.end()).to.equal(0);
    expect(postmasterPid(dataDir)).to.equal(pid);
    expect(await third?.end()).to.equal(0);
    expect(postmastersOf(dataDir)).to.deep.equal([]);
  });

  it('does not count one that was killed', async () => {
    seed.copyTo(dataDir);
    const starter = await member();
    const other = await member();
    await starter.end('SIGKILL');
    // PostgreSQL drops the lock of the dead one when it comes to read from its connection.
    const members =
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'headgate-member'";
    await until(async () => (await ask(other.url, members))?.count === 1, { what: 'one member to be left' });
    await other.end();
    expect(postmastersOf(dataDir)).to.deep.equal([]);
  });

  it('answers whoever comes while the last one leaves', async () => {
    seed.copyTo(dataDir);
    for (let round = 0; round < 3; round += 1) {
      const leaving = await member();
      const [come] = await Promise.all([member(), leaving.end()]);
      await untilAnswers(come.url);
      expect(await come.end(), come.log()).to.equal(0);
    }
    expect(postmastersOf(dataDir)).to.deep.equal([]);
  });

  it('is started again by exactly one of those who are left, and stopped when they leave at the same moment', async () => {
    seed.copyTo(dataDir);
    const starter = await member();
    const others = await Promise.all([member(), member(), member()]);
    await starter.end('SIGKILL');
    await killed('SIGKILL');
    await untilAnswers(starter.url);
    const told = (text: string) => others.filter((one) => one.log().includes(text)).length;
    await until(() => told('runs again') + told('another controller has started') === others.length, {
      what: () => `everybody to be back:\n${others.map((one) => one.log()).join('\n')}`,
    });
    expect(told('PostgreSQL runs again')).to.equal(1);
    expect(postmastersOf(dataDir)).to.have.length(1);
    expect(await Promise.all(others.map((one) => one.end()))).to.deep.equal([0, 0, 0]);
    expect(postmastersOf(dataDir)).to.deep.equal([]);
  });

  describe('on a disk that runs full', () => {
    let postgres: SharedPostgres;
    let url: string;
    let filler: string;

    beforeEach(async function () {
      const mounted = spawnSync('mount', [
        '-t',
        'tmpfs',
        '-o',
        'size=160m,mode=711',
        'headgate-test',
        dataDir,
      ]);
      if (mounted.status !== 0) this.skip(); // only root can make a small disk
      cleanups.push(() => execFileSync('umount', ['-l', dataDir]));
      seed.copyTo(dataDir);
      postgres = await joinHere({ max_wal_size: '48MB', wal_recycle: 'off' });
      ({ url } = postgres);
      filler = join(dataDir, 'filler');
      await ask(url, 'create table filled (text text)');
    });

    const fill = () =>
      spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1M', 'oflag=append', 'conv=notrunc']);
    const works = (sql: string) =>
      ask(url, sql).then(
        () => true,
        () => false,
      );
    const write = `insert into filled select repeat(gen_random_uuid()::text, 50) from generate_series(1, 2000)`;
    const tells = (text: string) =>
      until(() => log.includes(text), {
        what: () => `the log to tell:\n${log}`,
        timeoutMs: 15_000,
        everyMs: 50,
      });

    it('says so, and takes changes again once there is space', async () => {
      fill();
      await until(async () => !(await works(write)), { what: 'a change to be refused', timeoutMs: 20_000 });
      await tells(`the disk of ${dataDir} is full`);
      expect(postgres.diskFull()).to.equal(true);
      rmSync(filler);
      await until(() => works(write), { what: () => `changes to work again:\n${log}`, timeoutMs: 20_000 });
      await tells(`the disk of ${dataDir} has space again`);
      expect(postgres.diskFull()).to.equal(false);
    });

    it('is started again even when it ended of that', async () => {
      // Each asks for a new file of its own log, without which it cannot go on; what a restart frees is filled again.
      const givesUp = async () => {
        fill();
        await works('select pg_current_xact_id(), pg_switch_wal()');
        return log.includes('does not start yet');
      };
      await until(givesUp, { what: () => `a start in vain:\n${log}`, timeoutMs: 30_000, everyMs: 50 });
      expect(log).to.match(/"reason":"No space left on the disk of .*: free some/);
      rmSync(filler);
      await until(() => works(write), { what: () => `changes to work again:\n${log}`, timeoutMs: 20_000 });
      await tells(`the disk of ${dataDir} has space again`);
    });
  });
});
