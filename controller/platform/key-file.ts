/** The keys of a controller that is given none: one a line in a file of the data directory, the newest first. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { KeyringError } from './keyring.ts';

export const keyFile = (dataDir: string): string => join(dataDir, 'secret-key');

/** Makes the first key where there is none; readable by its owner alone. */
export function ensureKeyFile(file: string): void {
  try {
    writeFileSync(file, `${newKey()}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
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
  writeFileSync(temporary, `${keys.join('\n')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  renameSync(temporary, file);
  const folder = openSync(dirname(file), constants.O_RDONLY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

const newKey = (): string => randomBytes(32).toString('hex');
