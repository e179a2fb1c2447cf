/**
 * One pass over one binding: observe (git, inventory, database), plan (pure), act (many manifests in one transaction), record.
 * It may be stopped at any point and repeated: the next pass recognises what was applied and does the rest.
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
import { act } from './act/carry-out.ts';
import { noCounts } from './pass-report.ts';
import type { Observed, PassOptions, PassResult } from './pass-types.ts';
import { countOfKinds } from './plan/changed-manifests.ts';
import { guardsOf, observe, planOf } from './plan/compute-plan.ts';
import { verdictOf } from './plan/verdict.ts';
import { createPassMemory, type PassMemory } from './read/pass-memory.ts';
import { record } from './record/record.ts';
import { recordFailure } from './record/record-failure.ts';
import { settleProposals } from './record/settle-proposals.ts';

export type { PassOptions, PassResult } from './pass-types.ts';
export { SourceProblem } from './plan/compute-plan.ts';

/** Throws only where the result cannot be recorded either; a repository that cannot be read is a recorded failure. */
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
    if (error instanceof BindingChangedError) return abandoned(binding, error);
    throw error;
  }
}

/** The binding was changed during the pass. The next pass recognises what this one had written. */
function abandoned({ environmentName }: Binding, { message }: BindingChangedError): PassResult {
  return {
    ...{ outcome: 'unchanged', commit: null, counts: noCounts(), error: null, requeue: true },
    report: {
      ...{ type: 'message', environment: environmentName },
      message: `${message}; another pass begins at once`,
    },
  };
}

async function pass(options: PassOptions, memory: PassMemory): Promise<PassResult> {
  const queue = await readJobQueue(options.ctx.db, options.binding.id);
  let observed: Observed;
  try {
    await options.remote?.fetch();
    observed = await observe({ ...options, memory });
  } catch (error) {
    if (options.signal.aborted || isDatabaseError(error)) throw error;
    if (error instanceof GitRepositoryError) options.remote?.distrust();
    return recordFailure(options, queue, error);
  }
  const requeue = await settleProposals(options, observed.commit.sha, memory);
  const result = await reconcile(options, memory, queue, observed);
  return requeue ? { ...result, requeue } : result;
}

async function reconcile(
  options: PassOptions,
  memory: PassMemory,
  queue: JobQueue,
  observed: Observed,
): Promise<PassResult> {
  if (queue.pending.length === 0 && isSettled(options, observed, memory))
    return recordSettled(options, observed);
  const plan = planOf(observed);
  const guards = await guardsOf(options, observed, plan);
  const verdict = verdictOf(options.binding, observed, plan, guards);
  if (plan.approval !== null && !plan.empty && options.binding.mode === 'sync')
    await begin(options, plan.approval);
  const acted = await act(options, observed, plan, verdict.guarded);
  return record(options, queue, { observed, plan, verdict, acted }, memory);
}

/** Should this process be killed, the next pass finds the rest of the plan approved. */
async function begin({ ctx, binding }: PassOptions, approval: string): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await writeAsReconciler(tx);
    await beginApproved(tx, binding.id, approval);
  });
}

/** After the last pass over this very tree nothing was left to do, and nothing has changed since. */
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

async function recordSettled({ ctx, binding }: PassOptions, observed: Observed): Promise<PassResult> {
  const { commit, desired } = observed;
  const counts = { ...noCounts(), unchanged: countOfKinds(desired.manifests) };
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await updateBindingStatus(tx, binding.id, { lastError: null });
  });
  return {
    ...{ outcome: 'unchanged', commit, counts, error: null },
    report: {
      ...{ type: 'pass', environment: binding.environmentName, commit, counts },
      ...{ entries: [], skippedCommits: 0 },
    },
  };
}

const isDatabaseError = (error: unknown) =>
  unlessAway(error) instanceof DomainError || typeof (error as { severity?: unknown }).severity === 'string';
