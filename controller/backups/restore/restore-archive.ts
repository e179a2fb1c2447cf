/**
 * Restores a backup: everything is verified, then loaded beside what is in use, then swapped in one transaction. Until that
 * commits nothing has changed, and what was made is removed again, by the next start at the latest.
 */
import { createWriteStream, existsSync, type WriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { PREPARING, withAdvisoryLock } from '../../database/advisory-lock.ts';
import { connect } from '../../database/connect.ts';
import { MIGRATIONS, migrate } from '../../database/migrate.ts';
import type { Keyring } from '../../platform/crypto/keyring.ts';
import { messageOf, preconditionFailed } from '../../platform/operation/errors.ts';
import type { Bus } from '../../platform/runtime/bus.ts';
import { type ArchiveManifest, bytesOf, rowsOf } from '../archive/manifest.ts';
import { damaged, readArchive } from '../archive/read-archive.ts';
import { sha256, verifyArchive } from '../archive/verify-archive.ts';
import { unbundle } from '../repository/bundle.ts';
import { readLastRestore } from '../runs/last-restore-store.ts';
import { updateRemainder } from '../runs/runs-store.ts';
import { beginLoading, createSchema, dropSchema, type Loader } from './load-store.ts';
import { finishRepository, gitFolder, pendingGitdir } from './pending-repository.ts';
import {
  listBlockingSessions,
  listPreviousSchemas,
  previousSchemaName,
  type Swap,
  swapSchemas,
} from './swap-store.ts';

export interface RestoreProgress {
  phase(sentence: string): void;
  begin(tables: number): void;
  rows(count: number, bytes: number): void;
  tableDone(): void;
}

export interface RestoreOptions {
  /** Of the run. */
  id: string;
  filename: string;
  at: Date;
  databaseUrl: string;
  db: Knex;
  bus: Pick<Bus, 'publish'>;
  keyring: Keyring;
  dataDir: string;
  /** Called twice: to verify, and to load. */
  open: () => Promise<Readable>;
  signal: AbortSignal;
  progress: RestoreProgress;
  /** Runs in the transaction of the swap, with the restored tables in their place. */
  finish: (tx: Knex, manifest: ArchiveManifest) => Promise<void>;
}

/** Answers what is left to do where the repository could not be put in its place, in a sentence; null where all is done. */
export async function restoreArchive(options: RestoreOptions): Promise<string | null> {
  const { id, db, keyring, signal, progress, dataDir } = options;
  progress.phase('Verifying the backup');
  const verified = await verifyArchive(await options.open(), {
    ...{ keyring, signal },
    progress: { read: ({ content }) => progress.rows(0, content.length) },
  });
  const schema = `headgate_restore_${id.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}`;
  const bundle = join(gitFolder(dataDir), `restore-${id}.bundle`);
  try {
    await createSchema(db, schema);
    const jobs = await load(options, verified, { schema, bundle });
    await prepareRepository(options, verified, bundle);
    progress.phase('Putting the backup in place');
    signal.throwIfAborted();
    await swap(options, verified, { schema, jobs });
  } catch (error) {
    const outcome = await readOutcome(db, id);
    if (outcome !== 'committed') await dropSchema(db, schema).catch(() => {});
    // Where it is not known, the next start knows it.
    if (outcome === 'rolled back') await rm(pendingGitdir(dataDir, id), { recursive: true, force: true });
    if (outcome !== 'committed') throw error;
  } finally {
    await rm(bundle, { force: true });
  }
  // Committed. Where this process ends from here on, the next start finishes the repository; others start already.
  const left = await withAdvisoryLock(db, PREPARING, () => putRepository(db, dataDir, id));
  for (const old of await listPreviousSchemas(db, previousSchemaName(options.at)).catch(() => []))
    await dropSchema(db, old).catch(() => {});
  return left;
}

/** A connection that breaks during the commit does not say what became of it; the tables do. */
const readOutcome = (db: Knex, id: string): Promise<'committed' | 'rolled back' | 'unknown'> =>
  readLastRestore(db).then(
    (last) => (last?.id === id ? 'committed' : 'rolled back'),
    () => 'unknown',
  );

/** What is left is written under the same lock: a start that finishes it takes the sentence back. */
async function putRepository(db: Knex, dataDir: string, id: string): Promise<string | null> {
  try {
    await finishRepository(dataDir, id);
    return null;
  } catch (error) {
    const left = messageOf(error);
    await updateRemainder(db, id, left);
    return left;
  }
}

/** Answers the waiting jobs. */
async function load(
  options: RestoreOptions,
  manifest: ArchiveManifest,
  { schema, bundle }: { schema: string; bundle: string },
): Promise<string[]> {
  const { databaseUrl, signal, progress, dataDir } = options;
  const had = new Set(manifest.header.schema);
  progress.phase('Creating tables');
  await migrate(databaseUrl, { schema, migrations: MIGRATIONS.filter(({ name }) => had.has(name)) });
  const inside = connect(databaseUrl, { poolSize: 1, name: 'headgate-backup', schema });
  await mkdir(gitFolder(dataDir), { recursive: true, mode: 0o700 });
  const bundleFile = createWriteStream(bundle, { mode: 0o600 });
  try {
    const loader = await beginLoading(inside, manifest);
    progress.begin(manifest.tables.length);
    const jobs = await loadFiles(options, manifest, loader, bundleFile);
    bundleFile.end();
    await finished(bundleFile);
    signal.throwIfAborted();
    progress.phase('Checking constraints');
    await loader.finish();
    progress.phase('Bringing the tables up to date');
    await migrate(databaseUrl, { schema });
    return jobs;
  } finally {
    bundleFile.destroy();
    await inside.destroy();
  }
}

async function loadFiles(
  { open, signal, progress }: RestoreOptions,
  manifest: ArchiveManifest,
  loader: Loader,
  bundle: WriteStream,
): Promise<string[]> {
  const sums = new Map(manifest.files.map(({ name, sha256: sum }) => [name, sum]));
  const jobs: string[] = [];
  let table = '';
  for await (const { name, entry, content } of readArchive(await open(), signal)) {
    if (entry.kind === 'manifest' || entry.kind === 'signature') continue;
    // It is read a second time: what was verified may have been replaced since.
    if (sums.get(name) !== sha256(content)) throw damaged(`${name} changed while it was read`);
    if (entry.kind === 'rows') {
      if (entry.table !== table) {
        table = entry.table;
        progress.phase(`Loading ${table}`);
        progress.tableDone();
      }
      progress.rows(await loader.load(entry.table, content), content.length);
    } else if (entry.kind === 'jobs') jobs.push(...content.toString('utf8').trimEnd().split('\n'));
    else if (entry.kind === 'bundle') await writeTo(bundle, content);
  }
  return jobs;
}

const writeTo = (stream: WriteStream, content: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.write(content, (error) => (error ? reject(error) : resolve()));
  });

async function prepareRepository(
  { id, dataDir, signal, progress }: RestoreOptions,
  { repository }: ArchiveManifest,
  bundle: string,
): Promise<void> {
  if (repository === null) return;
  progress.phase('Preparing the repository');
  await unbundle(
    {
      bundle: !repository.isEmpty && existsSync(bundle) ? bundle : null,
      gitdir: pendingGitdir(dataDir, id),
      head: repository.head,
    },
    signal,
  );
}

const ATTEMPTS = 10;
const PAUSE_MS = 1_000;
const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK = '40P01';

/** Transactions of controllers are short; one of somebody else may keep a table for ever. */
async function swap(
  { id, filename, at, db, bus, finish }: RestoreOptions,
  manifest: ArchiveManifest,
  { schema, jobs }: Pick<Swap, 'schema' | 'jobs'>,
): Promise<void> {
  const previousSchema = previousSchemaName(at);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await swapSchemas(db, bus, { id, filename, at, schema, previousSchema, jobs }, (tx) =>
        finish(tx, manifest),
      );
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code !== LOCK_NOT_AVAILABLE && code !== DEADLOCK) throw error;
      if (attempt >= ATTEMPTS) {
        const holders = await listBlockingSessions(db);
        throw preconditionFailed(
          `The tables stay locked by others, and nothing was changed: end the long transaction of ${holders.join(' or ') || 'another program'}, and restore again`,
        );
      }
      await sleep(PAUSE_MS);
    }
  }
}

/** `1,234 rows in 85 tables, 12.3 MB`: what an audit row says. */
export const summaryOf = (manifest: ArchiveManifest) => ({
  tables: manifest.tables.length,
  rows: rowsOf(manifest),
  bytes: bytesOf(manifest),
});
