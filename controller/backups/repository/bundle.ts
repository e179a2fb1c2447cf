/** The embedded repository as a bundle of git: every ref, with all that it reaches. */
import { spawn } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { defaultBranchOf, gitEnvironment } from '../../delivery/repository/index.ts';
import { preconditionFailed } from '../../platform/operation/errors.ts';

export interface BundleFacts {
  /** The branch that clones begin with. */
  head: string;
  isEmpty: boolean;
}

export async function readBundleFacts(gitdir: string, signal: AbortSignal): Promise<BundleFacts> {
  const head = (await defaultBranchOf(gitdir)) ?? 'refs/heads/main';
  const refs = await run(['for-each-ref', '--count=1', '--format=%(refname)'], gitdir, signal);
  return { head, isEmpty: refs.trim() === '' };
}

/** Streams what `git bundle create` writes, in parts of `partBytes`. Git refuses to make one of no refs. */
export async function* readBundle(
  gitdir: string,
  partBytes: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const child = spawn('git', ['bundle', 'create', '--quiet', '-', '--all'], {
    cwd: gitdir,
    env: { ...gitEnvironment(gitdir), GIT_DIR: gitdir },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  const ended = endOf(child);
  ended.catch(() => {});
  let chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size < partBytes) continue;
      yield Buffer.concat(chunks);
      chunks = [];
      size = 0;
    }
    await ended;
    if (size > 0) yield Buffer.concat(chunks);
  } finally {
    child.kill();
  }
}

/** Makes a repository of a bundle. The folder is not there yet. @throws PRECONDITION_FAILED for a bundle that git cannot read */
export async function unbundle(
  { bundle, gitdir, head }: { bundle: string | null; gitdir: string; head: string },
  signal: AbortSignal,
): Promise<void> {
  await rm(gitdir, { recursive: true, force: true });
  await mkdir(gitdir, { recursive: true, mode: 0o700 });
  await run(['init', '--quiet', '--bare', '--', gitdir], gitdir, signal);
  await run(['symbolic-ref', 'HEAD', head], gitdir, signal);
  if (bundle !== null)
    await run(['fetch', '--quiet', '--no-tags', '--', bundle, 'refs/*:refs/*'], gitdir, signal);
}

async function run(args: string[], gitdir: string, signal: AbortSignal): Promise<string> {
  const child = spawn('git', args, {
    cwd: gitdir,
    env: { ...gitEnvironment(gitdir), GIT_DIR: gitdir },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  await endOf(child);
  return output;
}

function endOf(child: { stderr: Readable } & NodeJS.EventEmitter): Promise<void> {
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    if (complaint.length < 2_000) complaint += chunk.toString('utf8');
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code: number | null) => {
      if (code === 0) resolve();
      else
        reject(preconditionFailed(`git could not handle the repository: ${complaint.trim().slice(0, 300)}`));
    });
  });
}
