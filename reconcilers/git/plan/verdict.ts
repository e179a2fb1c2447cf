/** Decides whether a plan may be applied, and if not, what it waits for. */
import type { Binding, WaitingPlan } from '../../../controller/delivery/bindings/index.ts';
import type { GuardResult } from '../../../schemas/api/delivery/git-plan.ts';
import type { ReportEntry } from '../pass-report.ts';
import type { Observed } from '../pass-types.ts';
import type { Plan } from './plan.ts';
import { isLiftedByApproval, stopsPlan } from './plan-guards.ts';
import { actionsOf } from './plan-hash.ts';

export interface Verdict {
  /** What the plan does that needs an approval; null where it may be applied. */
  guarded: string | null;
  /** The plan that needs an approval, as a whole or for what it holds back. */
  waiting: (Omit<WaitingPlan, 'since'> & { actions: string[] }) | null;
  /** This is the first pass that applies the binding. */
  begins: boolean;
  entries: ReportEntry[];
}

/** Guards that a trailer in the commit message can lift. */
const DELETE_GUARDS: ReadonlySet<GuardResult['guard']> = new Set(['maxDeletes', 'maxDeletePercent']);

export function verdictOf(
  binding: Pick<Binding, 'mode' | 'begunAt'>,
  { desired }: Pick<Observed, 'desired'>,
  plan: Plan,
  guards: readonly GuardResult[],
): Verdict {
  if (binding.mode !== 'sync') return { guarded: null, waiting: null, begins: false, entries: [] };
  const stopping = plan.approval === null ? guards.filter(stopsPlan) : [];
  const guarded = stopping.length === 0 ? null : stopping.map(({ message }) => message).join('; it ');
  const waits = guarded !== null || plan.awaiting !== null;
  const exceeded = guards.filter(isLiftedByApproval);
  // An incomplete tree does not show the whole desired state.
  const isKnown = desired.complete && desired.problems.length === 0;
  const first = binding.begunAt === null;
  return {
    guarded,
    waiting: waits ? { hash: plan.hash, guards: exceeded, actions: actionsOf(plan.whole) } : null,
    begins: first && guarded === null && (!plan.empty || isKnown),
    entries: guarded === null ? [] : [guardEntry(plan, stopping)],
  };
}

function guardEntry(plan: Plan, stopping: readonly GuardResult[]): ReportEntry {
  const deletes = plan.changes.filter(({ action }) => action === 'prune').length;
  return {
    type: 'guarded',
    messages: stopping.map(({ message }) => message),
    planHash: plan.hash,
    deletes: stopping.every(({ guard }) => DELETE_GUARDS.has(guard)) ? deletes : null,
  };
}
