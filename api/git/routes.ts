/** git's smart HTTP for the embedded repository, by the system's `git http-backend`. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Knex } from 'knex';
import type { Context as KoaContext, Middleware } from 'koa';
import { actorOfPersonalToken, mayPush, mayRead } from '../../controller/access/index.ts';
import { unlessAway } from '../../controller/database/errors.ts';
import type { Actor } from '../../controller/platform/context.ts';
import { DomainError, messageOf } from '../../controller/platform/errors.ts';
import type { Logger } from '../../controller/platform/logger.ts';
import { refuseOwing } from '../../controller/platform/operation.ts';
import { type EmbeddedRepository, gitEnvironment } from '../../controller/repository/index.ts';
import type { RateLimit } from '../middleware/rate-limit.ts';
import { type LetThrough, lookAtPush } from './protected.ts';
import { appendToPush } from './side-band.ts';

export interface GitParts {
  db: Knex;
  log: Logger;
  /** Taken by the address of whoever comes without a token that is known. */
  strangers: RateLimit;
  /** Where people sign in. */
  uiUrl: string;
  repository: EmbeddedRepository;
  /** Ids of the teams with an environment bound to the repository. */
  teams(): Promise<string[]>;
  /** Branches that take merged pull requests only, without `refs/heads/`. */
  protectedBranches(): Promise<ReadonlySet<string>>;
  /** Told when somebody is about to push. */
  beforePush(): void;
  /** Told who is about to change which branches, where some are protected: nobody approves what they pushed themselves. */
  noteWork(userId: string, branches: readonly string[]): Promise<void>;
  /**
   * Looks at the bindings of the repository that follow what was pushed; answers what to tell the person who pushed. `names`:
   * of branches and tags, null where they are not known.
   */
  afterPush(since: number, names: readonly string[] | null): Promise<readonly string[]>;
}

const DEADLINE_MS = 10 * 60_000;
const PATHS = new Set(['GET /info/refs', 'POST /git-upload-pack', 'POST /git-receive-pack']);
const SERVICES = new Set(['git-upload-pack', 'git-receive-pack']);

type UserActor = Extract<Actor, { type: 'user' }>;

/** `Basic` with a personal token as the password, or as the user name, as some clients have it. */
async function authenticate(db: Knex, header: string | undefined): Promise<UserActor | null> {
  if (!header?.startsWith('Basic ') || header.length > 1_024) return null;
  const [name = '', password = ''] = Buffer.from(header.slice(6), 'base64').toString('utf8').split(':');
  return (await actorOfPersonalToken(db, password)) ?? (await actorOfPersonalToken(db, name));
}

export function gitRoutes(parts: GitParts): Middleware {
  const prefix = `/git/${parts.repository.name}`;
  return async (ctx, next) => {
    if (!ctx.path.startsWith('/git/')) return next();
    const rest = ctx.path.startsWith(`${prefix}/`) ? ctx.path.slice(prefix.length) : '';
    if (!PATHS.has(`${ctx.method} ${rest}`))
      return answer(ctx, 404, `There is one repository here: ${prefix}\n`);
    if (rest === '/info/refs' && !SERVICES.has(String(ctx.query.service)))
      return answer(ctx, 403, "Only git's smart protocol is spoken here\n");
    const push = rest === '/git-receive-pack' || ctx.query.service === 'git-receive-pack';
    let actor: UserActor | null;
    let teams: readonly string[];
    try {
      actor = await authenticate(parts.db, ctx.req.headers.authorization);
      teams = actor ? await parts.teams() : [];
    } catch (error) {
      return answerAway(ctx, error, parts.log);
    }
    if (!actor) {
      parts.strangers.take(ctx.state.ipAddress);
      ctx.set('WWW-Authenticate', 'Basic realm="Headgate", charset="UTF-8"');
      return answer(ctx, 401, 'Sign in with a personal token as the password\n');
    }
    try {
      refuseOwing(actor);
    } catch (error) {
      return answer(ctx, 403, `${messageOf(error)}. Sign in at ${parts.uiUrl}\n`);
    }
    if (!(push ? mayPush : mayRead)(actor, teams)) {
      return answer(
        ctx,
        403,
        push
          ? 'Pushing needs the role EDITOR in every team of this repository\n'
          : 'You are in no team of this repository\n',
      );
    }
    if (!existsSync(join(parts.repository.gitdir, 'HEAD')))
      return answer(ctx, 503, 'The repository is not in its folder. Ask an administrator to put it back\n');
    if (push && rest === '/info/refs') parts.beforePush();
    let asked: LetThrough | null = null;
    if (rest === '/git-receive-pack') {
      let branches: ReadonlySet<string>;
      try {
        branches = await parts.protectedBranches();
      } catch (error) {
        return answerAway(ctx, error, parts.log);
      }
      asked = await lookAtPush(ctx, branches);
      if (asked === null) return;
      if (branches.size > 0) {
        try {
          await parts.noteWork(actor.userId, asked.branches);
        } catch (error) {
          return answerAway(ctx, error, parts.log);
        }
      }
    }
    await runBackend(ctx, parts, actor, rest, asked);
  };
}

/** git shows an answer to people where it is plain text, and only then. */
function answerAway(ctx: KoaContext, thrown: unknown, log: Logger): void {
  const error = unlessAway(thrown);
  if (!(error instanceof DomainError)) throw thrown;
  log.warn({ path: ctx.path, reason: messageOf(thrown) }, 'a git request failed, the database is away');
  const retryAfter = error.details?.retryAfterSeconds;
  if (typeof retryAfter === 'number') ctx.set('Retry-After', String(retryAfter));
  answer(ctx, error.status, `${error.message}\n`);
}

/** What was taken is in the repository by now, whatever else fails. What was not is answered by git itself. */
async function toldAfterPush(
  parts: GitParts,
  push: { since: number; names: readonly string[] | null; taken: boolean },
): Promise<readonly string[]> {
  const { since, names, taken } = push;
  try {
    const lines = await parts.afterPush(since, names);
    return taken ? lines : lines.filter((line) => !/: nothing to do|: no environment follows /.test(line));
  } catch (error) {
    if (!taken) return [];
    parts.log.warn({ reason: messageOf(error) }, 'nothing could be said of a push');
    const known = unlessAway(error);
    const reason = known instanceof DomainError ? ` (${known.message})` : '';
    return [`Headgate: the push is stored, and applied as soon as that is possible${reason}`];
  }
}

function answer(ctx: KoaContext, status: number, text: string): void {
  ctx.status = status;
  ctx.type = 'text/plain';
  ctx.body = text;
}

/** `asked` is what was taken from a push already. */
async function runBackend(
  ctx: KoaContext,
  parts: GitParts,
  actor: UserActor,
  rest: string,
  asked: LetThrough | null,
): Promise<void> {
  const { req, res } = ctx;
  const since = performance.now();
  const header = (name: string) => {
    const value = req.headers[name];
    return typeof value === 'string' ? value : '';
  };
  const child = spawn('git', ['http-backend'], {
    env: {
      ...gitEnvironment(parts.repository.gitdir),
      GIT_PROJECT_ROOT: parts.repository.root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: `/${parts.repository.name}${rest}`,
      REQUEST_METHOD: ctx.method,
      QUERY_STRING: ctx.querystring,
      CONTENT_TYPE: header('content-type'),
      HTTP_CONTENT_ENCODING: header('content-encoding'),
      GIT_PROTOCOL: header('git-protocol').slice(0, 100),
      REMOTE_USER: actor.userId,
      REMOTE_ADDR: ctx.state.ipAddress,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: DEADLINE_MS,
    killSignal: 'SIGKILL',
  });
  ctx.respond = false;
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    if (complaint.length < 4_096) complaint += chunk.toString('utf8');
  });
  child.on('error', (error) => {
    parts.log.error({ reason: messageOf(error) }, 'git http-backend cannot be run');
    if (!res.headersSent) res.writeHead(500, { 'Content-Type': 'text/plain' });
    res.end('git is not installed on the controller\n');
  });
  res.once('close', () => {
    if (child.exitCode === null) child.kill('SIGKILL');
  });
  child.stdin.on('error', () => {});
  if (asked) child.stdin.write(asked.read);
  req.pipe(child.stdin);
  try {
    const { head, body } = await readHead(child.stdout);
    res.writeHead(head.status, head.headers);
    if (rest === '/git-receive-pack') {
      await pipeline(
        body,
        appendToPush((taken) => toldAfterPush(parts, { since, names: asked?.names ?? null, taken })),
        res,
      );
    } else {
      await pipeline(body, res);
    }
  } catch (error) {
    if (!res.destroyed && !res.headersSent) {
      parts.log.warn(
        { reason: messageOf(error), complaint: complaint.slice(0, 500) },
        'a git request failed',
      );
      res.writeHead(500, { 'Content-Type': 'text/plain' });
    }
    res.end();
  }
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
