import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

export interface FileToWrite {
  path: string;
  data: string | Buffer;
}

/** What half-written files are called, so that a later run can recognize them. */
export const TEMPORARY_FILE = /^\.[A-Za-z0-9._-]{1,200}\.[0-9a-f]{12}\.svc-tmp$/;

/** Names the file that could not be written; the cause is the system's error. */
export class WriteError extends Error {
  override name = 'WriteError';
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.path = path;
  }
}

/**
 * Replaces all files or none: each is written beside its target and flushed before the first rename. Mode 0600 whatever
 * the umask; a symbolic link waiting at a target is replaced, not followed. Throws WriteError.
 */
export function writeFilesAtomically(files: readonly FileToWrite[]): void {
  const staged: { from: string; path: string }[] = [];
  try {
    for (const file of files) {
      staged.push({ from: stage(file), path: file.path });
    }
    for (const { from, path } of staged) {
      rename(from, path);
    }
  } catch (error) {
    for (const { from } of staged) removeFile(from);
    throw error;
  }
}

function stage({ path, data }: FileToWrite): string {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.svc-tmp`);
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  try {
    const handle = openSync(temporary, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
    try {
      fchmodSync(handle, 0o600);
      const bytes = typeof data === 'string' ? Buffer.from(data) : data;
      let written = 0;
      while (written < bytes.length) written += writeSync(handle, bytes, written);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    removeFile(temporary);
    throw new WriteError(path, error);
  }
  return temporary;
}

function rename(from: string, path: string): void {
  try {
    renameSync(from, path);
  } catch (error) {
    throw new WriteError(path, error);
  }
}

/** Makes the last rename in this folder survive a power cut. */
export function flushDirectory(path: string): void {
  const handle = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Makes the folder if needed, mode 0700 whatever the umask. A link in its place is refused: its owner would choose
 * where files are written. Throws.
 */
export function ensurePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const handle = openDirectory(path);
  try {
    fchmodSync(handle, 0o700);
  } finally {
    closeSync(handle);
  }
}

function openDirectory(path: string): number {
  const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
  try {
    return openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    throw isLink ? new Error(`${path} is a symbolic link: put a folder there`) : error;
  }
}

/** True when it was there and is gone; a missing file is no error, nor is one that cannot be removed. */
export function removeFile(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch {
    return false;
  }
}
