/**
 * Publishes checks on forges: for each environment one comment, which is updated, and a commit status. Only what differs from
 * what was published last is sent. After a stop between sending and noting, the same is sent again, which changes nothing.
 */
import { createHash } from 'node:crypto';
import type { Binding } from '../../../controller/delivery/bindings/index.ts';
import {
  type Check,
  type KnownCheck,
  markPublished,
  type PullRequestRecord,
  readCheck,
} from '../../../controller/delivery/pull-requests/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { visible } from '../../../controller/platform/text/visible-text.ts';
import { type Forge, ForgeError, ForgeReply } from '../../forges/forge.ts';
import { planMarkdown } from '../../plan-view/index.ts';
import type { RefusedWrites } from '../mirror/refused-writes.ts';
import { oneLine } from './check-messages.ts';

/** In one pass. */
const MAX_CALLS = 100;
const DIGEST_CHARACTERS = 32;
/** This many denials in a row are due to the token, and not to the pull requests. */
const MAX_DENIALS = 3;

export const digestOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, DIGEST_CHARACTERS);

export const statusContext = ({ environmentName }: Pick<Binding, 'environmentName'>): string =>
  `headgate/${visible(environmentName).slice(0, 200)}`;

export const commentMarker = (environmentId: string): string => `<!-- headgate:plan:${environmentId} -->`;

export interface PublishOptions {
  ctx: Context;
  binding: Binding;
  forge: Forge;
  /** False once another controller leads. */
  leads(): boolean;
  aside<T>(work: () => Promise<T>): Promise<T>;
  refusals: RefusedWrites;
}

/** `more`: not everything was published. `refused`: the forge's last refusal. */
export interface PublishedChecks {
  calls: number;
  more: boolean;
  refused: string | null;
}

/** @throws ForgeError where the forge cannot be reached or pauses us */
export async function publishChecks(
  options: PublishOptions,
  pulls: readonly PullRequestRecord[],
  checks: ReadonlyMap<string, KnownCheck>,
): Promise<PublishedChecks> {
  const { ctx, binding, forge, leads, aside, refusals } = options;
  let left = MAX_CALLS;
  let refused: string | null = null;
  let denials = 0;
  /** Whether the call is settled: it succeeded, or the forge refuses it for good. */
  const call = async (key: string, work: () => Promise<void>): Promise<boolean> => {
    const waiting = refusals.waiting(key);
    if (waiting !== null) {
      refused = waiting;
      return false;
    }
    left -= 1;
    try {
      await aside(work);
      refusals.drop(key);
      denials = 0;
      return true;
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      const isDenied = error instanceof ForgeReply && error.status === 403;
      if (!isDenied && !FINAL.has(error.fault)) throw error;
      // A denial may be about one pull request (a locked conversation), or about the token.
      if (error.fault === 'credentials') denials += 1;
      if (denials >= MAX_DENIALS) throw error;
      refused = error.message;
      if (isDenied) refusals.note(key, error.message);
      return !isDenied;
    }
  };
  for (const pull of pulls) {
    const check = checks.get(pull.id);
    if (!check || check.headSha !== pull.headSha) continue;
    if (left <= 0 || !leads()) return { calls: MAX_CALLS - left, more: true, refused };
    const url = pullPageOf(ctx, binding, pull);
    const of = `${pull.id} ${pull.headSha}`;
    const { state, summary } = check;
    const status = digestOf(pull.headSha, state, summary, url, statusContext(binding));
    if (status !== check.postedStatus) {
      const settled = await call(`status ${of}`, () =>
        forge.setStatus(pull.headSha, {
          ...{ context: statusContext(binding), state, description: summary, url },
          ...refOf(pull),
        }),
      );
      if (settled) await note(options, pull, { status });
    }
    // A transient error does not replace the last plan in the comment.
    if (state === 'pending' || state === 'error') continue;
    if (check.postedComment?.endsWith(` ${check.inputs}`)) continue;
    const whole = await readCheck(ctx.db, pull.id, binding.environmentId);
    if (whole?.headSha !== pull.headSha) continue;
    const body = commentOf(binding, whole, url);
    const digest = digestOf(body);
    let { commentId } = check;
    if (!check.postedComment?.startsWith(`${digest} `)) {
      const settled = await call(`comment ${of}`, async () => {
        commentId = await forge.comment(pull.number, {
          ...{ marker: commentMarker(binding.environmentId), body, commentId },
        });
      });
      if (!settled) continue;
    }
    const comment = `${digest} ${check.inputs}`;
    await note(options, pull, { comment, ...(commentId === null ? {} : { commentId }) });
  }
  return { calls: MAX_CALLS - left, more: false, refused };
}

/** Faults that a retry does not resolve. */
const FINAL: ReadonlySet<ForgeError['fault']> = new Set(['refused', 'not-found']);

const refOf = ({ isFork, branch, number }: PullRequestRecord) => ({
  number,
  ...(isFork ? {} : { ref: branch }),
});

/** Publishes that the plan of a new head is being made. */
export async function publishPending(
  options: PublishOptions,
  pulls: readonly PullRequestRecord[],
): Promise<void> {
  const { ctx, binding, forge, leads } = options;
  for (const pull of pulls.slice(0, MAX_CALLS)) {
    if (!leads()) return;
    const url = pullPageOf(ctx, binding, pull);
    const report = {
      ...{ context: statusContext(binding), state: 'pending' as const, description: PLANNING, url },
      ...refOf(pull),
    };
    try {
      await forge.setStatus(pull.headSha, report);
    } catch (error) {
      // The result of the plan is published later in any case.
      if (error instanceof ForgeReply) continue;
      throw error;
    }
    await note(options, pull, {
      status: digestOf(pull.headSha, 'pending', PLANNING, url, statusContext(binding)),
    });
  }
}

export const PLANNING = 'the plan is being made';

async function note(
  { ctx, binding }: PublishOptions,
  { id }: PullRequestRecord,
  published: Parameters<typeof markPublished>[2],
): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await markPublished(tx, { pullRequestId: id, environmentId: binding.environmentId }, published);
  });
}

export const pullPageOf = (
  { services }: Context,
  { environmentId }: Binding,
  { number }: Pick<PullRequestRecord, 'number'>,
): string => `${services.baseUrl}/e/${encodeURIComponent(environmentId)}/promotions/${number}`;

export function commentOf(
  { environmentId, environmentName }: Pick<Binding, 'environmentId' | 'environmentName'>,
  { plan, summary, reason }: Pick<Check, 'plan' | 'summary' | 'reason'>,
  url: string,
): string {
  const text =
    plan === null ? [...heading(environmentName, summary), ...quoted(reason ?? '')] : [planMarkdown(plan)];
  return [commentMarker(environmentId), ...text, '', `[On Headgate](${url})`, ''].join('\n');
}

/** In a code block, where nothing is markup, a link or a mention. */
const heading = (environmentName: string, summary: string): string[] => [
  ...['### Headgate', ''],
  ...quoted(`${oneLine(environmentName)}: ${summary}`),
];

function quoted(text: string): string[] {
  if (text.trim() === '') return [];
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return ['', `${fence}text`, ...text.split('\n').map(visible), fence];
}
