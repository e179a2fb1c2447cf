/**
 * Questions to a `git cat-file` child and its answers. A library that loads whole packs would bring a pushed 500 MB
 * file into this process; here the size comes before the content, and content above the limit is dropped as it arrives.
 */
import { ByteQueue } from './byte-queue.ts';
import { type CatFile, end, holdProcess, startCatFile } from './cat-file.ts';
import { GitRepositoryError } from './repository-error.ts';

export interface GitObject {
  oid: string;
  type: string;
  /** In bytes. */
  size: number;
  /** Null when it is larger than was asked for. */
  data: Buffer | null;
}

/** Without a byte from git while it owes an answer; the whole session may take longer. */
const SILENCE_MS = 60_000;
/** Content that is not wanted is cheaper to skip than a new child up to about here. */
const MAX_SKIPPED_BYTES = 32 * 1024 * 1024;

/** In one stretch of work. Each costs about 6 ms. */
const MAX_RESTARTS = 2000;

interface Request {
  name: string;
  maxBytes: number;
  resolve(found: GitObject | null): void;
  reject(error: Error): void;
}

/** Answers come in the order of the questions, so the first request that waits owns what arrives. */
export class ObjectSession {
  private readonly gitdir: string;
  private child: CatFile | null = null;
  private requests: Request[] = [];
  /** Requests before this one are answered. */
  private next = 0;
  private readonly bytes = new ByteQueue();
  private header: { oid: string; type: string; size: number } | null = null;
  private toSkip = 0;
  private complaint = '';
  private restarts = 0;
  /** Answers of this child. */
  private answers = 0;
  /** The child was started in this stretch of work, so it has seen the repository as it is now. */
  private fresh = false;
  private users = 0;
  private failure: Error | null = null;
  private readonly silence: NodeJS.Timeout;

  constructor(gitdir: string) {
    this.gitdir = gitdir;
    this.silence = setTimeout(() => {
      if (this.next === this.requests.length) this.silence.refresh();
      else this.fail(`git has not answered for ${SILENCE_MS / 1000} seconds`, 'look at its disk');
    }, SILENCE_MS).unref();
  }

  /** Nothing can be asked any more: another session is needed. */
  get ended(): boolean {
    return this.failure !== null;
  }

  /** Begins a stretch of work: until `leave` the child keeps the process alive. */
  enter(): void {
    this.users += 1;
    if (this.users > 1) return;
    this.fresh = false;
    this.restarts = 0;
    this.hold();
  }

  /** True when nobody is left. */
  leave(): boolean {
    this.users -= 1;
    this.hold();
    return this.users === 0;
  }

  private hold(): void {
    if (this.child) holdProcess(this.child, this.users > 0);
  }

  read(name: string, maxBytes: number): Promise<GitObject | null> {
    if (/[\n\0]/.test(name)) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      if (this.failure) return reject(this.failure);
      if (this.next === this.requests.length) this.silence.refresh();
      this.requests.push({ name, maxBytes, resolve, reject });
      this.child ??= this.start();
      if (this.child) this.write(this.child, `${name}\n`);
    });
  }

  fail(message: string, advice?: string): void {
    const safe = message.replaceAll(this.gitdir, 'its folder');
    this.failure ??= new GitRepositoryError(`the repository cannot be read: ${safe}`, advice);
    for (const request of this.requests.splice(this.next)) request.reject(this.failure);
    this.child?.kill('SIGKILL');
  }

  /** Resolves once the child is gone. */
  async close(): Promise<void> {
    clearTimeout(this.silence);
    this.failure ??= new GitRepositoryError('the session has ended');
    if (this.child) await end(this.child);
  }

  /** Null where there is no process to be had: then nothing can be asked any more. */
  private start(): CatFile | null {
    const child = startCatFile(this.gitdir);
    if (!child.stdout) {
      child.on('error', () => {});
      this.fail('no process could be made, the controller has no file descriptors left');
      return null;
    }
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
        missing
          ? this.fail('git was not found', 'install it on the controller, or put it on the PATH')
          : this.fail(error.message),
      );
    });
    child.on('close', () => whileOurs(() => this.died()));
    this.answers = 0;
    this.fresh = true;
    return child;
  }

  /**
   * In a partial mirror git ends at an object that was left out, where it says `missing` in a whole one. A child that
   * had answered before may have been killed by somebody, and the question is put to another one.
   */
  private died(): void {
    const request = this.requests[this.next];
    const leftOut = /could not fetch [0-9a-f]+ from promisor remote/.test(this.complaint);
    const again = leftOut || this.answers > 0;
    if (!again || !request || this.failure || this.restarts >= MAX_RESTARTS) {
      this.fail(lastLine(this.complaint) || 'git ended before it had answered');
      return;
    }
    if (leftOut) this.settle(request, null);
    this.restart();
  }

  /** Questions of one turn travel in one write. */
  private write(child: CatFile, text: string): void {
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
    this.bytes.clear();
    this.header = null;
    this.toSkip = 0;
    this.complaint = '';
    this.child = this.start();
    this.hold();
    if (old) void end(old);
    const { child } = this;
    if (!child) return;
    for (const request of this.requests.slice(this.next)) this.write(child, `${request.name}\n`);
  }

  private receive(chunk: Buffer): void {
    this.silence.refresh();
    const skipped = Math.min(this.toSkip, chunk.length);
    this.toSkip -= skipped;
    if (skipped === chunk.length) return;
    this.bytes.push(chunk.subarray(skipped));
    while (this.answer());
  }

  /** Takes one answer off the buffer; false until it is whole. */
  private answer(): boolean {
    const request = this.requests[this.next];
    if (!request || this.failure) return false;
    if (!this.header) {
      const line = this.bytes.takeLine();
      if (line === null) return false;
      const [oid = '', type = '', size = ''] = line.split(' ');
      if (!/^\d+$/.test(size)) return this.missing(request);
      this.header = { oid, type, size: Number(size) };
    }
    const { header } = this;
    if (header.size > request.maxBytes) return this.skip(request, header);
    if (this.bytes.length < header.size + 1) return false;
    const data = this.bytes.take(header.size + 1).subarray(0, header.size);
    return this.settle(request, { ...header, data });
  }

  /** A child from before may know an older state of the repository: only a new one is believed. */
  private missing(request: Request): boolean {
    if (this.fresh || this.restarts >= MAX_RESTARTS) return this.settle(request, null);
    this.restart();
    return false;
  }

  private skip(request: Request, header: { oid: string; type: string; size: number }): boolean {
    this.settle(request, { ...header, data: null });
    if (header.size > MAX_SKIPPED_BYTES) {
      this.restart();
      return false;
    }
    const here = Math.min(this.bytes.length, header.size + 1);
    this.bytes.take(here);
    this.toSkip = header.size + 1 - here;
    return this.toSkip === 0;
  }

  private settle(request: Request, found: GitObject | null): true {
    this.header = null;
    this.next += 1;
    this.answers += 1;
    // An answered request still holds its answer.
    if (this.next === this.requests.length || this.next >= 256) {
      this.requests = this.requests.slice(this.next);
      this.next = 0;
    }
    request.resolve(found);
    return true;
  }
}

/** Before it gives up, git tells of each step that failed; the last line says it all. */
function lastLine(complaint: string): string {
  const lines = complaint.trim().split('\n');
  const fatal = lines.findLast((line) => line.startsWith('fatal: '));
  return fatal?.slice('fatal: '.length) ?? lines.join('; ');
}
