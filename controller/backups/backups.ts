/** Runs backups in this process: it makes, verifies and restores them, one at a time on all controllers together. */
import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { Knex } from 'knex';
import type { Clock } from '../../reconcilers/loops/clock.ts';
import type { BackupRun } from '../../schemas/api/backups.ts';
import { connect } from '../database/connect.ts';
import { conflict, DomainError, messageOf } from '../platform/operation/errors.ts';
import type { Bus } from '../platform/runtime/bus.ts';
import type { Logger } from '../platform/runtime/logger.ts';
import { createArchive } from './archive/create-archive.ts';
import { bytesOf } from './archive/manifest.ts';
import { verifyArchive } from './archive/verify-archive.ts';
import { gitdirOf } from './restore/pending-repository.ts';
import { restoreArchive } from './restore/restore-archive.ts';
import { createReporter, type RunReporter } from './runs/progress.ts';
import { pruneScheduled } from './runs/prune-scheduled.ts';
import { recordRestore } from './runs/record-restore.ts';
import { findRun, finishRun, type RunProgress, withRunLock } from './runs/runs-store.ts';
import { readBackupSettings } from './settings/settings-store.ts';
import { localStorage } from './storage/local-storage.ts';
import { openStorage, type StorageParts } from './storage/open-storage.ts';
import { type BackupStorage, manifestNameOf } from './storage/storage.ts';

export interface BackupsOptions extends StorageParts {
  databaseUrl: string;
  bus: Bus;
  clock: Clock;
  log: Logger;
}

export interface Backups {
  /** Does the work of a run that was inserted. Settles with its end, and never rejects. */
  run(id: string, how?: RunOptions): Promise<void>;
  /** The storage of the settings. To be closed. */
  open(db: Knex): Promise<BackupStorage>;
  readonly parts: StorageParts;
  stop(): Promise<void>;
}

export interface RunOptions {
  /** A file of this machine in the place of the storage. */
  file?: string | undefined;
  onProgress?: ((progress: Readonly<RunProgress>) => void) | undefined;
}

declare module '../platform/operation/context.ts' {
  interface Services {
    backups: Backups;
  }
}

const STOPPED = 'The controller was stopped before it came to its end. Start it again';

export function createBackups(options: BackupsOptions): Backups {
  const { databaseUrl, bus, clock, log } = options;
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();

  async function perform(id: string, how: RunOptions): Promise<void> {
    const db = connect(databaseUrl, { poolSize: 4, name: 'headgate-backup' });
    const reporter = createReporter({ db, bus, clock, runId: id, onChange: how.onProgress });
    try {
      const held = await withRunLock(db, async () => {
        // The leader may have failed it, where this process was paused before it took the lock.
        const run = await findRun(db, id);
        if (run?.status === 'RUNNING') await work(db, run, reporter, how);
        else
          log.warn({ run: id, status: run?.status ?? null }, 'a backup or restore had ended before it began');
      });
      if (!held) throw conflict('Another process is making or restoring a backup; wait for its end');
    } catch (error) {
      const reason = stopping.signal.aborted ? STOPPED : reasonOf(error);
      log.warn({ run: id, reason }, 'a backup or restore failed');
      if (!(error instanceof DomainError) && !stopping.signal.aborted) log.debug({ err: error }, 'why');
      await reporter.flush();
      await finishRun(db, id, { status: 'FAILED', error: reason }, new Date(clock.now())).catch(() => {});
    } finally {
      await reporter.flush();
      await bus.publish(db, { type: 'ui', environmentId: null, topics: ['settings'] }).catch(() => {});
      await db.destroy();
    }
  }

  async function work(db: Knex, run: BackupRun, reporter: RunReporter, { file }: RunOptions): Promise<void> {
    const storage = file === undefined ? await openStorage(await readBackupSettings(db), options) : null;
    const read = async (): Promise<Readable> =>
      storage ? storage.read(run.filename, stopping.signal) : createReadStream(file ?? '');
    try {
      if (run.kind === 'create') await create(db, run, reporter, storage ?? fileStorage(file ?? ''));
      else if (run.kind === 'verify') await verify(db, run, reporter, read);
      else await restore(db, run, reporter, read);
      if (storage && run.kind === 'create' && run.trigger === 'scheduled')
        await pruneScheduled(db, storage, stopping.signal);
    } finally {
      storage?.close();
    }
  }

  async function create(
    db: Knex,
    run: BackupRun,
    progress: RunReporter,
    storage: BackupStorage,
  ): Promise<void> {
    const { signal } = stopping;
    const gitdir = gitdirOf(options.dataDir);
    const hasRepository = await access(gitdir).then(
      () => true,
      () => false,
    );
    const { manifest, stored } = await createArchive(
      {
        ...{ db, keyring: options.keyring, progress, signal, gitdir: hasRepository ? gitdir : null },
        ...{ createdAt: run.startedAt, createdBy: run.requestedBy, trigger: run.trigger },
      },
      (chunks) => storage.write(run.filename, chunks, signal),
    );
    await storage.write(manifestNameOf(run.filename), oneChunk(JSON.stringify(manifest)), signal);
    await progress.flush();
    await finishRun(db, run.id, { status: 'COMPLETED', size: stored }, new Date(clock.now()));
    log.info({ backup: run.filename, bytes: stored }, 'a backup was made');
  }

  async function verify(
    db: Knex,
    run: BackupRun,
    progress: RunReporter,
    read: () => Promise<Readable>,
  ): Promise<void> {
    progress.phase('Verifying the backup');
    const manifest = await verifyArchive(await read(), {
      ...{ keyring: options.keyring, signal: stopping.signal },
      progress: { read: ({ content }) => progress.rows(0, content.length) },
    });
    await progress.flush();
    await finishRun(db, run.id, { status: 'COMPLETED', size: bytesOf(manifest) }, new Date(clock.now()));
  }

  async function restore(
    db: Knex,
    run: BackupRun,
    progress: RunReporter,
    open: () => Promise<Readable>,
  ): Promise<void> {
    const left = await restoreArchive({
      ...{ id: run.id, filename: run.filename, at: new Date(clock.now()) },
      ...{ databaseUrl, db, bus, open, progress, signal: stopping.signal },
      ...{ keyring: options.keyring, dataDir: options.dataDir },
      finish: (tx, manifest) => recordRestore(tx, { run, manifest, bus, at: new Date(clock.now()) }),
    });
    if (left === null) log.info({ backup: run.filename }, 'a backup was restored');
    else log.warn({ backup: run.filename, reason: left }, 'a backup was restored, but for its repository');
  }

  return {
    parts: options,
    open: async (db) => openStorage(await readBackupSettings(db), options),
    run(id, how = {}) {
      const done = perform(id, how).catch((error: unknown) =>
        log.error({ run: id, reason: messageOf(error) }, 'a backup or restore broke off'),
      );
      running.add(done);
      return done.finally(() => running.delete(done));
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

/** Errors that are not ours may quote a statement or a value. */
function reasonOf(error: unknown): string {
  if (error instanceof DomainError || (error as Error).name === 'SchemaError') return messageOf(error);
  const { code } = error as { code?: unknown };
  return typeof code === 'string'
    ? `It broke off with the error ${code}; the log of the controller has more. Nothing was changed`
    : 'It broke off with an unexpected error; the log of the controller has more. Nothing was changed';
}

/** Writes to one file that the operator has named, and no manifest beside it. */
function fileStorage(file: string): BackupStorage {
  const folder = file.slice(0, file.lastIndexOf('/') + 1) || '.';
  const storage = localStorage(folder, { anyName: true });
  return {
    ...storage,
    write: (filename, chunks, signal) =>
      filename.endsWith('.manifest.json')
        ? Promise.resolve(0)
        : storage.write(file.slice(file.lastIndexOf('/') + 1), chunks, signal),
  };
}

async function* oneChunk(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}
