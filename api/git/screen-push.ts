/**
 * What a push asks for, before git sees it. Pushes to branches that take merged pull requests only, and the deletion of the
 * default branch, are refused there, in git's own form.
 */
import type { Context as KoaContext } from 'koa';
import type { PushedRef } from '../../controller/delivery/repository/index.ts';
import { PacketsTooLargeError } from './packet-reader.ts';
import { type PushRequest, type RefCommand, readPush, renderRejectionReport } from './receive-pack.ts';

const REASON = 'protected: open a pull request';
const BESIDE = 'not pushed with a protected branch: push it alone';
const DEFAULT_REASON = 'the default branch cannot be deleted';
const BESIDE_DELETION = 'not pushed with the deletion of the default branch: push it alone';
/** What the client still sends is taken and dropped, or it would not read the answer; as much as git itself takes. */
const MOST_DROPPED_BYTES = 268_435_456;

/** The first push makes the branch, or there would be nothing to ask to merge into. git refuses it where there is one. */
const isCreation = ({ old, new: fresh }: RefCommand): boolean => /^0+$/.test(old) && !/^0+$/.test(fresh);

const isDeletion = ({ new: fresh }: RefCommand): boolean => /^0+$/.test(fresh);

export interface LetThrough {
  /** What of the request was read, and goes to git first. */
  read: Buffer;
  /** What it asks to be changed; null where the push could not be read. */
  refs: readonly PushedRef[] | null;
}

interface Rules {
  /** Branches that take merged pull requests only, without `refs/heads/`; of tags the full name where it was given. */
  protectedBranches: ReadonlySet<string>;
  /** In full; null where HEAD names none. */
  defaultBranch: string | null;
}

/** Null where the push was answered: none of its refs is taken. */
export async function screenPush(ctx: KoaContext, rules: Rules): Promise<LetThrough | null> {
  const { protectedBranches } = rules;
  let asked: Awaited<ReturnType<typeof readPush>>;
  try {
    asked = await readPush(ctx.req);
  } catch (error) {
    if (ctx.req.destroyed) {
      // Nobody is there any more who would read an answer.
      ctx.respond = false;
      return null;
    }
    if (!(error instanceof PacketsTooLargeError)) throw error;
    return refuse(ctx, 413, 'These are too many refs for one push; push fewer at a time\n');
  }
  const { push, read } = asked;
  if (!push && protectedBranches.size === 0) return { read, refs: null };
  if (!push) return refuse(ctx, 400, 'This is no push that can be read; push by git itself, and unsigned\n');
  const refusal = refusalOf(push, rules);
  if (!refusal)
    return { read, refs: push.commands.map((one) => ({ name: one.ref, deleted: isDeletion(one) })) };
  const report = renderRejectionReport(push, refusal.reasonOf, refusal.advice);
  if (!report) return refuse(ctx, 403, `${refusal.plain}\n`);
  await dropBody(ctx);
  ctx.status = 200;
  ctx.set('Cache-Control', 'no-cache');
  ctx.type = 'application/x-git-receive-pack-result';
  ctx.body = report;
  return null;
}

interface Refusal {
  reasonOf(ref: string): string;
  /** Lines for the user, beside the reasons. */
  advice: readonly string[];
  /** For a client that asked for no report. */
  plain: string;
}

function refusalOf({ commands }: PushRequest, { protectedBranches, defaultBranch }: Rules): Refusal | null {
  // An environment may follow a tag, too, by its full name or not.
  const isProtected = (ref: string) =>
    protectedBranches.has(ref) || protectedBranches.has(ref.replace(/^refs\/(?:heads|tags)\//, ''));
  if (commands.some((one) => isProtected(one.ref) && !isCreation(one)))
    return {
      reasonOf: (ref) => (isProtected(ref) ? REASON : BESIDE),
      advice: [],
      plain: `${[...protectedBranches].join(', ')} is ${REASON}`,
    };
  if (!commands.some((one) => one.ref === defaultBranch && isDeletion(one))) return null;
  const branch = defaultBranch?.replace(/^refs\/heads\//, '');
  return {
    reasonOf: (ref) => (ref === defaultBranch ? DEFAULT_REASON : BESIDE_DELETION),
    advice: [
      `Headgate: ${branch} is the default branch, which every clone begins with, so it stays.`,
      'Headgate: To delete what it deploys, push a commit without those manifests. To stop following it, bind the environment to another branch, or to none, on its Git page.',
    ],
    plain: `${branch}: ${DEFAULT_REASON}`,
  };
}

async function refuse(ctx: KoaContext, status: number, text: string): Promise<null> {
  await dropBody(ctx);
  ctx.status = status;
  ctx.type = 'text/plain';
  ctx.body = text;
  return null;
}

export async function dropBody({ req }: KoaContext): Promise<void> {
  let bytes = 0;
  for await (const chunk of req) {
    bytes += (chunk as Buffer).length;
    if (bytes > MOST_DROPPED_BYTES) return;
  }
}
