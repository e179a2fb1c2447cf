/**
 * Reads objects of a repository through `git cat-file`, one child process a session. A library that loads whole packs
 * would bring a pushed 500 MB file into this process; here the size comes before the content, and content above the
 * limit is dropped as it arrives.
 *
 * The child can do nothing but read: no configuration outside the repository, no hooks, no replaced objects, no
 * fetching of objects that a partial mirror left out.
 */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { searchPath } from '../../controller/platform/search-path.ts';
import { GitRepositoryError } from './repository-error.ts';

export interface GitObject {
  oid: string;
  type: string;
  /** In bytes. */
  size: number;
  /** Null when it is larger than was asked for. */
  data: Buffer | null;
}

export interface ObjectReader {
  /** The object that a name stands for; null where there is none. */
  read(name: string, maxBytes: number): Promise<GitObject | null>;
}

/** Without a byte from git; the whole session may take longer. */
const SILENCE_MS = 60_000;
/** git streams blobs above this from disk instead of building them in its memory. */
const STREAM_ABOVE = '2m';
/** Content that is not wanted is cheaper to skip than a new child up to about here. */
const MAX_SKIPPED_BYTES = 32 * 1024 * 1024;

/** Each costs about 6 ms. */
const MAX_RESTARTS = 2000;

const ENVIRONMENT = {
  PATH: searchPath,
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: '',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
};

interface Request {
  name: string;
  maxBytes: number;
  resolve(found: GitObject | null): void;
  reject(error: Error): void;
}

/** Answers come in the order of the questions, so the first request that waits owns what arrives. */
class Session {
  private readonly gitdir: string;
  private child: ChildProcessWithoutNullStreams | null = null;
  private requests: Request[] = [];
  /** Requests before this one are answered. */
  private next = 0;
  private chunks: Buffer[] = [];
  private buffered = 0;
  private header: { oid: string; type: string; size: number } | null = null;
  private toSkip = 0;
  private complaint = '';
  private restarts = 0;
  private failure: Error | null = null;
  private readonly silence: NodeJS.Timeout;

  constructor(gitdir: string) {
    this.gitdir = gitdir;
    this.silence = setTimeout(() => {
      if (this.next === this.requests.length) this.silence.refresh();
      else this.fail(`git has not answered for ${SILENCE_MS / 1000} seconds`);
    }, SILENCE_MS);
  }

  read(name: string, maxBytes: number): Promise<GitObject | null> {
    if (/[\n\0]/.test(name)) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      if (this.failure) return reject(this.failure);
      if (this.next === this.requests.length) this.silence.refresh();
      this.requests.push({ name, maxBytes, resolve, reject });
      this.child ??= this.start();
      this.write(this.child, `${name}\n`);
    });
  }

  fail(message: string): void {
    const safe = message.replaceAll(this.gitdir, 'its folder');
    this.failure ??= new GitRepositoryError(`the repository cannot be read: ${safe}`);
    for (const request of this.requests.splice(this.next)) request.reject(this.failure);
    this.child?.kill('SIGKILL');
  }

  /** Resolves once the child is gone. */
  async close(): Promise<void> {
    clearTimeout(this.silence);
    this.failure ??= new GitRepositoryError('the session has ended');
    if (this.child) await end(this.child);
  }

  private start(): ChildProcessWithoutNullStreams {
    const settings = ['-c', `core.bigFileThreshold=${STREAM_ABOVE}`, '-c', 'core.fsmonitor=false'];
    const child = spawn('git', [...settings, `--git-dir=${this.gitdir}`, 'cat-file', '--batch'], {
      env: ENVIRONMENT,
      stdio: 'pipe',
    });
    const whileOurs = (act: () => void) => {
      if (this.child === child) act();
    };
    child.stdout.on('data', (chunk: Buffer) => whileOurs(() => this.receive(chunk)));
    child.stderr.on('data', (chunk: Buffer) => {
      if (this.complaint.length < 500) this.complaint += chunk.toString('utf8', 0, 500);
    });
    child.stdin.on('error', () => undefined);
    child.on('error', (error) => {
      const missing = 'code' in error && error.code === 'ENOENT';
      whileOurs(() =>
        this.fail(missing ? 'git was not found: install it, or put it on the PATH' : error.message),
      );
    });
    child.on('close', () => whileOurs(() => this.ended()));
    return child;
  }

  /** In a partial mirror git ends at an object that was left out, where it says `missing` in a whole one. */
  private ended(): void {
    const request = this.requests[this.next];
    const leftOut = /could not fetch [0-9a-f]+ from promisor remote/.test(this.complaint);
    if (!leftOut || !request || this.failure || this.restarts >= MAX_RESTARTS) {
      this.fail(this.complaint.trim() || 'git ended before it had answered');
      return;
    }
    this.complaint = '';
    this.settle(request, null);
    this.restart();
  }

  /** Questions of one turn travel in one write. */
  private write(child: ChildProcessWithoutNullStreams, text: string): void {
    if (child.stdin.writableCorked === 0) {
      child.stdin.cork();
      process.nextTick(() => child.stdin.uncork());
    }
    child.stdin.write(text);
  }

  /** Leaves what is on its way behind and asks the open questions again. */
  private restart(): void {
    this.restarts += 1;
    const old = this.child;
    this.chunks = [];
    this.buffered = 0;
    this.child = this.start();
    if (old) void end(old);
    for (const request of this.requests.slice(this.next)) this.write(this.child, `${request.name}\n`);
  }

  private receive(chunk: Buffer): void {
    this.silence.refresh();
    const skipped = Math.min(this.toSkip, chunk.length);
    this.toSkip -= skipped;
    if (skipped === chunk.length) return;
    const rest = chunk.subarray(skipped);
    this.chunks.push(rest);
    this.buffered += rest.length;
    while (this.answer());
  }

  /** Takes one answer off the buffer; false until it is whole. */
  private answer(): boolean {
    const request = this.requests[this.next];
    if (!request || this.failure) return false;
    if (!this.header) {
      const line = this.takeLine();
      if (line === null) return false;
      const [oid = '', type = '', size = ''] = line.split(' ');
      if (!/^\d+$/.test(size)) return this.settle(request, null);
      this.header = { oid, type, size: Number(size) };
    }
    const { header } = this;
    if (header.size > request.maxBytes) return this.skip(request, header);
    if (this.buffered < header.size + 1) return false;
    const data = this.take(header.size + 1).subarray(0, header.size);
    return this.settle(request, { ...header, data });
  }

  private skip(request: Request, header: { oid: string; type: string; size: number }): boolean {
    this.settle(request, { ...header, data: null });
    if (header.size > MAX_SKIPPED_BYTES) {
      this.restart();
      return false;
    }
    const here = Math.min(this.buffered, header.size + 1);
    this.take(here);
    this.toSkip = header.size + 1 - here;
    return this.toSkip === 0;
  }

  private settle(request: Request, found: GitObject | null): true {
    this.header = null;
    this.next += 1;
    if (this.next >= 4096) {
      this.requests = this.requests.slice(this.next);
      this.next = 0;
    }
    request.resolve(found);
    return true;
  }

  private takeLine(): string | null {
    const end = this.joined().indexOf(10);
    return end < 0 ? null : this.take(end + 1).toString('latin1', 0, end);
  }

  private joined(): Buffer {
    const [first] = this.chunks;
    if (this.chunks.length === 1 && first) return first;
    const whole = Buffer.concat(this.chunks);
    this.chunks = [whole];
    return whole;
  }

  private take(length: number): Buffer {
    const whole = this.joined();
    this.chunks = whole.length === length ? [] : [whole.subarray(length)];
    this.buffered -= length;
    return whole.subarray(0, length);
  }
}

/** Resolves once the child is gone. */
function end(child: ChildProcessWithoutNullStreams): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return resolve();
    child.once('exit', () => resolve());
    child.stdin.end();
    child.kill('SIGKILL');
  });
}

/** Runs `work` with a reader that ends with it, whatever happens. */
export async function withObjects<T>(gitdir: string, work: (reader: ObjectReader) => Promise<T>): Promise<T> {
  const session = new Session(gitdir);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}
