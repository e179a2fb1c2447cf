import { closeSync, constants, existsSync, fchmodSync, fstatSync, openSync, readSync } from 'node:fs';
import { flushDirectory, writeFilesAtomically } from '../supervise/files/atomic-files.ts';
import type { DataDirectory } from '../supervise/files/data-directory.ts';
import { isToken } from './answers.ts';

/** The token file is there but of no use. */
export class TokenError extends Error {
  override name = 'TokenError';
}

/** More than any token; what is longer is none. */
const MAX_BYTES = 4_096;

/**
 * The node's credential; undefined on a first run. A file that others could read is closed. A link is not followed: who
 * can place one must not have another file read and sent. Throws TokenError.
 */
export function loadNodeToken(directory: DataDirectory): string | undefined {
  const path = directory.token;
  let text: string | undefined;
  try {
    text = readPrivately(path)?.trim();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return undefined;
    // A link that leads nowhere is replaced by the token to come.
    if (code === 'ELOOP' && !existsSync(path)) return undefined;
    if (code === 'ELOOP')
      throw new TokenError(`node token ${path} is a symbolic link: put the file itself there`);
    throw new TokenError(`node token ${path} cannot be read (${code}): fix its owner and mode`);
  }
  if (text !== undefined && isToken(text)) return text;
  throw new TokenError(
    `node token ${path} is empty or damaged: delete it and start again with a new SVC_TOKEN`,
  );
}

/** Undefined for what is no plain file. */
function readPrivately(path: string): string | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const file = fstatSync(handle);
    if (!file.isFile()) return undefined;
    if ((file.mode & 0o077) !== 0) fchmodSync(handle, 0o600);
    const bytes = Buffer.alloc(MAX_BYTES);
    return bytes.toString('utf8', 0, readSync(handle, bytes));
  } finally {
    closeSync(handle);
  }
}

/** Throws WriteError; an existing file is then left as it was. */
export function saveNodeToken(directory: DataDirectory, token: string): void {
  writeFilesAtomically([{ path: directory.token, data: `${token}\n` }]);
  flushDirectory(directory.root);
}
