/** The checks of all open pull requests for one environment: made where something has changed, a few a pass, the oldest first. */

import { type Binding, listFaults } from '../../../controller/delivery/bindings/index.ts';
import {
  type KnownCheck,
  knownChecks,
  markPending,
  type PullRequestRecord,
  saveCheck,
  updatePullRequest,
} from '../../../controller/delivery/pull-requests/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { configVariables } from '../../../controller/secrets/certificates/index.ts';
import { backoff, jitter } from '../../engine/backoff.ts';
import { faultKey } from './check-messages.ts';
import { inputsOf, type Planned, type Planning, planned } from './plan-merge.ts';
import { PLANNING } from './publish-checks.ts';

/** A pass that had more to do is followed by the next at once, so that others have their turn in between. */
const MOST_PLANS = 8;
const retryAfter = backoff({ firstMs: 5_000, capMs: 10 * 60_000 });

/** What could not be planned, by pull request: tried again after longer and longer times, or once anything is another. */
export type Faults = Map<string, { inputs: string; failures: number; retryAt: number }>;

export interface Checking extends Omit<Planning, 'secrets' | 'faultsBefore'> {
  faults: Faults;
  /** Of forges that are told; null where the check is only shown here. */
  pending: ((pulls: readonly PullRequestRecord[]) => Promise<void>) | null;
}

export interface Checked {
  made: number;
  /** More are to be made. */
  more: boolean;
  /** When the next one is to be tried again, in milliseconds from now; null for none. */
  retryInMs: number | null;
}

/** Plans that take longer than this are told to be on the way. */
const TOLD_AFTER_MS = 2_000;

export async function makeChecks(checking: Checking, pulls: readonly PullRequestRecord[]): Promise<Checked> {
  const { ctx, binding, faults } = checking;
  const { environmentId } = binding;
  const planning = {
    ...checking,
    secrets: await configVariables(ctx.db, environmentId),
    faultsBefore: new Set((await listFaults(ctx.db, binding.id)).map(faultKey)),
  };
  const known = await checksOf(ctx, binding, pulls);
  forget(faults, pulls);
  const stale = pulls
    .map((pull) => ({ pull, check: known.get(pull.id), inputs: inputsOf(planning, pull) }))
    .filter(({ pull, check, inputs }) => isStale(check, pull, inputs));
  const waiting = stale.filter(({ pull, inputs }) => !isDue(checking, pull, inputs));
  const due = stale
    .filter((one) => !waiting.includes(one))
    .sort((a, b) => age(a.check) - age(b.check) || a.pull.number - b.pull.number);
  const unknown = due.filter(({ pull, check }) => check?.headSha !== pull.headSha).map(({ pull }) => pull);
  await announce(checking, unknown);
  const now = due.slice(0, MOST_PLANS);
  const first = new Set(unknown.map(({ id }) => id));
  const cancel = tellLater(
    checking,
    now.map(({ pull }) => pull).filter(({ id }) => first.has(id)),
  );
  try {
    for (const { pull, inputs } of now) {
      const result = await planned(planning, pull);
      await save(checking, pull, inputs, result);
      note(checking, pull, inputs, result);
    }
  } finally {
    await cancel();
  }
  const times = [...faults.values()].map(({ retryAt }) => Math.max(0, retryAt - ctx.clock.monotonic()));
  return {
    made: now.length,
    more: due.length > now.length,
    retryInMs: times.length > 0 ? Math.min(...times) : null,
  };
}

export const checksOf = async (
  { db }: Context,
  { environmentId }: Binding,
  pulls: readonly PullRequestRecord[],
): Promise<Map<string, KnownCheck>> => {
  const ids = pulls.map(({ id }) => id);
  const known = await knownChecks(db, environmentId, ids);
  return new Map(known.map((check) => [check.pullRequestId, check]));
};

const isStale = (check: KnownCheck | undefined, pull: PullRequestRecord, inputs: string): boolean =>
  check === undefined || check.headSha !== pull.headSha || check.inputs !== inputs || check.state === 'error';

function isDue({ ctx, faults }: Checking, pull: PullRequestRecord, inputs: string): boolean {
  const fault = faults.get(pull.id);
  return fault === undefined || fault.inputs !== inputs || fault.retryAt <= ctx.clock.monotonic();
}

/** Never looked at: before all others. One that changes all the time does not keep others from their turn. */
const age = (check: KnownCheck | undefined): number => check?.computedAt?.getTime() ?? 0;

function forget(faults: Faults, pulls: readonly PullRequestRecord[]): void {
  const open = new Set(pulls.map(({ id }) => id));
  for (const id of faults.keys()) if (!open.has(id)) faults.delete(id);
}

/** Pages and forges show that nothing is known of these heads yet. */
async function announce({ ctx, binding, baseSha }: Checking, pulls: readonly PullRequestRecord[]) {
  if (pulls.length === 0) return;
  const { environmentId } = binding;
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await markPending(tx, environmentId, pulls, { baseSha, summary: PLANNING });
    await ctx.services.bus.publish(tx, { type: 'ui', environmentId, topics: ['promotions'] });
  });
}

/** The answer waits for what is being told, so that what is told after it comes after it. */
function tellLater({ ctx, pending }: Checking, pulls: readonly PullRequestRecord[]): () => Promise<void> {
  if (pending === null || pulls.length === 0) return async () => {};
  let telling: Promise<void> = Promise.resolve();
  const cancel = ctx.clock.after(TOLD_AFTER_MS, () => {
    // What could not be told now is told with the result.
    telling = pending(pulls).catch(() => {});
  });
  return async () => {
    cancel();
    await telling;
  };
}

async function save(
  { ctx, binding, baseSha }: Checking,
  pull: PullRequestRecord,
  inputs: string,
  { state, summary, plan, reason, conflicts }: Planned,
): Promise<void> {
  const { environmentId } = binding;
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    const check = {
      ...{ pullRequestId: pull.id, environmentId, headSha: pull.headSha, baseSha },
      ...{ state, summary, plan, reason, inputs },
    };
    if (!(await saveCheck(tx, check, new Date(ctx.clock.now())))) return;
    // Of those that are kept here, each pass of git says so itself.
    if (conflicts !== null && pull.forge !== 'headgate') {
      const mergeable = conflicts.length > 0 ? 'conflict' : 'clean';
      if (
        pull.mergeable !== mergeable ||
        pull.baseSha !== baseSha ||
        pull.conflicts.join('\0') !== conflicts.join('\0')
      )
        await updatePullRequest(tx, pull.id, { mergeable, conflicts, baseSha });
    }
    await ctx.services.bus.publish(tx, { type: 'ui', environmentId, topics: ['promotions'] });
  });
}

function note(
  { ctx, faults }: Checking,
  { id }: PullRequestRecord,
  inputs: string,
  { state }: Planned,
): void {
  if (state !== 'error') {
    faults.delete(id);
    return;
  }
  const before = faults.get(id);
  const failures = before?.inputs === inputs ? before.failures + 1 : 1;
  faults.set(id, { inputs, failures, retryAt: ctx.clock.monotonic() + jitter(retryAfter(failures)) });
}
