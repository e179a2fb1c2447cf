/** Backups in a folder of the data directory. */
import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { messageOf, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { type BackupStorage, isBackupName, type StoredFile } from './storage.ts';

/** Of a file that is still being written. */
const PARTIAL = '.partial';

/** `anyName`: an operator has named a file, which is no name that somebody sent. */
export function localStorage(folder: string, { anyName = false } = {}): BackupStorage {
  const pathOf = (filename: string) => {
    if (!anyName && !/^headgate-[a-zA-Z0-9.-]+$/.test(filename)) throw notFound('Backup');
    return join(folder, filename);
  };
  return {
    async list() {
      const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [];
        throw explain(error, folder);
      });
      const files = await Promise.all(
        names.filter(isBackupName).map(async (filename): Promise<StoredFile[]> => {
          // One that was just deleted.
          const found = await stat(join(folder, filename)).catch(() => null);
          return found?.isFile() ? [{ filename, size: found.size, modifiedAt: found.mtime }] : [];
        }),
      );
      return files.flat();
    },
    async write(filename, chunks, signal) {
      const path = pathOf(filename);
      const partial = `${path}.${randomUUID()}${PARTIAL}`;
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await pipeline(chunks, createWriteStream(partial, { mode: 0o600, flags: 'wx' }), { signal });
        await flush(partial);
        const { size } = await stat(partial);
        await rename(partial, path);
        await flush(folder);
        return size;
      } catch (error) {
        await rm(partial, { force: true });
        throw explain(error, folder);
      }
    },
    async read(filename) {
      const path = pathOf(filename);
      const found = await stat(path).catch(() => null);
      if (!found?.isFile()) throw notFound('Backup');
      return createReadStream(path, { highWaterMark: 256 * 1024 });
    },
    async delete(filename) {
      await rm(pathOf(filename), { force: true });
    },
    async deletePartial(filename) {
      const names = await readdir(folder).catch(() => []);
      for (const name of names)
        if (name.startsWith(`${filename}.`) && name.endsWith(PARTIAL))
          await rm(join(folder, name), { force: true });
    },
    close() {},
  };
}

async function flush(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function explain(error: unknown, folder: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC')
    return preconditionFailed(
      `The disk of ${folder} is full; free some space, delete old backups, or store backups in a bucket`,
    );
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM')
    return preconditionFailed(`${folder} cannot be written (${code}); make it writable for Headgate`);
  if (code === 'EIO') return preconditionFailed(`${folder} cannot be used: ${messageOf(error)}`);
  return error;
}
