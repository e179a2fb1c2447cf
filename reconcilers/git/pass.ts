/**
 * One pass over one binding: look (git, inventory, database), plan (pure), act (many manifests in one transaction), record. May be
 * stopped anywhere and repeated: what was applied is recognised, what was not is done.
 */

import { unlessAway } from '../../controller/database/errors.ts';
import {
  deleteManifests,
  finishJobs,
  pendingJobs,
  recordSkipped,
  replaceImportErrors,
  updateBindingStatus,
  upsertManifests,
} from '../../controller/git-sync/index.ts';
import { writeAsReconciler } from '../../controller/ownership/index.ts';
import { DomainError, messageOf } from '../../controller/platform/errors.ts';
import {
  type CommitInfo,
  descends,
  GitRepositoryError,
  readCommit,
  readDesired,
  resolveRef,
} from '../source/index.ts';
import { act } from './act.ts';
import { countOfKinds, focusOf, mayDangle } from './focus.ts';
import { manifestWrites } from './inventory.ts';
import { attribute, groupByIdentity, keptOf } from './kept.ts';
import { createPassMemory, type PassMemory } from './memory.ts';
import { allowedDeletes, makePlan, type Plan } from './plan.ts';
import { danglingReferences } from './references.ts';
import { type Line, noCounts, renderReport } from './report.ts';
import type { Acted, Looked, PassOptions, PassResult } from './steps.ts';

export type { PassOptions, PassResult } from './steps.ts';

/** Throws only where nothing could be recorded either; a repository that cannot be read is a recorded failure. */
export async function runPass(options: PassOptions): Promise<PassResult> {
  const memory = options.memory ?? createPassMemory();
  try {
    return await pass(options, memory);
  } catch (error) {
    memory.forget();
    throw error;
  }
}

async function pass(options: PassOptions, memory: PassMemory): Promise<PassResult> {
  const start: Start = {
    at: new Date(options.ctx.clock.now()),
    pending: await pendingJobs(options.ctx.db, options.binding.id),
  };
  let looked: Looked;
  try {
    looked = await look(options, memory);
  } catch (error) {
    if (options.signal.aborted || isDatabaseError(error)) throw error;
    return recordFailure(options, start, error);
  }
  if (start.pending.length === 0 && isSettled(options, looked, memory)) return recordSettled(options, looked);
  const plan = makePlan({
    desired: looked.desired,
    ...(looked.focus ?? { recorded: [...looked.inventory.values()] }),
    descends: looked.descends,
    allowedDeletes: allowedDeletes(looked.commit.message),
  });
  const acted = await act(options, looked, plan);
  return record(options, start, looked, plan, acted, memory);
}

interface Start {
  at: Date;
  /** The jobs that this pass answers. */
  pending: readonly string[];
}

/** A message for people that is shown as it is. */
export class SourceProblem extends Error {}

async function look(options: PassOptions, memory: PassMemory): Promise<Looked> {
  const { ctx, binding, repository, cache } = options;
  const head = await resolveRef(repository, binding.ref);
  if (head === null) {
    throw new SourceProblem(
      `the branch "${binding.ref}" does not exist in the repository; push it, or bind the environment to another one. Everything runs on as it was`,
    );
  }
  const [commit, desired, { inventory, secrets }] = await Promise.all([
    readCommit(repository, head),
    readDesired(repository, head, { path: binding.path, sharedPaths: binding.sharedPaths }, cache),
    memory.read(ctx, binding),
  ]);
  const applied = binding.appliedCommit?.sha ?? null;
  const follows = applied === null || applied === head || (await descends(repository, head, applied));
  const { settled } = memory;
  const dangling =
    settled === desired
      ? new Map()
      : await danglingReferences(ctx, binding.environmentId, desired, mayDangle(desired, settled));
  const focus = focusOf(desired, settled, inventory, dangling.keys());
  return { commit, desired, inventory, secrets, descends: follows, focus, dangling };
}

/** The very tree after which the last pass had nothing left to do, and nobody has changed anything since. */
function isSettled({ binding }: PassOptions, { commit, desired }: Looked, memory: PassMemory): boolean {
  return (
    memory.settled === desired &&
    binding.mode === 'sync' &&
    binding.lastError === null &&
    binding.headCommit?.sha === commit.sha &&
    binding.appliedCommit?.sha === commit.sha
  );
}

async function recordSettled({ ctx, binding }: PassOptions, looked: Looked): Promise<PassResult> {
  const { commit, desired } = looked;
  const counts = { ...noCounts(), unchanged: countOfKinds(desired.manifests) };
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await updateBindingStatus(tx, binding.id, { lastError: null });
  });
  const report = renderReport(binding.environmentName, commit, [], counts);
  return { outcome: 'unchanged', commit, counts, report, error: null };
}

const SKIPPED_TOLD = 50;

/** The commits between the head of the last pass and this one, oldest first; none where history was rewritten. */
async function skippedCommits({ binding, repository }: PassOptions, head: CommitInfo): Promise<CommitInfo[]> {
  const last = binding.headCommit?.sha;
  if (last === undefined || last === head.sha) return [];
  if (!(await descends(repository, head.sha, last))) return [];
  const between: CommitInfo[] = [];
  for (let sha = head.parents[0]; sha !== undefined && between.length < SKIPPED_TOLD; ) {
    if (sha === last) return between.reverse();
    const commit = await readCommit(repository, sha);
    between.push(commit);
    sha = commit.parents[0];
  }
  return between.length === SKIPPED_TOLD ? between.reverse() : [];
}

async function record(
  options: PassOptions,
  start: Start,
  looked: Looked,
  plan: Plan,
  acted: Acted,
  memory: PassMemory,
): Promise<PassResult> {
  const { ctx, binding } = options;
  const { commit, desired } = looked;
  // A path that was deleted on purpose, as the commit says, is no fault.
  const meant = !desired.pathExists && plan.changes.some((change) => change.action === 'prune');
  const attributed = (meant ? [] : desired.problems).map((problem) =>
    attribute(problem, looked.inventory, desired.manifests),
  );
  const problems = [...attributed, ...acted.problems];
  const refusedDocuments = groupByIdentity(attributed);
  acted.counts.refused += refusedDocuments.length + attributed.filter((problem) => !problem.name).length;
  acted.lines.push(
    ...attributed.map(
      (problem): Line => ({ type: 'problem', problem, kept: keptOf(problem, looked.inventory) }),
    ),
  );
  const { writes, removals } = manifestWrites(options, looked, plan, acted, refusedDocuments);
  const worked = plan.changes.some((change) => acted.outcomes.get(change)?.type === 'applied');
  const outcome: PassResult['outcome'] =
    problems.length > 0 || acted.counts.refused > 0
      ? 'partial'
      : binding.mode === 'observe' && !plan.empty
        ? 'observed'
        : worked
          ? 'applied'
          : 'unchanged';
  const report = renderReport(binding.environmentName, commit, acted.lines, acted.counts);
  const news = worked || commit.sha !== binding.headCommit?.sha || binding.lastError !== null;
  const waiting = news || start.pending.length > 0;
  const skipped = await skippedCommits(options, commit);
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await writeAsReconciler(tx);
    await recordSkipped(tx, binding.id, skipped, options.trigger, start.at);
    if (removals.length > 0) await deleteManifests(tx, binding.id, removals);
    if (writes.length > 0) await upsertManifests(tx, binding.id, writes);
    await replaceImportErrors(
      tx,
      binding.id,
      problems.slice(0, 2_000).map((problem) => ({
        path: problem.path,
        line: problem.line ?? null,
        column: problem.column ?? null,
        kind: problem.kind,
        name: problem.name,
        stage: problem.stage,
        message: problem.message,
        hint: problem.hint,
        commit: commit.sha,
      })),
    );
    await updateBindingStatus(tx, binding.id, {
      headCommit: commit,
      ...(binding.mode === 'sync' ? { appliedCommit: commit } : {}),
      lastError: null,
    });
    if (waiting) {
      await finishJobs(tx, binding.id, {
        status: 'completed',
        outcome,
        trigger: options.trigger,
        commit,
        counts: acted.counts,
        report,
        error: null,
        planHash: plan.empty ? null : plan.hash,
        startedAt: start.at,
        pending: start.pending,
      });
    }
    if (waiting || writes.length > 0) {
      await ctx.services.bus.publish(tx, {
        type: 'ui',
        environmentId: binding.environmentId,
        topics: ['git', 'pipelines'],
      });
    }
  });
  memory.recorded(writes, removals);
  const nothingLeft = problems.length === 0 && acted.counts.refused + acted.counts.waiting === 0;
  memory.settled = nothingLeft ? desired : null;
  return { outcome, commit, counts: acted.counts, report, error: null };
}

const isDatabaseError = (error: unknown) =>
  unlessAway(error) instanceof DomainError || typeof (error as { severity?: unknown }).severity === 'string';

function unreadable(error: unknown): string {
  const what = messageOf(error).replace(/^the repository cannot be read: /, '');
  const advice =
    error instanceof GitRepositoryError
      ? error.advice
      : "let the controller's user read config.git, in the folder git of the data directory";
  return `the repository cannot be read: ${what}; ${advice}. Everything runs on as it was`;
}

async function recordFailure(options: PassOptions, start: Start, error: unknown): Promise<PassResult> {
  const { ctx, binding } = options;
  const message = error instanceof SourceProblem ? error.message : unreadable(error);
  const counts = noCounts();
  const report = [`${binding.environmentName}: ${message}`];
  const repeated = binding.lastError === message && options.trigger === 'timer';
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await updateBindingStatus(tx, binding.id, { lastError: message });
    if (!repeated) {
      await finishJobs(tx, binding.id, {
        status: 'failed',
        outcome: 'failed',
        trigger: options.trigger,
        commit: null,
        counts,
        report,
        error: message,
        planHash: null,
        startedAt: start.at,
        pending: start.pending,
      });
    }
    await ctx.services.bus.publish(tx, { type: 'ui', environmentId: binding.environmentId, topics: ['git'] });
  });
  return { outcome: 'failed', commit: null, counts, report, error: message };
}
