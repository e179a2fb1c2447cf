import { execFile } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { chown, link, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { assertRuns, binaryPath, spawnOptions } from './binaries.ts';
import { diskFull, EmbeddedPostgresError, reportsDiskFull, withFiles } from './embedded-postgres-error.ts';
import { clusterDir, type Location } from './location.ts';
import { isAlive } from './postmaster.ts';

const run = promisify(execFile);

const PORTS = { from: 12_000, below: 20_000 };
const PORT_TRIES = 20;

/** Superuser of the cluster, and its database. */
export const ROLE = 'headgate';

/**
 * Makes the cluster when there is none and answers its password.
 * It is made aside and moved into place whole, so a crash leaves nothing half made and two starters do no harm.
 */
export async function ensureCluster(location: Location, settings: { sync: boolean }): Promise<string> {
  const cluster = clusterDir(location);
  const version = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => undefined);
  if (version === undefined) return withFiles(location.dir, () => createCluster(location, settings));
  const made = Number.parseInt(version, 10);
  const { major } = location.binaries;
  if (made !== major) {
    throw new EmbeddedPostgresError(
      `The database in ${cluster} was made by PostgreSQL ${made}, and Headgate now brings ${major}: ` +
        `dump it and load it into a new one, or serve it with PostgreSQL ${made} and set HEADGATE_DATABASE_URL`,
    );
  }
  const password = await readFile(passwordFile(location), 'utf8').catch(() => undefined);
  if (password === undefined) {
    throw new EmbeddedPostgresError(
      `The password of the database in ${cluster} is missing: restore ${passwordFile(location)}, ` +
        'or move that folder away to start with an empty database',
    );
  }
  return password.trim();
}

async function createCluster(location: Location, { sync }: { sync: boolean }): Promise<string> {
  const cluster = clusterDir(location);
  const present = await readdir(cluster).catch(() => []);
  if (present.length > 0) {
    throw new EmbeddedPostgresError(
      `${cluster} holds something else than a database: move it away, or set HEADGATE_DATA_DIR to another folder`,
    );
  }
  await assertRuns(location.binaries, location.user);
  await removeLeftovers(location.dir);
  const password = await ensurePassword(location);
  const staging = join(location.dir, `postgres.new-${process.pid}`);
  await rm(staging, { recursive: true, force: true });
  try {
    await mkdir(join(staging, 'data'), { recursive: true, mode: 0o700 });
    const given = join(staging, 'password');
    await writeFile(given, password, { mode: 0o600 });
    if (location.user) {
      for (const path of [given, join(staging, 'data'), staging]) {
        await chown(path, location.user.uid, location.user.gid);
      }
    }
    await initdb(location, join(staging, 'data'), given, sync);
    await rename(join(staging, 'data'), cluster).catch(async (error: unknown) => {
      if ((await readdir(cluster).catch(() => [])).length === 0) throw error; // else another starter was first
    });
    await syncFolder(location.dir);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return password;
}

async function initdb(location: Location, dir: string, passwordPath: string, sync: boolean): Promise<void> {
  // C.UTF-8 of Postgres' own: sorts by code point like C, folds the case of all letters, and no libc or ICU update moves it.
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const login = [`--username=${ROLE}`, '--auth=scram-sha-256', `--pwfile=${passwordPath}`];
  // RFC 7677 stretches what people choose: of 24 random bytes nobody guesses more by trying faster, and each connection pays.
  login.push('--set=scram_iterations=1');
  const args = [`--pgdata=${dir}`, '--encoding=UTF8', ...locale, ...login, '--no-instructions'];
  if (!sync) args.push('--no-sync');
  try {
    await run(binaryPath(location.binaries, 'initdb'), args, {
      ...spawnOptions(location.binaries, location.user),
      maxBuffer: 1 << 20,
    });
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    if (reportsDiskFull(stderr ?? '')) throw diskFull(location.dir);
    const reason = /(?:error|FATAL): .*/.exec(stderr ?? '')?.[0] ?? message.split('\n')[0] ?? '';
    throw new EmbeddedPostgresError(`Cannot create the database in ${location.dir}: ${reason.slice(0, 300)}`);
  }
}

/** The first starter's password wins; every other one reads it. */
async function ensurePassword(location: Location): Promise<string> {
  const path = passwordFile(location);
  const staging = `${path}.new-${process.pid}`;
  await rm(staging, { force: true });
  await writeFile(staging, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    await link(staging, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    await rm(staging, { force: true });
  }
  return (await readFile(path, 'utf8')).trim();
}

function passwordFile(location: Location): string {
  return join(location.dir, 'postgres-password');
}

/** Half made clusters of starters that were killed. */
async function removeLeftovers(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    const pid = /^postgres\.new-(\d+)$/.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(join(dir, name), { recursive: true, force: true });
  }
}

async function syncFolder(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * A free port of 127.0.0.1: the one used last time, unless it is taken or `avoid`ed. A new one lies below those that
 * systems give to outgoing connections: such a connection could hold it just when PostgreSQL comes back, even one that
 * was meant for it and, with nobody listening there, reached itself.
 */
export async function choosePort(location: Location, avoid?: number): Promise<number> {
  const kept = Number(await readFile(portFile(location), 'utf8').catch(() => ''));
  const usable = Number.isInteger(kept) && kept >= 1024 && kept <= 65_535 && kept !== avoid;
  const port = (usable ? await tryListen(kept) : undefined) ?? (await lowPort(avoid)) ?? (await tryListen(0));
  if (port === undefined)
    throw new EmbeddedPostgresError('No free port on 127.0.0.1 for PostgreSQL: free one and start again');
  return port;
}

async function lowPort(avoid: number | undefined): Promise<number | undefined> {
  for (let tries = 0; tries < PORT_TRIES; tries += 1) {
    const port = randomInt(PORTS.from, PORTS.below);
    if (port !== avoid && (await tryListen(port)) !== undefined) return port;
  }
  return undefined;
}

/** Keeps the port for the next start. */
export async function keepPort(location: Location, port: number): Promise<void> {
  const staging = `${portFile(location)}.new-${process.pid}`;
  await withFiles(location.dir, async () => {
    await writeFile(staging, `${port}\n`, { mode: 0o600 });
    await rename(staging, portFile(location));
  });
}

function portFile(location: Location): string {
  return join(location.dir, 'postgres-port');
}

async function tryListen(port: number): Promise<number | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined));
    });
  });
}
