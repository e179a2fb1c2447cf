/** The list of backups, and what one of them holds. */
import type { BackupEntry, BackupPreview } from '../../../schemas/api/backups.ts';
import type { Context } from '../../platform/operation/context.ts';
import { DomainError, notFound } from '../../platform/operation/errors.ts';
import { ArchiveManifest, bytesOf, rowsOf } from '../archive/manifest.ts';
import { damaged } from '../archive/read-archive.ts';
import { parse, refusalOf, verifyArchive } from '../archive/verify-archive.ts';
import { type BackupStorage, manifestNameOf, type StoredFile } from '../storage/storage.ts';
import { listCreated } from './runs-store.ts';

const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;

/** Opens the storage of the settings for `work`. */
export async function withStorage<T>(
  { db, services }: Pick<Context, 'db' | 'services'>,
  work: (storage: BackupStorage) => Promise<T>,
): Promise<T> {
  const storage = await services.backups.open(db);
  try {
    return await work(storage);
  } finally {
    storage.close();
  }
}

/** When it was made, by its name: a copy of a file is younger than what is in it. */
function timeIn({ filename, modifiedAt }: StoredFile): Date {
  const [, y, mo, d, h, mi, s] = /-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-/.exec(filename) ?? [];
  const time = new Date(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`);
  return Number.isNaN(time.getTime()) ? modifiedAt : time;
}

/** The newest first. */
export async function listBackups(ctx: Context): Promise<BackupEntry[]> {
  const files = await withStorage(ctx, (storage) => storage.list(ctx.signal));
  const created = await listCreated(ctx.db);
  return files
    .map((file): BackupEntry => {
      const run = created.get(file.filename);
      return {
        ...{ filename: file.filename, size: file.size, createdAt: timeIn(file) },
        ...{ createdBy: run?.requestedBy ?? null, trigger: run?.trigger ?? null },
        ...{ tables: run?.tablesTotal ?? null, rows: run?.rows ?? null },
      };
    })
    .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime());
}

/** @throws NOT_FOUND for a name that is not in the list */
export async function assertListed(ctx: Context, filename: string): Promise<void> {
  const files = await withStorage(ctx, (storage) => storage.list(ctx.signal));
  if (!files.some((file) => file.filename === filename)) throw notFound('Backup');
}

/** @throws NOT_FOUND for a name that is not in the list */
export async function previewBackup(ctx: Context, filename: string): Promise<BackupPreview> {
  await assertListed(ctx, filename);
  const manifest = await withStorage(ctx, (storage) => readManifest(ctx, storage, filename));
  const { header, tables, bindings, repository } = manifest;
  return {
    ...{
      filename,
      createdAt: new Date(header.createdAt),
      createdBy: header.createdBy,
      version: header.version,
    },
    tables: tables.map(({ name, rows }) => ({ name, rows })),
    ...{ rows: rowsOf(manifest), bytes: bytesOf(manifest), bindings, hasRepository: repository !== null },
    refusal: refusalOf(header, ctx.services.keyring),
  };
}

/** From the file beside the archive; where that is not there, the archive itself is read to its end. */
async function readManifest(
  ctx: Context,
  storage: BackupStorage,
  filename: string,
): Promise<ArchiveManifest> {
  const name = manifestNameOf(filename);
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of (await storage.read(name, ctx.signal)) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_MANIFEST_BYTES) throw damaged(`${name} is too large`);
    }
    return parse(ArchiveManifest, Buffer.concat(chunks), name);
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'NOT_FOUND')) throw error;
  }
  const { keyring } = ctx.services;
  return verifyArchive(await storage.read(filename, ctx.signal), { keyring, signal: ctx.signal });
}
