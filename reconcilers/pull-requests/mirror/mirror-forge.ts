/** Copies the pull requests of a forge into the database. It is repeated, so missed changes are found; older answers lose. */
import { type Binding, environmentsBeside } from '../../../controller/delivery/bindings/index.ts';
import {
  closePullRequest,
  databaseTime,
  findByNumber,
  listPullRequests,
  type MirroredPullRequest,
  mirrorPullRequest,
  type PullRequestRecord,
  pullRequestsOf,
} from '../../../controller/delivery/pull-requests/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { type Forge, type ForgePullRequest, UnreadableAnswer } from '../../forges/forge.ts';
import { mirrored } from './mirrored-pull-request.ts';

/**
 * Pull requests that are open here but not in the forge's list are read singly, this many in a pass: they are merged, closed,
 * retargeted, or beyond the end of the list.
 */
const MAX_SINGLE_READS = 50;
const MAX_OPEN = 1_000;
const PULL_REQUESTS_LOOP = 'pull-requests';

export interface Mirroring {
  ctx: Context;
  binding: Binding;
  forge: Forge;
  /** The number of the last unlisted pull request that the pass before read singly. */
  after: number;
}

/** Returns the `after` of the next pass, and reports entries that could not be read. @throws ForgeError */
export async function mirrorForge({
  ctx,
  binding,
  forge,
  after,
}: Mirroring): Promise<{ after: number; leftOut: string | null }> {
  const of = pullRequestsOf(binding);
  // Changes that users make here while the forge is read are newer than its answer.
  const since = await databaseTime(ctx.db);
  const open = await listPullRequests(ctx.db, of, { state: 'open', limit: MAX_OPEN });
  const known = new Map(open.map((record) => [record.number, record]));
  const leftOut: string[] = [];
  const found = await forge.listOpen(binding.ref, (sentence) => leftOut.push(sentence));
  const listed = found.map((one) => mirrored(binding, one));
  const there = new Set(listed.map(({ number }) => number));
  const unlisted = open.filter(({ number }) => !there.has(number)).sort((a, b) => a.number - b.number);
  const singles = rotated(unlisted, after).slice(0, MAX_SINGLE_READS);
  const seen = listed.filter((one) => differs(known.get(one.number), one));
  const gone: PullRequestRecord[] = [];
  for (const record of singles) {
    const now = await unlessUnreadable(() => forge.get(record.number));
    if (now === 'unreadable') continue;
    if (!now) gone.push(record);
    else if (differs(record, mirrored(binding, now))) seen.push(mirrored(binding, now));
  }
  await write({ ctx, binding, since }, seen, gone);
  return {
    after: singles.length < unlisted.length ? (singles.at(-1)?.number ?? 0) : 0,
    leftOut: leftOut.length === 0 ? null : summarised(leftOut),
  };
}

/** An entry that cannot be read stays as it is stored. */
async function unlessUnreadable(
  work: () => Promise<ForgePullRequest | null>,
): Promise<ForgePullRequest | null | 'unreadable'> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnreadableAnswer) return 'unreadable';
    throw error;
  }
}

const summarised = ([first = '', ...others]: readonly string[]): string =>
  others.length === 0 ? first : `${first}; ${others.length} more are left out too`;

/** Begins with those after the number. */
function rotated(pulls: readonly PullRequestRecord[], after: number): PullRequestRecord[] {
  return [...pulls.filter(({ number }) => number > after), ...pulls.filter(({ number }) => number <= after)];
}

/** Opened by Headgate: the forge does not know the user it was opened for. */
const isOurs = ({ bindingId, pushedSha }: PullRequestRecord): boolean =>
  bindingId !== null || pushedSha !== null;

function differs(record: PullRequestRecord | undefined, seen: MirroredPullRequest): boolean {
  if (!record) return true;
  return (Object.keys(seen) as (keyof MirroredPullRequest)[]).some((field) => {
    if (field === 'author' && isOurs(record)) return false;
    const [before, now] = [record[field], seen[field]];
    return before instanceof Date || now instanceof Date
      ? Number(before) !== Number(now)
      : (before ?? null) !== (now ?? null);
  });
}

async function write(
  { ctx, binding, since }: { ctx: Context; binding: Binding; since: Date },
  seen: readonly MirroredPullRequest[],
  gone: readonly PullRequestRecord[],
): Promise<void> {
  if (seen.length + gone.length === 0) return;
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    const changed: PullRequestRecord[] = [];
    /** Promotions that wait for them to be merged or closed. */
    const decidedPromotions = new Set<string>();
    const moved = (before: PullRequestRecord | null, now: PullRequestRecord) => {
      changed.push(now);
      const { promotionId } = now.subject;
      const decided = before?.state !== now.state || before?.base !== now.base;
      if (typeof promotionId === 'string' && decided) decidedPromotions.add(promotionId);
    };
    for (const one of seen) {
      const { repository, forge, project, number } = one;
      const before = await findByNumber(tx, { repository, forge, project, number });
      if (before && before.updatedAt >= since) continue;
      const author = before && isOurs(before) ? before.author : one.author;
      const { record, changed: written } = await mirrorPullRequest(tx, { ...one, author });
      if (written) moved(before, record);
    }
    for (const record of gone)
      if (record.updatedAt < since && (await closePullRequest(tx, record, { state: 'closed' })))
        moved(record, { ...record, state: 'closed' });
    if (changed.length === 0) return;
    const { bus } = ctx.services;
    for (const environmentId of await environmentsBeside(tx, binding.id)) {
      await bus.publish(tx, { type: 'ui', environmentId, topics: ['promotions', 'git'] });
      if (environmentId !== binding.environmentId)
        await bus.publish(tx, {
          ...{ type: 'wake', loop: PULL_REQUESTS_LOOP },
          ...{ key: environmentId, trigger: 'another environment of the repository' },
        });
    }
    for (const promotionId of decidedPromotions)
      await bus.publish(tx, { type: 'wake', loop: 'promotions', key: promotionId, trigger: 'pull request' });
  });
}
