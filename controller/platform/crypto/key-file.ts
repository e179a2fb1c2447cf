/** The keys of a controller that is given none: one a line in a file of the data directory, the newest first. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { KeyringError } from './keyring.ts';

/** What `link` answers on such a file system. */
const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

export const keyFile = (dataDir: string): string => join(dataDir, 'secret-key');

/**
 * Creates the first key where there is none; readable by its owner alone. What is sealed with it outlives a power failure, so
 * the key is on the disk first: the file, and its name in the folder.
 */
export function ensureKeyFile(file: string): void {
  if (!existsSync(file)) createKeyFile(file);
  // Also where it existed: the process that created it may have been killed before this.
  flush(file);
  flush(dirname(file));
}

/** The file comes whole under its name, or not at all, and never over another: whatever fails, no other is touched. */
function createKeyFile(file: string): void {
  const temporary = `${file}.${randomBytes(8).toString('hex')}.new`;
  try {
    writeFileSync(temporary, `${newKey()}\n`, { mode: 0o600, flag: 'wx' });
    flush(temporary);
    giveName(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Never over another. Where the file system has no hard links, the name is there a moment before the key. */
function giveName(temporary: string, file: string): void {
  try {
    try {
      linkSync(temporary, file);
    } catch (error) {
      if (!NO_LINKS.has(codeOf(error))) throw error;
      copyFileSync(temporary, file, constants.COPYFILE_EXCL);
    }
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

export function readKeyFile(file: string): string[] {
  const keys = readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (keys.length > 0) return keys;
  throw new KeyringError(`${file} is empty; put the earlier key back, or remove the file to make a new one`);
}

/** Puts a new key before the others. At every moment the file holds either all earlier keys or those and the new one. */
export function addKey(file: string): void {
  const keys = [newKey(), ...readKeyFile(file)];
  const temporary = `${file}.new`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, `${keys.join('\n')}\n`, { mode: 0o600, flag: 'wx' });
  flush(temporary);
  renameSync(temporary, file);
  flush(dirname(file));
}

/** @throws what the system answers, but where it cannot flush a thing of this kind: some network file systems, folders. */
function flush(path: string): void {
  const handle = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(handle);
  } catch (error) {
    if (!['EINVAL', 'ENOTSUP'].includes(codeOf(error))) throw error;
  } finally {
    closeSync(handle);
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';
const newKey = (): string => randomBytes(32).toString('hex');
