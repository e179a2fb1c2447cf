import { chmodSync, readFileSync, statSync } from 'node:fs';
import type { DataDirectory } from '../supervise/directories.ts';
import { flushDirectory, writeFilesAtomically } from '../supervise/files.ts';
import { isToken } from './answers.ts';

/** The token file is there but of no use. */
export class TokenError extends Error {
  override name = 'TokenError';
}

/** The node's credential; undefined on a first run. A file that others could read is closed. Throws TokenError. */
export function loadNodeToken(directory: DataDirectory): string | undefined {
  const path = directory.token;
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return undefined;
    throw new TokenError(`node token ${path} cannot be read (${code}): fix its owner and mode`);
  }
  if (isToken(text)) return text;
  throw new TokenError(
    `node token ${path} is empty or damaged: delete it and start again with a new SVC_TOKEN`,
  );
}

/** Throws WriteError; an existing file is then left as it was. */
export function saveNodeToken(directory: DataDirectory, token: string): void {
  writeFilesAtomically([{ path: directory.token, data: `${token}\n` }]);
  flushDirectory(directory.root);
}
