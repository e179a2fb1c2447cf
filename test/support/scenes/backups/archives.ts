/** Archives in memory: made of a database, changed as a disk or somebody would, and restored into one. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Knex } from 'knex';
import { createArchive } from '../../../../controller/backups/archive/create-archive.ts';
import { readArchive } from '../../../../controller/backups/archive/read-archive.ts';
import { writeArchive } from '../../../../controller/backups/archive/write-archive.ts';
import { restoreArchive } from '../../../../controller/backups/restore/restore-archive.ts';
import { connect } from '../../../../controller/database/connect.ts';
import type { Keyring } from '../../../../controller/platform/crypto/keyring.ts';
import { newId } from '../../../../controller/platform/operation/ids.ts';
import { createBus } from '../../../../controller/platform/runtime/bus.ts';
import { createLogger } from '../../../../controller/platform/runtime/logger.ts';

const { signal } = new AbortController();
const silence = {
  ...{ begin() {}, table() {}, rows() {}, tableDone() {}, repository() {}, phase() {} },
};

export async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

export async function archiveOf(
  databaseUrl: string,
  { keyring, gitdir = null }: { keyring: Keyring; gitdir?: string | null },
): Promise<Buffer> {
  const db = connect(databaseUrl, { poolSize: 1, name: 'headgate-test' });
  try {
    const made = { createdAt: new Date(), createdBy: 'Ada', trigger: 'manual' } as const;
    const { stored } = await createArchive(
      { db, keyring, gitdir, ...made, signal, progress: silence },
      collect,
    );
    return stored;
  } finally {
    await db.destroy();
  }
}

export interface RestoreInto {
  databaseUrl: string;
  keyring: Keyring;
  dataDir?: string;
  /** In the transaction of the swap. */
  finish?: () => Promise<void>;
  /** The database as the restore sees it. */
  seen?: (db: Knex) => Knex;
}

/** Answers the run's id. */
export async function restoreInto(archive: Buffer, given: RestoreInto): Promise<string> {
  const { databaseUrl, keyring, finish = async () => {}, seen = (own: Knex) => own } = given;
  const dataDir = given.dataDir ?? mkdtempSync(join(tmpdir(), 'headgate-restore-'));
  const db = connect(databaseUrl, { poolSize: 2, name: 'headgate-backup' });
  const id = newId();
  try {
    await restoreArchive({
      ...{ id, filename: 'a.tar.gz', at: new Date(), databaseUrl, keyring, dataDir, signal, finish },
      db: seen(db),
      bus: createBus({ url: databaseUrl, log: createLogger('silent') }),
      open: async () => Readable.from([archive]),
      progress: silence,
    });
    return id;
  } finally {
    await db.destroy();
  }
}

export interface ArchiveFile {
  name: string;
  content: Buffer;
}

export async function filesOf(archive: Buffer): Promise<ArchiveFile[]> {
  const files: ArchiveFile[] = [];
  for await (const { name, content } of readArchive(Readable.from([archive]), signal))
    files.push({ name, content });
  return files;
}

export const packFiles = (files: readonly ArchiveFile[]): Promise<Buffer> =>
  writeArchive(
    signal,
    async (archive) => {
      for (const { name, content } of files) await archive.add(name, content);
    },
    collect,
  );
