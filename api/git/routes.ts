/** git's smart HTTP for the embedded repository, by the system's `git http-backend`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Knex } from 'knex';
import type { Context as KoaContext, Middleware } from 'koa';
import { unlessAway } from '../../controller/database/errors.ts';
import {
  defaultBranchOf,
  duringPush,
  type EmbeddedRepository,
  type PushedRef,
} from '../../controller/delivery/repository/index.ts';
import {
  actorOfPersonalToken,
  mayPush,
  mayRead,
  type UserActor,
} from '../../controller/identity/access/index.ts';
import { DomainError, forbidden, messageOf } from '../../controller/platform/operation/errors.ts';
import {
  createHeavySlots,
  type HeavySlotLimits,
  type HeavySlots,
} from '../../controller/platform/operation/heavy-slots.ts';
import { assertNoRequiredAction } from '../../controller/platform/operation/permissions.ts';
import type { Logger } from '../../controller/platform/runtime/logger.ts';
import type { Clock } from '../../reconcilers/loops/clock.ts';
import type { RateLimit } from '../middleware/rate-limit.ts';
import { runHttpBackend } from './http-backend.ts';
import { dropBody, type LetThrough, screenPush } from './screen-push.ts';
import { appendToPush } from './side-band.ts';

export interface GitParts {
  db: Knex;
  clock: Clock;
  log: Logger;
  /** Counted by address, for requests without a known token. */
  anonymousLimit: RateLimit;
  /** Where people sign in. */
  uiUrl: string;
  repository: EmbeddedRepository;
  /** Ids of the teams with an environment bound to the repository. */
  teams(): Promise<string[]>;
  /** Branches that take merged pull requests only, without `refs/heads/`. */
  protectedBranches(): Promise<ReadonlySet<string>>;
  /** Called before a push. */
  beforePush(): void;
  /** Called with the user and the branches of a push, where some are protected: nobody approves their own push. */
  noteWork(userId: string, branches: readonly string[]): Promise<void>;
  /**
   * Reconciles the bindings of the repository that follow what was pushed; answers what to show the user who pushed. `refs`:
   * those that were taken, null where they are not known. `refused`: none was taken and these are the ones that were asked for;
   * only what keeps the repository from being read is answered.
   */
  afterPush(since: number, refs: readonly PushedRef[] | null, refused?: boolean): Promise<readonly string[]>;
}

/** Of requests at a time, each a git process with children: one user who holds many open waits for himself. */
const SLOT_LIMITS: HeavySlotLimits = {
  ...{ perKey: 6, total: 24, waitingPerKey: 16, waiting: 200 },
  ...{ waitMs: 10_000, longMs: null },
};
const RETRY_AFTER_SECONDS = 10;

const refusalOf = (isOwn: boolean): DomainError =>
  isOwn
    ? new DomainError(
        'TOO_MANY_REQUESTS',
        `You have ${SLOT_LIMITS.perKey} git requests under way, and no more are taken; try again in ${RETRY_AFTER_SECONDS} s`,
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      )
    : new DomainError(
        'UNAVAILABLE',
        `The controller has as many git requests under way as it takes; try again in ${RETRY_AFTER_SECONDS} s`,
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );

const PATHS = new Set(['GET /info/refs', 'POST /git-upload-pack', 'POST /git-receive-pack']);
const SERVICES = new Set(['git-upload-pack', 'git-receive-pack']);

/** `Basic` with a personal token as the password, or as the user name, as some clients have it. */
async function authenticate(db: Knex, header: string | undefined): Promise<UserActor | null> {
  // The scheme is case-insensitive: RFC 9110, section 11.1.
  const [, encoded] = /^basic +(\S+)$/i.exec(header?.slice(0, 1_025) ?? '') ?? [];
  if (encoded === undefined || encoded.length > 1_018) return null;
  const [name = '', password = ''] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  const found = (await actorOfPersonalToken(db, password)) ?? (await actorOfPersonalToken(db, name));
  if (found && !found.scopes.includes('git'))
    throw forbidden('This personal token is for agents, not for git: create one for git');
  return found?.actor ?? null;
}

export function gitRoutes(parts: GitParts): Middleware {
  const prefix = `/git/${parts.repository.name}`;
  const slots = createHeavySlots(SLOT_LIMITS, refusalOf);
  return async (ctx, next) => {
    if (!ctx.path.startsWith('/git/')) return next();
    const rest = ctx.path.startsWith(`${prefix}/`) ? ctx.path.slice(prefix.length) : '';
    if (rest.startsWith('/info/lfs/')) return answerLfs(ctx);
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
      // Not 401: git would have the token forgotten that counts again later.
      if (error instanceof DomainError && error.code === 'FORBIDDEN')
        return answer(ctx, 403, `${error.message}. Sign in at ${parts.uiUrl}\n`);
      return answerAway(ctx, error, parts.log);
    }
    if (!actor) {
      parts.anonymousLimit.take(ctx.state.ipAddress);
      ctx.set('WWW-Authenticate', 'Basic realm="Headgate", charset="UTF-8"');
      return answer(ctx, 401, 'Sign in with a personal token as the password\n');
    }
    try {
      assertNoRequiredAction(actor);
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
    const user = actor;
    await inSlot(ctx, parts, slots, user.userId, (signal) => serve(ctx, parts, user, { rest, push, signal }));
  };
}

/** Git runs for a user only in a slot of that user's; a request that waits too long gets `Retry-After`. */
async function inSlot(
  ctx: KoaContext,
  { clock, log }: GitParts,
  slots: HeavySlots,
  userId: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const gone = new AbortController();
  const abort = () => gone.abort();
  ctx.res.once('close', abort);
  // It may have gone while the database was asked who it is.
  if (ctx.req.socket.destroyed) abort();
  try {
    await slots.run(userId, { clock, signal: gone.signal }, () => work(gone.signal));
  } catch (thrown) {
    if (gone.signal.aborted) {
      ctx.respond = false;
      return;
    }
    const error = unlessAway(thrown);
    if (!(error instanceof DomainError)) throw thrown;
    log.warn({ path: ctx.path, userId, reason: error.message }, 'a git request was refused');
    // git does not read the answer before it has sent all that it wants to.
    await dropBody(ctx);
    answerRefusal(ctx, error);
  } finally {
    ctx.res.off('close', abort);
  }
}

async function serve(
  ctx: KoaContext,
  parts: GitParts,
  actor: UserActor,
  { rest, push, signal }: { rest: string; push: boolean; signal: AbortSignal },
): Promise<void> {
  if (push && rest === '/info/refs') parts.beforePush();
  const run = { repository: parts.repository, log: parts.log, userId: actor.userId, signal, path: rest };
  if (rest !== '/git-receive-pack') return runHttpBackend(ctx, run);
  const asked = await admitPush(ctx, parts, actor);
  if (asked === null) return;
  const since = performance.now();
  const { read, refs } = asked;
  const through = appendToPush((taken) => reportAfterPush(parts, { since, refs, taken }));
  await duringPush(parts.db, signal, () => runHttpBackend(ctx, { ...run, read, through }));
}

/** Null where the push was answered already. */
async function admitPush(ctx: KoaContext, parts: GitParts, actor: UserActor): Promise<LetThrough | null> {
  let branches: ReadonlySet<string>;
  try {
    branches = await parts.protectedBranches();
  } catch (error) {
    answerAway(ctx, error, parts.log);
    return null;
  }
  const defaultBranch = await defaultBranchOf(parts.repository.gitdir);
  const asked = await screenPush(ctx, { protectedBranches: branches, defaultBranch });
  if (asked === null || branches.size === 0) return asked;
  const pushed = (asked.refs ?? []).flatMap(({ name }) => /^refs\/heads\/(.+)$/.exec(name)?.[1] ?? []);
  try {
    await parts.noteWork(actor.userId, pushed);
  } catch (error) {
    answerAway(ctx, error, parts.log);
    return null;
  }
  return asked;
}

/** git shows an answer to people where it is plain text, and only then. */
function answerAway(ctx: KoaContext, thrown: unknown, log: Logger): void {
  const error = unlessAway(thrown);
  if (!(error instanceof DomainError)) throw thrown;
  log.warn({ path: ctx.path, reason: messageOf(thrown) }, 'a git request failed, the database is away');
  answerRefusal(ctx, error);
}

function answerRefusal(ctx: KoaContext, { status, message, details }: DomainError): void {
  const retryAfter = details?.retryAfterSeconds;
  if (typeof retryAfter === 'number') ctx.set('Retry-After', String(retryAfter));
  answer(ctx, status, `${message}\n`);
}

/**
 * `taken`: full names of the refs that git has taken; null where it did not report. What it refused it explains itself, and
 * what others have pushed there meanwhile is no answer to this push.
 */
async function reportAfterPush(
  parts: GitParts,
  push: { since: number; refs: readonly PushedRef[] | null; taken: ReadonlySet<string> | null },
): Promise<readonly string[]> {
  const { since, taken } = push;
  const refused = taken?.size === 0;
  const refs = taken === null || refused ? push.refs : takenOf(push.refs, taken);
  try {
    return await parts.afterPush(since, refs, refused);
  } catch (error) {
    parts.log.warn({ reason: messageOf(error) }, 'nothing could be reported of a push');
    if (refused) return [];
    const known = unlessAway(error);
    const reason = known instanceof DomainError ? ` (${known.message})` : '';
    return [`Headgate: the push is stored, and applied as soon as that is possible${reason}`];
  }
}

const takenOf = (refs: readonly PushedRef[] | null, taken: ReadonlySet<string>): readonly PushedRef[] =>
  refs?.filter(({ name }) => taken.has(name)) ?? [...taken].map((name) => ({ name, deleted: false }));

/**
 * git-lfs asks before each push, and shows `message` of an answer of its own type (git-lfs, docs/api/batch.md). 501 for the
 * locks means that there are none, and the push goes on.
 */
function answerLfs(ctx: KoaContext): void {
  ctx.status = 501;
  ctx.type = 'application/vnd.git-lfs+json';
  ctx.body = JSON.stringify({
    message:
      'Headgate keeps no files of git LFS: manifests are small, and are read from git itself. Take them out of LFS (git lfs untrack) and commit them again',
  });
}

function answer(ctx: KoaContext, status: number, text: string): void {
  ctx.status = status;
  ctx.type = 'text/plain';
  ctx.body = text;
}
