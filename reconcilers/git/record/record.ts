/** Records the result of a pass in the database. */
import { isDeepStrictEqual } from 'node:util';
import type { Knex } from 'knex';
import {
  type Binding,
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
import { writeAudit } from '../../../controller/insight/audit/index.ts';
import type { Problem } from '../../source/index.ts';
import { gitActor } from '../act/carry-out.ts';
import type { PassReport, ReportEntry } from '../pass-report.ts';
import type { Acted, Observed, PassOptions, PassResult } from '../pass-types.ts';
import { attribute, groupByIdentity, lastGoodOf } from '../plan/last-good.ts';
import type { Plan } from '../plan/plan.ts';
import { manifestPolicyOf } from '../plan/policy-manifests.ts';
import type { Verdict } from '../plan/verdict.ts';
import type { PassMemory } from '../read/pass-memory.ts';
import { skippedCommits } from '../read/skipped-commits.ts';
import { renderReport } from '../render-report.ts';
import { findCompletedOverrides } from './completed-overrides.ts';
import { driftAuditEntries } from './drift-audit.ts';
import { type InventoryWrites, manifestWrites } from './inventory.ts';

const MAX_IMPORT_ERRORS = 2_000;

interface Done {
  observed: Observed;
  plan: Plan;
  verdict: Verdict;
  acted: Acted;
}

/** What a pass has come to, before it is stored. */
interface Summary extends InventoryWrites {
  /** Of the tree, of the plan and of applying it. */
  problems: readonly Problem[];
  outcome: PassResult['outcome'];
  report: PassReport;
  skipped: Awaited<ReturnType<typeof skippedCommits>>;
  /** Git was made the state: nothing waits for an approval, and the binding does not only observe. */
  isApplied: boolean;
  manifestPolicy: Binding['manifestPolicy'];
  completed: ReturnType<typeof findCompletedOverrides>;
  /** Nothing is left to do: the approved plan was carried out or belongs to an earlier state. */
  isApprovalUsed: boolean;
  moved: { kind: string; from: string; name: string }[];
  /** The job is kept: something changed, or somebody asked for the pass. */
  isNoted: boolean;
}

/** Conditions, import errors, the job and its report, in one transaction. What did not change is not written. */
export async function record(
  options: PassOptions,
  queue: JobQueue,
  done: Done,
  memory: PassMemory,
): Promise<PassResult> {
  const { observed, plan, acted } = done;
  const summary = await summarize(options, queue, done);
  await options.ctx.db.transaction((tx) => store(tx, options, queue, done, summary));
  const { writes, removals, completed, moved, isApprovalUsed, problems, outcome, report } = summary;
  memory.recorded(writes, removals);
  if (completed.length > 0 || moved.length > 0 || isApprovalUsed || plan.approval !== null) memory.forget();
  const nothingLeft = problems.length === 0 && acted.counts.refused + acted.counts.waiting === 0;
  memory.settled = nothingLeft ? observed.desired : null;
  const requeue = !isDeepStrictEqual(summary.manifestPolicy, options.binding.manifestPolicy);
  return { outcome, commit: observed.commit, counts: acted.counts, report, error: null, requeue };
}

async function summarize(options: PassOptions, queue: JobQueue, done: Done): Promise<Summary> {
  const { binding } = options;
  const { observed, plan, verdict, acted } = done;
  const { commit, desired } = observed;
  const attributed = problemsOfTree(observed, plan);
  const refused = groupByIdentity(attributed);
  acted.counts.refused += refused.length + attributed.filter((problem) => !problem.name).length;
  acted.entries.push(
    ...attributed.map(
      (problem): ReportEntry => ({
        ...{ type: 'problem', problem },
        lastGood: lastGoodOf(problem, observed.inventory),
      }),
    ),
  );
  const problems = [...attributed, ...acted.problems];
  const worked = plan.changes.some((change) => acted.outcomes.get(change)?.type === 'applied');
  const skipped = await skippedCommits(options, commit);
  const isApplied = binding.mode === 'sync' && verdict.guarded === null;
  const isChanged =
    worked ||
    commit.sha !== binding.headCommit?.sha ||
    binding.lastError !== null ||
    verdict.waiting?.hash !== binding.waitingPlan?.hash;
  return {
    ...manifestWrites(options, observed, plan, acted, refused),
    problems,
    outcome: outcomeOf(options, done, { worked, hasProblems: problems.length > 0 }),
    report: {
      ...{ type: 'pass', environment: binding.environmentName, commit, counts: acted.counts },
      entries: [...verdict.entries, ...acted.entries],
      skippedCommits: skipped?.count ?? 0,
    },
    skipped,
    isApplied,
    manifestPolicy: isApplied ? manifestPolicyOf(binding, desired) : binding.manifestPolicy,
    completed: isApplied ? findCompletedOverrides(observed, plan, acted) : [],
    isApprovalUsed:
      isApplied &&
      observed.operatorInput.approved.size > 0 &&
      (worked || (plan.empty && verdict.waiting === null)),
    moved: movedHolds(done),
    isNoted: isChanged || queue.pending.length > 0,
  };
}

function problemsOfTree({ desired, inventory }: Observed, plan: Plan): Problem[] {
  // A path whose deletion the commit allows is no fault.
  if (!desired.pathExists && plan.changes.some((change) => change.action === 'prune')) return [];
  return desired.problems.map((problem) => attribute(problem, inventory, desired.manifests));
}

function outcomeOf(
  { binding }: PassOptions,
  { plan, verdict, acted }: Done,
  { worked, hasProblems }: { worked: boolean; hasProblems: boolean },
): PassResult['outcome'] {
  if (verdict.guarded !== null) return 'guarded';
  if (hasProblems || acted.counts.refused > 0) return 'partial';
  if (binding.mode !== 'sync' && !plan.empty) return 'observed';
  return worked ? 'applied' : 'unchanged';
}

/** Holds of objects that were renamed, which follow the new name. */
const movedHolds = ({ observed, plan, acted }: Done): Summary['moved'] =>
  (observed.operatorInput.holds.size === 0 ? [] : plan.changes).flatMap((change) =>
    change.action === 'update' && change.renamedFrom !== null && acted.applied.has(change)
      ? [{ kind: change.manifest.kind, from: change.previous.nameKey, name: change.manifest.name }]
      : [],
  );

async function store(
  tx: Knex.Transaction,
  options: PassOptions,
  queue: JobQueue,
  { observed, plan, verdict, acted }: Done,
  { writes, removals, problems, isApplied, isNoted, ...summary }: Summary,
): Promise<void> {
  const { ctx, binding } = options;
  const { commit } = observed;
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
      ? {
          appliedCommit: commit,
          manifestPolicy: summary.manifestPolicy,
          rewrittenCommit: observed.descends ? null : commit.sha,
        }
      : {}),
    ...(verdict.begins ? { begunAt: queue.startedAt } : {}),
    waitingPlan: verdict.waiting,
    lastError: null,
  });
  await deleteOverrides(tx, binding.id, summary.completed);
  await renameHolds(tx, binding.id, summary.moved);
  if (summary.isApprovalUsed) await dropApprovals(tx, binding.id);
  else if (plan.approval !== null) await beginApproved(tx, binding.id, null);
  const drifts = driftAuditEntries(observed, plan, acted);
  if (drifts.length > 0) {
    const inside = { ...ctx, db: tx, actor: gitActor(options, commit) };
    const scope = { teamId: binding.teamId, environmentId: binding.environmentId };
    await writeAudit(inside, scope, drifts, 'gitSync.driftFound');
  }
  if (isNoted) {
    await finishJobs(tx, binding.id, {
      status: 'completed',
      outcome: summary.outcome,
      trigger: options.trigger,
      commit,
      counts: acted.counts,
      report: renderReport(summary.report),
      error: null,
      planHash: plan.empty && !verdict.waiting ? null : plan.hash,
      queue,
      skipped: summary.skipped,
    });
  }
  if (isNoted || writes.length > 0) {
    await ctx.services.bus.publish(tx, {
      type: 'ui',
      environmentId: binding.environmentId,
      topics: ['git', 'pipelines'],
    });
  }
}
