import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import {
  assertRuns,
  type Binaries,
  canRun,
  copyBinaries,
  findBinaries,
  hydrate,
  type PostgresUser,
} from './binaries.ts';
import { EmbeddedPostgresError, withFiles } from './embedded-postgres-error.ts';

const run = promisify(execFile);

/** Where clusters live whose data directory the lent user cannot enter. */
const SHARED_ROOT = '/var/lib/headgate';

/** Who runs Postgres, from where, on what. */
export interface Location {
  /** Holds the cluster `postgres/` with its password and port. */
  dir: string;
  binaries: Binaries;
  /** Absent: Postgres runs as ourselves. */
  user?: PostgresUser;
}

/** The cluster's folder inside a location. */
export function clusterDir(location: { dir: string }): string {
  return join(location.dir, 'postgres');
}

/** The folder used in place of a data directory (a real path) that Postgres' user cannot enter. */
export function relocatedDir(dataDir: string): string {
  return join(SHARED_ROOT, createHash('sha256').update(dataDir).digest('hex').slice(0, 16));
}

/** Chooses user, binaries and folder for the cluster of `dataDir`, an existing real path. */
export async function resolveLocation(dataDir: string, log: (message: string) => void): Promise<Location> {
  const packaged = await findBinaries();
  return process.getuid?.() === 0 ? asRoot(dataDir, packaged, log) : asOurselves(dataDir, packaged, log);
}

async function asOurselves(
  dataDir: string,
  packaged: Binaries,
  log: (message: string) => void,
): Promise<Location> {
  const owner = await ownerOf(clusterDir({ dir: dataDir }));
  if (owner && owner.uid !== process.getuid?.()) {
    throw new EmbeddedPostgresError(
      `The database in ${clusterDir({ dir: dataDir })} belongs to the user with id ${owner.uid}: ` +
        'start as that user or as root, or set HEADGATE_DATA_DIR to another folder',
    );
  }
  if (!owner && (await ownerOf(clusterDir({ dir: relocatedDir(dataDir) })))) {
    log(`root keeps another database of ${dataDir} in ${relocatedDir(dataDir)}; this user starts its own`);
  }
  if (await hydrate(packaged)) return { dir: dataDir, binaries: packaged };
  return { dir: dataDir, binaries: await withFiles(dataDir, () => copyBinaries(packaged, dataDir)) };
}

async function asRoot(
  dataDir: string,
  packaged: Binaries,
  log: (message: string) => void,
): Promise<Location> {
  const inPlace = clusterDir({ dir: dataDir });
  const moved = relocatedDir(dataDir);
  const owner = await ownerOf(inPlace);
  const movedOwner = owner ? undefined : await ownerOf(clusterDir({ dir: moved }));
  const user = userWithId(owner) ?? userWithId(movedOwner) ?? (await unprivilegedUser());
  const [enters, runs] = await Promise.all([
    canEnter(dataDir, user),
    hydrate(packaged).then((hydrated) => hydrated && canRun(packaged, user)),
  ]);
  if (owner && !enters) {
    throw new EmbeddedPostgresError(
      `The user ${user.name} cannot enter ${await firstClosed(dataDir, user)} to reach the database in ${inPlace}: ` +
        'let it pass (chmod o+x), or set HEADGATE_DATA_DIR to another folder',
    );
  }
  if (owner && runs) return { dir: dataDir, binaries: packaged, user };
  if (!owner && !movedOwner && enters && runs) return { dir: dataDir, binaries: packaged, user };

  await withFiles(moved, async () => {
    await mkdir(moved, { recursive: true });
    // Ours, and nothing in them is readable through them: the cluster is 0700, the password 0600.
    for (const dir of [SHARED_ROOT, moved]) await chmod(dir, 0o711);
  });
  const binaries = runs ? packaged : await withFiles(moved, () => copyBinaries(packaged, moved));
  if (!runs) await assertRuns(binaries, user);
  if (owner) {
    log(`PostgreSQL runs as user ${user.name}, with its binaries in ${moved}`);
    return { dir: dataDir, binaries, user };
  }
  log(
    `PostgreSQL runs as user ${user.name}, which cannot enter this folder: its data and binaries are in ${moved}`,
  );
  return { dir: moved, binaries, user };
}

async function ownerOf(path: string): Promise<{ uid: number; gid: number } | undefined> {
  return stat(path).then(
    ({ uid, gid }) => ({ uid, gid }),
    () => undefined,
  );
}

/** A cluster goes on being run by its owner. */
function userWithId(owner: { uid: number; gid: number } | undefined): PostgresUser | undefined {
  if (!owner || owner.uid === 0) return undefined;
  return { name: `#${owner.uid}`, ...owner };
}

async function unprivilegedUser(): Promise<PostgresUser> {
  for (const name of ['postgres', 'nobody']) {
    const ids = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]).catch(() => undefined);
    const [uid, gid] = ids?.map(({ stdout }) => Number(stdout)) ?? [];
    if (uid && gid) return { name, uid, gid };
  }
  throw new EmbeddedPostgresError(
    'PostgreSQL refuses to run as root and there is no user postgres or nobody: ' +
      'start as another user, or set HEADGATE_DATABASE_URL',
  );
}

/** Asks the kernel as that user, so that modes, groups and ACLs of the whole path count. */
async function canEnter(dir: string, { uid, gid }: PostgresUser): Promise<boolean> {
  return run('/bin/sh', ['-c', 'test -x "$1"', 'sh', dir], { uid, gid, cwd: '/', env: {} }).then(
    () => true,
    () => false,
  );
}

async function firstClosed(dir: string, user: PostgresUser): Promise<string> {
  const parent = dirname(dir);
  if (parent === dir || (await canEnter(parent, user))) return dir;
  return firstClosed(parent, user);
}
