/** Makes an archive of the database and the embedded repository, part by part. */
import type { Knex } from 'knex';
import packageFile from '../../../package.json' with { type: 'json' };
import type { BackupTrigger } from '../../../schemas/api/backups.ts';
import type { Keyring } from '../../platform/crypto/keyring.ts';
import {
  inSnapshot,
  listBindings,
  listMigrationNames,
  listPartitions,
  listSequences,
  listTables,
  readKeyFingerprints,
  readRows,
  readWaitingJobs,
  type TableShape,
} from '../database/snapshot-queries.ts';
import { readBundle, readBundleFacts } from '../repository/bundle.ts';
import { bundleFile, jobsFile, tableFile } from './entry-names.ts';
import { linesOf } from './lines.ts';
import {
  type ArchiveHeader,
  type ArchiveManifest,
  type ArchiveTable,
  FORMAT,
  HEADER_FILE,
  MANIFEST_FILE,
  SIGNATURE_FILE,
  SIGNATURE_PURPOSE,
} from './manifest.ts';
import { type ArchiveWriter, writeArchive } from './write-archive.ts';

/** Uncompressed. A restore has some copies of one in memory, and so has PostgreSQL. */
const PART_BYTES = 2 * 1024 * 1024;

export interface CreateProgress {
  begin(tables: number): void;
  table(name: string): void;
  rows(count: number, bytes: number): void;
  tableDone(): void;
  repository(): void;
}

export interface CreateOptions {
  /** A pool of its own: one connection holds the snapshot for as long as it takes. */
  db: Knex;
  keyring: Keyring;
  /** Null leaves the repository out, where its folder is not on this machine. */
  gitdir: string | null;
  createdAt: Date;
  createdBy: string;
  trigger: BackupTrigger;
  signal: AbortSignal;
  progress: CreateProgress;
}

/** `consume` gets the archive's bytes as they are made. */
export async function createArchive<T>(
  options: CreateOptions,
  consume: (chunks: AsyncIterable<Buffer>) => Promise<T>,
): Promise<{ manifest: ArchiveManifest; stored: T }> {
  let manifest: ArchiveManifest | null = null;
  const stored = await writeArchive(
    options.signal,
    async (archive) => {
      manifest = await produce(options, archive);
    },
    consume,
  );
  if (manifest === null) throw new Error('the archive has no manifest');
  return { manifest, stored };
}

async function produce(options: CreateOptions, archive: ArchiveWriter): Promise<ArchiveManifest> {
  const { gitdir, signal, keyring, progress } = options;
  const content = await inSnapshot(options.db, async (tx) => {
    const header = await headerOf(options, tx);
    await archive.add(HEADER_FILE, jsonOf(header));
    const shapes = await listTables(tx);
    progress.begin(shapes.length);
    const tables: ArchiveTable[] = [];
    for (const shape of shapes) {
      progress.table(shape.name);
      tables.push(await addTable(archive, tx, shape, options));
      progress.tableDone();
    }
    const jobs = await readWaitingJobs(tx);
    if (jobs.length > 0) await archive.add(jobsFile(1), linesOf(jobs));
    return {
      ...{ header, tables, jobs: jobs.length },
      partitions: await listPartitions(tx),
      bindings: await listBindings(tx),
      sequences: await listSequences(tx),
    };
  });
  // After the rows: what these name is in the repository, and what came to it since is applied by the next pass.
  const repository = gitdir === null ? null : await readBundleFacts(gitdir, signal);
  if (gitdir !== null && repository && !repository.isEmpty) {
    progress.repository();
    let part = 0;
    for await (const bytes of readBundle(gitdir, PART_BYTES, signal)) {
      part += 1;
      await archive.add(bundleFile(part), bytes);
      progress.rows(0, bytes.length);
    }
  }
  const manifest: ArchiveManifest = { ...content, repository, files: [...archive.files] };
  const text = JSON.stringify(manifest);
  await archive.add(MANIFEST_FILE, Buffer.from(text));
  await archive.add(SIGNATURE_FILE, Buffer.from(keyring.sign(text, SIGNATURE_PURPOSE)));
  return manifest;
}

async function headerOf(
  { keyring, createdAt, createdBy, trigger }: CreateOptions,
  tx: Knex,
): Promise<ArchiveHeader> {
  const { current, next } = await readKeyFingerprints(tx);
  return {
    ...{ format: FORMAT, version: packageFile.version, createdBy, trigger },
    createdAt: createdAt.toISOString(),
    schema: await listMigrationNames(tx),
    keys: { current: current ?? keyring.fingerprint, next },
  };
}

async function addTable(
  archive: ArchiveWriter,
  tx: Knex,
  shape: TableShape,
  { signal, progress }: CreateOptions,
): Promise<ArchiveTable> {
  const { name, columns } = shape;
  let rows = 0;
  let part = 0;
  let waiting: Buffer[] = [];
  let size = 0;
  const flush = async () => {
    part += 1;
    await archive.add(tableFile(name, part), ...waiting);
    waiting = [];
    size = 0;
  };
  for await (const lines of readRows(tx, shape)) {
    signal.throwIfAborted();
    const content = linesOf(lines);
    waiting.push(content);
    size += content.length;
    rows += lines.length;
    progress.rows(lines.length, content.length);
    if (size >= PART_BYTES) await flush();
  }
  if (size > 0) await flush();
  return { name, columns, rows };
}

const jsonOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value, null, 2));
