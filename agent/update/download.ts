import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Clock } from '../../reconcilers/loops/clock.ts';
import { LIMITS } from '../limits.ts';
import { describe, route } from '../link/http.ts';
import { removeFile } from '../supervise/files/atomic-files.ts';
import { addressProblem } from './download-address.ts';

/** What went wrong, as users read it. Without the address, which may hold a credential. */
export class UpdateError extends Error {
  override name = 'UpdateError';
}

export interface DownloadOptions {
  /** Created; must not exist. */
  path: string;
  serviceUrl: string;
  clock: Clock;
  signal: AbortSignal;
}

const REDIRECTS = 3;
/** A server that sends nothing for this long has stopped sending. */
const STALL_MS = 30_000;

/**
 * Fetches a file, which only its owner may read, and flushes it. Answers the SHA-256 of what was written. Leaves nothing
 * behind when it throws UpdateError. No token goes along: what is served to agents needs none.
 */
export async function download(url: string, options: DownloadOptions): Promise<Buffer> {
  const { path, clock, signal } = options;
  const abort = new AbortController();
  const give = (reason: string) => abort.abort(new UpdateError(reason));
  const onAbort = () => give('the agent is stopping');
  signal.addEventListener('abort', onAbort, { once: true });
  const cancelDeadline = clock.after(LIMITS.updateDownloadMs, () =>
    give(`the download took longer than ${LIMITS.updateDownloadMs / 1_000} s`),
  );
  let cancelStall = () => {};
  const alive = () => {
    cancelStall();
    cancelStall = clock.after(STALL_MS, () => give(`the server sent nothing for ${STALL_MS / 1_000} s`));
  };
  try {
    alive();
    const response = await follow(url, options.serviceUrl, abort.signal);
    return await store(response, path, alive, abort.signal);
  } catch (error) {
    removeFile(path);
    const reason: unknown = abort.signal.aborted ? abort.signal.reason : error;
    throw reason instanceof UpdateError ? reason : new UpdateError(describe(reason));
  } finally {
    cancelDeadline();
    cancelStall();
    signal.removeEventListener('abort', onAbort);
    abort.abort();
  }
}

async function follow(first: string, serviceUrl: string, signal: AbortSignal): Promise<Response> {
  let from: URL | undefined;
  let next = first;
  for (let redirects = 0; redirects <= REDIRECTS; redirects += 1) {
    const problem = addressProblem(next, serviceUrl, from);
    if (problem) throw new UpdateError(problem);
    const response = await fetch(next, {
      signal,
      redirect: 'manual',
      headers: { accept: 'application/octet-stream', 'accept-encoding': 'identity' },
      ...route(next),
    });
    const location = response.headers.get('location');
    if (response.status === 200) return response;
    await response.body?.cancel();
    if (response.status < 300 || response.status >= 400 || !location)
      throw new UpdateError(`the server answered with status ${response.status}`);
    from = new URL(next);
    next = URL.parse(location, from.href)?.href ?? 'not a URL';
  }
  throw new UpdateError(`redirected more than ${REDIRECTS} times`);
}

async function store(
  response: Response,
  path: string,
  alive: () => void,
  signal: AbortSignal,
): Promise<Buffer> {
  const tooLarge = () => new UpdateError(`the file is over the limit of ${LIMITS.updateBytes} bytes`);
  if (Number(response.headers.get('content-length') ?? 0) > LIMITS.updateBytes) throw tooLarge();
  if (!response.body) throw new UpdateError('the server sent no file');
  const file = await create(path);
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of response.body) {
      signal.throwIfAborted();
      alive();
      bytes += chunk.length;
      if (bytes > LIMITS.updateBytes) throw tooLarge();
      hash.update(chunk);
      await writing(file.appendFile(chunk), path);
    }
    await writing(file.sync(), path);
    return hash.digest();
  } finally {
    await file.close();
  }
}

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

async function create(path: string): Promise<FileHandle> {
  const file = await writing(open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o700), path);
  await writing(file.chmod(0o700), path);
  return file;
}

async function writing<T>(work: Promise<T>, path: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    const hint = HINTS[code] ?? 'the folder of the executable cannot be written';
    throw new UpdateError(`cannot write beside the executable (${code}): ${hint}: ${path.slice(0, 300)}`);
  }
}

const HINTS: Record<string, string> = {
  ENOSPC: 'no space is left there',
  EROFS: 'it is read-only',
  EACCES: 'the user of the agent has no right to it',
};
