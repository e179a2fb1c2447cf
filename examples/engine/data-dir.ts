import { accessSync, constants, statSync } from 'node:fs';

/** Why nothing can be kept in a data directory; empty if it can. */
export function dataDirErrors(dataDir: string): string[] {
  try {
    if (!statSync(dataDir).isDirectory()) return [`data_dir "${dataDir}" is not a directory`];
  } catch {
    return [`data_dir "${dataDir}" does not exist`];
  }
  try {
    accessSync(dataDir, constants.W_OK);
    return [];
  } catch {
    return [`data_dir "${dataDir}" is not writable`];
  }
}
