/** Records the result of a pass in the database. */
import { isDeepStrictEqual } from 'node:util';
import {
  beginApproved,
  deleteManifests,
  deleteOverrides,
  dropApprovals,
  finishJobs,
  type JobQueue,
  renameHolds,
  replaceImportErrors,
  updateBindingStatus,
  upsertManifests,
} from '../../../controller/delivery/bindings/index.ts';
import { writeAsReconciler } from '../../../controller/delivery/ownership/index.ts';
import { RepositoryError } from '../../../controller/delivery/repository/index.ts';
import { writeAudit } from '../../../controller/insight/audit/index.ts';
import { messageOf } from '../../../controller/platform/operation/errors.ts';
import { GitRepositoryError } from '../../source/index.ts';
import { gitActor } from '../act/carry-out.ts';
import { noCounts, type PassReport, type ReportEntry } from '../pass-report.ts';
import type { Acted, Observed, PassOptions, PassResult } from '../pass-types.ts';
import { SourceProblem } from '../plan/compute-plan.ts';
import { attribute, groupByIdentity, lastGoodOf } from '../plan/last-good.ts';
import type { Plan } from '../plan/plan.ts';
import { manifestPolicyOf } from '../plan/policy-manifests.ts';
import type { Verdict } from '../plan/verdict.ts';
import type { PassMemory } from '../read/pass-memory.ts';
import { skippedCommits } from '../read/skipped-commits.ts';
import { renderReport } from '../render-report.ts';
import { findCompletedOverrides } from './completed-overrides.ts';
import { driftAuditEntries } from './drift-audit.ts';
import { manifestWrites } from './inventory.ts';

const MAX_IMPORT_ERRORS = 2_000;

interface Done {
  observed: Observed;
  plan: Plan;
  verdict: Verdict;
  acted: Acted;
}

/** Conditions, import errors, the job and its report, in one transaction. What did not change is not written. */
export async function record(
  options: PassOptions,
  queue: JobQueue,
  { observed, plan, verdict, acted }: Done,
  memory: PassMemory,
): Promise<PassResult> {
  const { ctx, binding } = options;
  const { guarded } = verdict;
  const { commit, desired } = observed;
  // A path whose deletion the commit allows is no fault.
  const isDeletionAllowed = !desired.pathExists && plan.changes.some((change) => change.action === 'prune');
  const attributed = (isDeletionAllowed ? [] : desired.problems).map((problem) =>
    attribute(problem, observed.inventory, desired.manifests),
  );
  const problems = [...attributed, ...acted.problems];
  const refusedDocuments = groupByIdentity(attributed);
  acted.counts.refused += refusedDocuments.length + attributed.filter((problem) => !problem.name).length;
  acted.entries.push(
    ...attributed.map(
      (problem): ReportEntry => ({
        ...{ type: 'problem', problem },
        lastGood: lastGoodOf(problem, observed.inventory),
      }),
    ),
  );
  const { writes, removals } = manifestWrites(options, observed, plan, acted, refusedDocuments);
  const worked = plan.changes.some((change) => acted.outcomes.get(change)?.type === 'applied');
  const outcome: PassResult['outcome'] =
    guarded !== null
      ? 'guarded'
      : problems.length > 0 || acted.counts.refused > 0
        ? 'partial'
        : binding.mode !== 'sync' && !plan.empty
          ? 'observed'
          : worked
            ? 'applied'
            : 'unchanged';
  const skipped = await skippedCommits(options, commit);
  const report: PassReport = {
    ...{ type: 'pass', environment: binding.environmentName, commit, counts: acted.counts },
    entries: [...verdict.entries, ...acted.entries],
    skippedCommits: skipped?.count ?? 0,
  };
  const isApplied = binding.mode === 'sync' && guarded === null;
  const manifestPolicy = isApplied ? manifestPolicyOf(binding, desired) : binding.manifestPolicy;
  const requeue = !isDeepStrictEqual(manifestPolicy, binding.manifestPolicy);
  const completed = isApplied ? findCompletedOverrides(observed, plan, acted) : [];
  // Where nothing is left to do, the approved plan was carried out or belongs to an earlier state.
  const used =
    isApplied &&
    observed.operatorInput.approved.size > 0 &&
    (worked || (plan.empty && verdict.waiting === null));
  const moved = (observed.operatorInput.holds.size === 0 ? [] : plan.changes).flatMap((change) =>
    change.action === 'update' && change.renamedFrom !== null && acted.applied.has(change)
      ? [{ kind: change.manifest.kind, from: change.previous.nameKey, name: change.manifest.name }]
      : [],
  );
  const drifts = driftAuditEntries(observed, plan, acted);
  const changed =
    worked ||
    commit.sha !== binding.headCommit?.sha ||
    binding.lastError !== null ||
    verdict.waiting?.hash !== binding.waitingPlan?.hash;
  const isNoted = changed || queue.pending.length > 0;
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await writeAsReconciler(tx);
    if (removals.length > 0) await deleteManifests(tx, binding.id, removals);
    if (writes.length > 0) await upsertManifests(tx, binding.id, writes);
    await replaceImportErrors(
      tx,
      binding.id,
      problems.slice(0, MAX_IMPORT_ERRORS).map((problem) => ({
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
      ...(observed.refName === null ? {} : { resolvedRef: observed.refName }),
      ...(isApplied
        ? { appliedCommit: commit, manifestPolicy, rewrittenCommit: observed.descends ? null : commit.sha }
        : {}),
      ...(verdict.begins ? { begunAt: queue.startedAt } : {}),
      waitingPlan: verdict.waiting,
      lastError: null,
    });
    await deleteOverrides(tx, binding.id, completed);
    await renameHolds(tx, binding.id, moved);
    if (used) await dropApprovals(tx, binding.id);
    else if (plan.approval !== null) await beginApproved(tx, binding.id, null);
    if (drifts.length > 0) {
      const inside = { ...ctx, db: tx, actor: gitActor(options, commit) };
      const scope = { teamId: binding.teamId, environmentId: binding.environmentId };
      await writeAudit(inside, scope, drifts, 'gitSync.driftFound');
    }
    if (isNoted) {
      await finishJobs(tx, binding.id, {
        status: 'completed',
        outcome,
        trigger: options.trigger,
        commit,
        counts: acted.counts,
        report: renderReport(report),
        error: null,
        planHash: plan.empty && !verdict.waiting ? null : plan.hash,
        queue,
        skipped,
      });
    }
    if (isNoted || writes.length > 0) {
      await ctx.services.bus.publish(tx, {
        type: 'ui',
        environmentId: binding.environmentId,
        topics: ['git', 'pipelines'],
      });
    }
  });
  memory.recorded(writes, removals);
  if (completed.length > 0 || moved.length > 0 || used || plan.approval !== null) memory.forget();
  const nothingLeft = problems.length === 0 && acted.counts.refused + acted.counts.waiting === 0;
  memory.settled = nothingLeft ? desired : null;
  return { outcome, commit, counts: acted.counts, report, error: null, requeue };
}

function messageOfFailure({ remote }: PassOptions, error: unknown): string {
  if (error instanceof SourceProblem) return error.message;
  if (error instanceof RepositoryError) return `${error.message}. Everything runs on as it was`;
  const what = messageOf(error).replace(/^the repository cannot be read: /, '');
  const folder = remote ? 'mirrors' : 'config.git';
  const advice =
    error instanceof GitRepositoryError
      ? remote
        ? 'the next pass makes a new copy of it'
        : error.advice
      : `let the controller's user read ${folder}, in the folder git of the data directory`;
  return `the repository cannot be read: ${what}; ${advice}. Everything runs on as it was`;
}

export async function recordFailure(
  options: PassOptions,
  queue: JobQueue,
  error: unknown,
): Promise<PassResult> {
  const { ctx, binding } = options;
  const message = messageOfFailure(options, error);
  const counts = noCounts();
  const report: PassReport = { type: 'message', environment: binding.environmentName, message };
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
        report: renderReport(report),
        error: message,
        planHash: null,
        queue,
      });
    }
    await ctx.services.bus.publish(tx, { type: 'ui', environmentId: binding.environmentId, topics: ['git'] });
  });
  return { outcome: 'failed', commit: null, counts, report, error: message };
}
