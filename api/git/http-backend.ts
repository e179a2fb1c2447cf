/** One run of `git http-backend` for one request (git-http-backend(1), a CGI program), and nothing left of it afterwards. */
import { spawn } from 'node:child_process';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Context as KoaContext } from 'koa';
import { type EmbeddedRepository, gitEnvironment } from '../../controller/delivery/repository/index.ts';
import { messageOf, unavailable } from '../../controller/platform/operation/errors.ts';
import type { Logger } from '../../controller/platform/runtime/logger.ts';

export interface BackendRun {
  repository: EmbeddedRepository;
  log: Logger;
  userId: string;
  /** Aborted once the client has gone. */
  signal: AbortSignal;
  /** Below the repository's path: `/info/refs`, … */
  path: string;
  /** What was taken from the request already: it goes to git first. */
  read?: Buffer;
  /** Through which git's answer goes to the client. */
  through?: Transform;
}

const DEADLINE_MS = 10 * 60_000;
const MAX_COMPLAINT_CHARACTERS = 4_096;

/**
 * Settles once the answer is given or the client has gone, and git and its own children have ended.
 * @throws UNAVAILABLE where no process can be made; the signal's reason where the client has gone before
 */
export async function runHttpBackend(ctx: KoaContext, run: BackendRun): Promise<void> {
  const { req, res } = ctx;
  const { log, signal } = run;
  signal.throwIfAborted();
  const child = spawn('git', ['http-backend'], {
    env: environmentOf(ctx, run),
    stdio: ['pipe', 'pipe', 'pipe'],
    // A group of its own: what does the work is a child of this child, and ends with it.
    detached: true,
  });
  child.on('error', (error) => {
    log.error({ reason: messageOf(error) }, 'git http-backend cannot be run');
    // Without pipes it was refused below.
    if (!child.stdout) return;
    if (!res.headersSent) res.writeHead(500, { 'Content-Type': 'text/plain' });
    res.end('git is not installed on the controller\n');
  });
  if (!child.stdout) throw unavailable('The controller cannot run git at the moment; try again later');
  ctx.respond = false;
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const kill = () => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All of it has ended.
    }
  };
  const isPush = run.path === '/git-receive-pack';
  // Killed, a push would leave locks of refs and what it had unpacked; without its input it ends by itself, or finishes.
  const leave = () => (isPush ? void child.stdin.destroy() : kill());
  const timer = setTimeout(() => {
    kill();
    // A client that does not read on would hold the answer open.
    res.destroy();
  }, DEADLINE_MS);
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    if (complaint.length < MAX_COMPLAINT_CHARACTERS) complaint += chunk.toString('utf8');
  });
  signal.addEventListener('abort', leave, { once: true });
  child.stdin.on('error', () => {});
  if (run.read) child.stdin.write(run.read);
  req.pipe(child.stdin);
  try {
    const { head, body } = await readHead(child.stdout);
    res.writeHead(head.status, head.headers);
    if (run.through) await pipeline(body, run.through, res);
    else await pipeline(body, res);
  } catch (error) {
    if (!res.destroyed && !res.headersSent) {
      log.warn({ reason: messageOf(error), complaint: complaint.slice(0, 500) }, 'a git request failed');
      res.writeHead(500, { 'Content-Type': 'text/plain' });
    }
    res.end();
  } finally {
    // What nobody reads holds them open.
    child.stdin.destroy();
    if (isPush) child.stdout.removeAllListeners('readable').resume();
    else child.stdout.destroy();
    await ended;
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
  }
}

function environmentOf(ctx: KoaContext, { repository, userId, path }: BackendRun): Record<string, string> {
  const header = (name: string) => {
    const value = ctx.req.headers[name];
    return typeof value === 'string' ? value : '';
  };
  return {
    ...gitEnvironment(repository.gitdir),
    GIT_PROJECT_ROOT: repository.root,
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: `/${repository.name}${path}`,
    REQUEST_METHOD: ctx.method,
    QUERY_STRING: ctx.querystring,
    CONTENT_TYPE: header('content-type'),
    HTTP_CONTENT_ENCODING: header('content-encoding'),
    GIT_PROTOCOL: header('git-protocol').slice(0, 100),
    REMOTE_USER: userId,
    REMOTE_ADDR: ctx.state.ipAddress,
  };
}

const MAX_HEAD_BYTES = 16 * 1024;

/** The headers of a CGI answer, and a stream of what follows them. */
async function readHead(stdout: NodeJS.ReadableStream) {
  let text = Buffer.alloc(0);
  const chunks = stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let end = -1;
  while (end < 0) {
    const { value, done } = await chunks.next();
    if (done) throw new Error('git http-backend ended without an answer');
    text = Buffer.concat([text, value]);
    end = text.indexOf('\r\n\r\n');
    if (end < 0 && text.length > MAX_HEAD_BYTES) throw new Error('git http-backend answered without headers');
  }
  const headers: Record<string, string> = {};
  let status = 200;
  for (const line of text.toString('latin1', 0, end).split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).trim();
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
    else headers[name] = value;
  }
  const first = text.subarray(end + 4);
  async function* body(): AsyncGenerator<Buffer> {
    if (first.length > 0) yield first;
    for (;;) {
      const { value, done } = await chunks.next();
      if (done) return;
      yield value;
    }
  }
  return { head: { status, headers }, body: body() };
}
