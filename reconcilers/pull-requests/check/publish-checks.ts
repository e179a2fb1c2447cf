/**
 * What forges are told of checks: one comment an environment that is kept up to date, and a commit status. Only what differs
 * from what was told last is told. Whoever is stopped between telling and noting it tells the same again, which changes
 * nothing on the forge.
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

/** Of one pass. */
const MOST_CALLS = 100;
const DIGEST_CHARACTERS = 32;
/** So many in a row that are not allowed mean the token, and not the pull requests. */
const MOST_DENIALS = 3;

export const digestOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, DIGEST_CHARACTERS);

export const statusContext = ({ environmentName }: Pick<Binding, 'environmentName'>): string =>
  `headgate/${visible(environmentName).slice(0, 200)}`;

export const commentMarker = (environmentId: string): string => `<!-- headgate:plan:${environmentId} -->`;

export interface PublishOptions {
  ctx: Context;
  binding: Binding;
  forge: Forge;
  /** False from the moment that another controller leads. */
  leads(): boolean;
  aside<T>(work: () => Promise<T>): Promise<T>;
  refusals: RefusedWrites;
}

/** `more`: not all of it was told. `refused`: what the forge does not take. */
export interface PublishedChecks {
  calls: number;
  more: boolean;
  refused: string | null;
}

/** @throws ForgeError where the forge takes nothing at the moment */
export async function publishChecks(
  telling: PublishOptions,
  pulls: readonly PullRequestRecord[],
  checks: ReadonlyMap<string, KnownCheck>,
): Promise<PublishedChecks> {
  const { ctx, binding, forge, leads, aside, refusals } = telling;
  let left = MOST_CALLS;
  let refused: string | null = null;
  let denials = 0;
  /** Whether it need not be asked for again. */
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
      // Of one pull request, as a conversation that is locked; or of the token, once none is taken.
      if (error.fault === 'credentials') denials += 1;
      if (denials >= MOST_DENIALS) throw error;
      refused = error.message;
      if (isDenied) refusals.note(key, error.message);
      return !isDenied;
    }
  };
  for (const pull of pulls) {
    const check = checks.get(pull.id);
    if (!check || check.headSha !== pull.headSha) continue;
    if (left <= 0 || !leads()) return { calls: MOST_CALLS - left, more: true, refused };
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
      if (settled) await note(telling, pull, { status });
    }
    // A fault that may be over in a moment does not take the place of the last plan.
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
    await note(telling, pull, { comment, ...(commentId === null ? {} : { commentId }) });
  }
  return { calls: MOST_CALLS - left, more: false, refused };
}

/** Asking again does not help until something is another. */
const FINAL: ReadonlySet<ForgeError['fault']> = new Set(['refused', 'not-found']);

const refOf = ({ isFork, branch, number }: PullRequestRecord) => ({
  number,
  ...(isFork ? {} : { ref: branch }),
});

/** While the plan is made: what was known of the head before says nothing of this one. */
export async function publishPending(
  telling: PublishOptions,
  pulls: readonly PullRequestRecord[],
): Promise<void> {
  const { ctx, binding, forge, leads } = telling;
  for (const pull of pulls.slice(0, MOST_CALLS)) {
    if (!leads()) return;
    const url = pullPageOf(ctx, binding, pull);
    const report = {
      ...{ context: statusContext(binding), state: 'pending' as const, description: PLANNING, url },
      ...refOf(pull),
    };
    try {
      await forge.setStatus(pull.headSha, report);
    } catch (error) {
      // What is said once the plan is made says all of it; and that is told again where it was not taken.
      if (error instanceof ForgeReply) continue;
      throw error;
    }
    await note(telling, pull, {
      status: digestOf(pull.headSha, 'pending', PLANNING, url, statusContext(binding)),
    });
  }
}

export const PLANNING = 'the plan is being made';

async function note(
  { ctx, binding }: PublishOptions,
  { id }: PullRequestRecord,
  told: Parameters<typeof markPublished>[2],
): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await markPublished(tx, { pullRequestId: id, environmentId: binding.environmentId }, told);
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

/** In a block of code, where nothing is markup, a link or a name that is notified. */
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
