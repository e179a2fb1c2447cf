/**
 * What a push asks for, before git sees it; pushes to branches that take merged pull requests only are refused there, in
 * git's own words.
 */
import type { Context as KoaContext } from 'koa';
import { PushTooLargeError, type RefCommand, readPush, refusalReport } from './receive-pack.ts';

const REASON = 'protected: open a pull request';
const BESIDE = 'not pushed with a protected branch: push it alone';
/** What the client still sends is taken and dropped, or it would not read the answer; as much as git itself takes. */
const MOST_DROPPED_BYTES = 268_435_456;

/** The first push makes the branch, or there would be nothing to ask to merge into. git refuses it where there is one. */
const isCreation = ({ old, new: fresh }: RefCommand): boolean => /^0+$/.test(old) && !/^0+$/.test(fresh);

export interface LetThrough {
  /** What of the request was read, and goes to git first. */
  read: Buffer;
  /** That it asks to be changed, without `refs/heads/`. */
  branches: string[];
  /** Branches and tags without what stands before their names; null where the push could not be read. */
  names: string[] | null;
}

/** Null where the push was answered: none of its refs is taken. */
export async function lookAtPush(ctx: KoaContext, branches: ReadonlySet<string>): Promise<LetThrough | null> {
  let asked: Awaited<ReturnType<typeof readPush>>;
  try {
    asked = await readPush(ctx.req);
  } catch (error) {
    if (ctx.req.destroyed) {
      // Nobody is there any more who would read an answer.
      ctx.respond = false;
      return null;
    }
    if (!(error instanceof PushTooLargeError)) throw error;
    return refuse(ctx, 413, 'These are too many refs for one push; push fewer at a time\n');
  }
  const { push, read } = asked;
  if (!push && branches.size === 0) return { read, branches: [], names: null };
  if (!push) return refuse(ctx, 400, 'This is no push that can be read; push by git itself, and unsigned\n');
  // An environment may follow a tag, too.
  const nameOf = (ref: string) => ref.replace(/^refs\/(?:heads|tags)\//, '');
  const isProtected = (ref: string) => branches.has(nameOf(ref));
  const hit = push.commands.some((one) => isProtected(one.ref) && !isCreation(one));
  if (!hit)
    return {
      read,
      branches: push.commands.flatMap(({ ref }) => /^refs\/heads\/(.+)$/.exec(ref)?.[1] ?? []),
      names: push.commands.map(({ ref }) => nameOf(ref)),
    };
  const report = refusalReport(push, (ref) => (isProtected(ref) ? REASON : BESIDE));
  if (!report) return refuse(ctx, 403, `${[...branches].join(', ')} is ${REASON}\n`);
  await drop(ctx);
  ctx.status = 200;
  ctx.set('Cache-Control', 'no-cache');
  ctx.type = 'application/x-git-receive-pack-result';
  ctx.body = report;
  return null;
}

async function refuse(ctx: KoaContext, status: number, text: string): Promise<null> {
  await drop(ctx);
  ctx.status = status;
  ctx.type = 'text/plain';
  ctx.body = text;
  return null;
}

async function drop({ req }: KoaContext): Promise<void> {
  let bytes = 0;
  for await (const chunk of req) {
    bytes += (chunk as Buffer).length;
    if (bytes > MOST_DROPPED_BYTES) return;
  }
}
