/**
 * The files beside the executable. From the swap until the new version's first successful poll there is `.previous`, the
 * executable before it. From the moment at which the new version is started there is `.pending` too, which says what it was
 * replaced by. Watchdog and service manager put the old one back where the new one ends in that time: they rename `.pending`
 * to `.failed`, then `.previous` to the executable. Without `.pending` the new version was never started, and nothing has failed.
 */
import {
  chmodSync,
  chownSync,
  copyFileSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { flushDirectory, removeFile, writeFilesAtomically } from '../supervise/files/atomic-files.ts';
import { UpdateError } from './download.ts';

export const previousOf = (executable: string) => `${executable}.previous`;
export const pendingOf = (executable: string) => `${executable}.pending`;
export const failedOf = (executable: string) => `${executable}.failed`;

export interface Swap {
  to: string;
  /** SHA-256 in hex. */
  digest: string;
  from: string;
  /** Why it did not hold, where that is known. */
  reason?: string;
}

const written = ({ to, digest, from, reason = '' }: Swap) => `${to}\n${digest}\n${from}\n${reason}\n`;

/** Undefined where there is no such file, or nothing that we wrote. */
export function readSwap(path: string): Swap | undefined {
  try {
    const [to = '', digest = '', from = '', reason = ''] = readFileSync(path, 'utf8')
      .slice(0, 4_096)
      .split('\n');
    return /^\S{1,64}$/.test(to) && /^[0-9a-f]{64}$/.test(digest) ? { to, digest, from, reason } : undefined;
  } catch {
    return undefined;
  }
}

/** Puts the new file in the executable's place, in one step. Throws UpdateError with everything as it was. */
export function replaceExecutable(executable: string, fresh: string): void {
  try {
    const { mode, uid, gid } = statSync(executable);
    chmodSync(fresh, mode & 0o7777);
    if (process.getuid?.() === 0) chownSync(fresh, uid, gid);
    removeFile(failedOf(executable));
    removeFile(pendingOf(executable));
    removeFile(previousOf(executable));
    keep(executable, previousOf(executable));
    renameSync(fresh, executable);
  } catch (error) {
    confirm(executable);
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new UpdateError(`cannot replace the executable (${code})`);
  }
  flushDirectory(dirname(executable));
}

/** The new version is about to be started. Throws WriteError. */
export function markPending(executable: string, swap: Swap): void {
  writeFilesAtomically([{ path: pendingOf(executable), data: written(swap) }]);
}

/** A second name for the same file, which costs no space; a copy where the file system has no such thing. */
function keep(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    try {
      copyFileSync(from, to);
      chmodSync(to, statSync(from).mode & 0o7777);
    } catch (error) {
      removeFile(to);
      throw error;
    }
  }
}

/** Restores the executable from before the swap; the next start reads the reason from `.failed`. */
export function putBack(executable: string, swap: Swap): void {
  try {
    writeFilesAtomically([{ path: failedOf(executable), data: written(swap) }]);
  } catch {
    // On a full disk the old version runs again without the reason.
  }
  undo(executable);
}

/** As if the swap had never been. */
export function undo(executable: string): void {
  removeFile(pendingOf(executable));
  renameSync(previousOf(executable), executable);
}

/** The version that runs is the one to keep. In this order: `.previous` alone is a putting back that was cut off. */
export function confirm(executable: string): void {
  removeFile(previousOf(executable));
  removeFile(pendingOf(executable));
}

const TEMPORARY = '.svc-update-';
export const temporaryPath = (executable: string, random: string) =>
  join(dirname(executable), `.${basename(executable)}${TEMPORARY}${random}`);

/** Downloads of an agent that was killed meanwhile. */
export function removeHalfDownloads(executable: string): void {
  const folder = dirname(executable);
  const start = `.${basename(executable)}${TEMPORARY}`;
  try {
    for (const name of readdirSync(folder)) if (name.startsWith(start)) removeFile(join(folder, name));
  } catch {
    // A folder that cannot be listed cannot be written either, which the download will tell.
  }
}
