/**
 * One pass over one binding: look (git, inventory, database), plan (pure), act (many manifests in one transaction), record. May be
 * stopped anywhere and repeated: what was applied is recognised, what was not is done.
 */

import type { Knex } from 'knex';
import { unlessAway } from '../../controller/database/errors.ts';
import {
  type Binding,
  BindingChangedError,
  beginApproved,
  fenceBinding,
  type JobQueue,
  readJobQueue,
  updateBindingStatus,
} from '../../controller/delivery/bindings/index.ts';
import { writeAsReconciler } from '../../controller/delivery/ownership/index.ts';
import { DomainError } from '../../controller/platform/operation/errors.ts';
import { GitRepositoryError } from '../source/index.ts';
import { act } from './act/act.ts';
import { noCounts, renderReport } from './pass-report.ts';
import type { Observed, PassOptions, PassResult } from './pass-types.ts';
import { countOfKinds } from './plan/changed-manifests.ts';
import { guardsOf, observe, planOf } from './plan/compute-plan.ts';
import { verdictOf } from './plan/verdict.ts';
import { createPassMemory, type PassMemory } from './read/pass-memory.ts';
import { record, recordFailure } from './record/record.ts';
import { settleProposals } from './record/settle-proposals.ts';

export type { PassOptions, PassResult } from './pass-types.ts';
export { SourceProblem } from './plan/compute-plan.ts';

/** Throws only where nothing could be recorded either; a repository that cannot be read is a recorded failure. */
export async function runPass(options: PassOptions): Promise<PassResult> {
  const memory = options.memory ?? createPassMemory();
  const { ctx, binding } = options;
  const fence = async (tx: Knex) => {
    await ctx.fence?.(tx);
    await fenceBinding(tx, binding);
  };
  try {
    return await pass({ ...options, ctx: { ...ctx, fence } }, memory);
  } catch (error) {
    memory.forget();
    if (error instanceof BindingChangedError) return givenUp(binding, error);
    throw error;
  }
}

/** What was written before is recognised by the pass that looks at the binding as it is now. */
function givenUp({ environmentName }: Binding, { message }: BindingChangedError): PassResult {
  const report = [`${environmentName}: ${message}; it is looked at again`];
  return { outcome: 'unchanged', commit: null, counts: noCounts(), report, error: null, again: true };
}

async function pass(options: PassOptions, memory: PassMemory): Promise<PassResult> {
  const queue = await readJobQueue(options.ctx.db, options.binding.id);
  let looked: Observed;
  try {
    await options.remote?.fetch();
    looked = await observe({ ...options, memory });
  } catch (error) {
    if (options.signal.aborted || isDatabaseError(error)) throw error;
    if (error instanceof GitRepositoryError) options.remote?.distrust();
    return recordFailure(options, queue, error);
  }
  const again = await settleProposals(options, looked.commit.sha, memory);
  const result = await passOver(options, memory, queue, looked);
  return again ? { ...result, again } : result;
}

async function passOver(
  options: PassOptions,
  memory: PassMemory,
  queue: JobQueue,
  looked: Observed,
): Promise<PassResult> {
  if (queue.pending.length === 0 && isSettled(options, looked, memory)) return recordSettled(options, looked);
  const plan = planOf(looked);
  const guards = await guardsOf(options, looked, plan);
  const verdict = verdictOf(options.binding, looked, plan, guards);
  if (plan.approval !== null && !plan.empty && options.binding.mode === 'sync')
    await begin(options, plan.approval);
  const acted = await act(options, looked, plan, verdict.guarded);
  return record(options, queue, { looked, plan, verdict, acted }, memory);
}

/** Whoever goes on after this process was killed finds the rest of the plan approved. */
async function begin({ ctx, binding }: PassOptions, approval: string): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await writeAsReconciler(tx);
    await beginApproved(tx, binding.id, approval);
  });
}

/** The very tree after which the last pass had nothing left to do, and nobody has changed anything since. */
function isSettled({ binding }: PassOptions, { commit, desired }: Observed, memory: PassMemory): boolean {
  return (
    memory.settled === desired &&
    binding.mode === 'sync' &&
    (binding.repositoryUrl === 'embedded' || binding.readAt !== null) &&
    binding.lastError === null &&
    binding.headCommit?.sha === commit.sha &&
    binding.appliedCommit?.sha === commit.sha
  );
}

async function recordSettled({ ctx, binding }: PassOptions, looked: Observed): Promise<PassResult> {
  const { commit, desired } = looked;
  const counts = { ...noCounts(), unchanged: countOfKinds(desired.manifests) };
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await updateBindingStatus(tx, binding.id, { lastError: null });
  });
  const report = renderReport(binding.environmentName, commit, [], counts);
  return { outcome: 'unchanged', commit, counts, report, error: null };
}

const isDatabaseError = (error: unknown) =>
  unlessAway(error) instanceof DomainError || typeof (error as { severity?: unknown }).severity === 'string';
