/** Checks all open pull requests against one environment: those that have changed, a few in a pass, the oldest first. */
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
import { backoff, jitter } from '../../loops/backoff.ts';
import { faultKey } from './check-messages.ts';
import { inputsOf, type Planned, type Planning, planned } from './plan-merge.ts';
import { PLANNING } from './publish-checks.ts';

/** In one pass. Where more are due, the next pass follows at once, and other environments come in between. */
const MAX_PLANS = 8;
const retryAfter = backoff({ firstMs: 5_000, capMs: 10 * 60_000 });

/** By pull request, plans that failed: retried after growing delays, or once their inputs change. */
export type Faults = Map<string, { inputs: string; failures: number; retryAt: number }>;

export interface Checking extends Omit<Planning, 'secrets' | 'faultsBefore'> {
  faults: Faults;
  /** Publishes on a forge that plans are being made; null where there is no forge. */
  pending: ((pulls: readonly PullRequestRecord[]) => Promise<void>) | null;
}

export interface Checked {
  made: number;
  /** More checks are due. */
  more: boolean;
  /** Milliseconds until the next retry; null where none is due. */
  retryInMs: number | null;
}

/** Plans that take longer are published as pending. */
const PENDING_AFTER_MS = 2_000;

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
  await markNew(checking, unknown);
  const now = due.slice(0, MAX_PLANS);
  const isNew = new Set(unknown.map(({ id }) => id));
  const cancel = publishPendingLater(
    checking,
    now.map(({ pull }) => pull).filter(({ id }) => isNew.has(id)),
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

/** Pull requests without a check come first; one that changes all the time does not delay the others. */
const age = (check: KnownCheck | undefined): number => check?.computedAt?.getTime() ?? 0;

function forget(faults: Faults, pulls: readonly PullRequestRecord[]): void {
  const open = new Set(pulls.map(({ id }) => id));
  for (const id of faults.keys()) if (!open.has(id)) faults.delete(id);
}

/** Marks the checks of new heads as pending. */
async function markNew({ ctx, binding, baseSha }: Checking, pulls: readonly PullRequestRecord[]) {
  if (pulls.length === 0) return;
  const { environmentId } = binding;
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await markPending(tx, environmentId, pulls, { baseSha, summary: PLANNING });
    await ctx.services.bus.publish(tx, { type: 'ui', environmentId, topics: ['promotions'] });
  });
}

/** The returned function waits for a publication under way, so that later ones come after it. */
function publishPendingLater(
  { ctx, pending }: Checking,
  pulls: readonly PullRequestRecord[],
): () => Promise<void> {
  if (pending === null || pulls.length === 0) return async () => {};
  let publishing: Promise<void> = Promise.resolve();
  const cancel = ctx.clock.after(PENDING_AFTER_MS, () => {
    // Where this fails, the result is published all the same.
    publishing = pending(pulls).catch(() => {});
  });
  return async () => {
    cancel();
    await publishing;
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
    // The git pass updates Headgate's own pull requests.
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
