/**
 * A throw-away bare repository of files that are in no repository yet, so that they are read by the same reader as
 * commits: what is checked before a push is what is checked after it.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gitEnvironment } from '../../../controller/delivery/repository/index.ts';
import { openRepository, type Repository, resolveRef } from './repository.ts';

export interface ScratchFile {
  /** From the root, without `.`, `..` and `.git`. */
  path: string;
  /** Of a link: where it leads. It is reported, and never followed. */
  content: string | Buffer;
  link?: boolean;
}

export interface Scratch {
  repository: Repository;
  commit: string;
  /** Removes it. */
  remove(): Promise<void>;
}

const BRANCH = 'refs/heads/main';
const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n\thooksPath = /dev/null\n';
const COMPLAINT_CHARACTERS = 2_000;
/** Pieces that are handed to git at once, in bytes. */
const CHUNK = 256 * 1024;

/** @throws Error where git cannot be run or the disk is full. */
export async function createScratch(
  files: Iterable<ScratchFile>,
  options: { signal?: AbortSignal; subject?: string } = {},
): Promise<Scratch> {
  const gitdir = await mkdtemp(join(tmpdir(), 'headgate-scratch-'));
  const remove = () => rm(gitdir, { recursive: true, force: true });
  const repository = openRepository(gitdir);
  try {
    // What `git init` would make, without the process.
    for (const folder of ['objects/pack', 'refs/heads'])
      await mkdir(join(gitdir, folder), { recursive: true });
    await writeFile(join(gitdir, 'HEAD'), `ref: ${BRANCH}\n`);
    await writeFile(join(gitdir, 'config'), CONFIG);
    await fastImport(gitdir, stream(files, options.subject ?? 'Files at hand'), options.signal);
    const commit = await resolveRef(repository, 'main');
    if (commit === null) throw new Error('git fast-import made no commit');
    return {
      repository,
      commit,
      async remove() {
        await repository.close();
        await remove();
      },
    };
  } catch (error) {
    await repository.close();
    await remove();
    throw error;
  }
}

function* stream(files: Iterable<ScratchFile>, subject: string): Generator<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  const put = (piece: string | Buffer) => {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    parts.push(bytes);
    size += bytes.length;
  };
  const data = (content: string | Buffer) => {
    put(`data ${Buffer.byteLength(content)}\n`);
    put(content);
    put('\n');
  };
  put(`commit ${BRANCH}\ncommitter Headgate <headgate@localhost> ${Math.floor(Date.now() / 1_000)} +0000\n`);
  data(subject);
  for (const { path, content, link } of files) {
    put(`M ${link ? '120000' : '100644'} inline ${quoted(path)}\n`);
    data(content);
    if (size < CHUNK) continue;
    yield Buffer.concat(parts);
    parts = [];
    size = 0;
  }
  put('done\n');
  yield Buffer.concat(parts);
}

/** As C writes a text: the one form in which every path can be given. */
const quoted = (path: string): string =>
  `"${path.replaceAll(/[\x00-\x1f\x7f"\\]/g, (sign) => `\\${sign.charCodeAt(0).toString(8).padStart(3, '0')}`)}"`;

async function fastImport(gitdir: string, input: Generator<Buffer>, signal?: AbortSignal): Promise<void> {
  const child = spawn('git', [`--git-dir=${gitdir}`, 'fast-import', '--quiet', '--done', '--force'], {
    env: gitEnvironment(gitdir),
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
    ...(signal ? { signal, killSignal: 'SIGKILL' as const } : {}),
  });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    if (complaint.length < COMPLAINT_CHARACTERS) complaint += chunk.toString('utf8');
  });
  const ended = new Promise<Error | null>((resolve) => {
    child.on('error', (error) => {
      const missing = 'code' in error && error.code === 'ENOENT';
      resolve(missing ? new Error('git was not found; install it, or put it on the PATH') : error);
    });
    child.on('close', (code) =>
      resolve(code === 0 ? null : new Error(`git fast-import failed: ${lastLine(complaint, gitdir)}`)),
    );
  });
  const written = pipeline(Readable.from(input), child.stdin).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
  const failure = await ended;
  child.stdin.destroy();
  const unwritten = await written;
  // It may end without reading on; how it ended says why.
  if (unwritten !== null && !isClosedPipe(unwritten)) throw unwritten;
  if (failure !== null) throw failure;
}

const isClosedPipe = (error: Error): boolean =>
  'code' in error &&
  ['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'].includes(String(error.code));

function lastLine(complaint: string, gitdir: string): string {
  const lines = complaint.replaceAll(gitdir, 'its folder').trim().split('\n');
  return (lines.find((line) => line.startsWith('fatal: ')) ?? lines.at(-1) ?? '').slice(0, 500);
}
