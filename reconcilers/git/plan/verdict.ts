/** Whether a plan may be applied, and if not, for what it waits. */
import type { Binding, WaitingPlan } from '../../../controller/delivery/bindings/index.ts';
import type { GuardResult } from '../../../schemas/api/git-plan.ts';
import type { Line } from '../pass-report.ts';
import type { Observed } from '../pass-types.ts';
import { isLiftedByApproval, stopsPlan } from './guards.ts';
import type { Plan } from './plan.ts';
import { actionsOf } from './plan-hash.ts';

export interface Verdict {
  /** What the plan does that nobody has approved; null where it may be applied. */
  guarded: string | null;
  /** The plan that somebody has to approve before it, or what it holds back, is applied. */
  waiting: (Omit<WaitingPlan, 'since'> & { deeds: string[] }) | null;
  /** From now on git is followed here. */
  begins: boolean;
  /** For the report. */
  lines: Line[];
}

const DELETE_GUARDS: ReadonlySet<GuardResult['guard']> = new Set(['maxDeletes', 'maxDeletePercent']);

export function verdictOf(
  binding: Pick<Binding, 'mode' | 'begunAt'>,
  { desired }: Pick<Observed, 'desired'>,
  plan: Plan,
  guards: readonly GuardResult[],
): Verdict {
  if (binding.mode !== 'sync') return { guarded: null, waiting: null, begins: false, lines: [] };
  const stopping = plan.approval === null ? guards.filter(stopsPlan) : [];
  const guarded = stopping.length === 0 ? null : stopping.map(({ message }) => message).join('; it ');
  const waits = guarded !== null || plan.awaiting !== null;
  const exceeded = guards.filter(isLiftedByApproval);
  // A tree that could not be read to its end says nothing of what git wants.
  const isKnown = desired.complete && desired.problems.length === 0;
  const first = binding.begunAt === null;
  return {
    guarded,
    waiting: waits ? { hash: plan.hash, guards: exceeded, deeds: actionsOf(plan.whole) } : null,
    begins: first && guarded === null && (!plan.empty || isKnown),
    lines: guarded === null ? [] : [guardLine(plan, stopping)],
  };
}

function guardLine(plan: Plan, stopping: readonly GuardResult[]): Line {
  const deletes = plan.changes.filter(({ action }) => action === 'prune').length;
  const byTrailer = stopping.every(({ guard }) => DELETE_GUARDS.has(guard));
  return {
    type: 'guard',
    messages: stopping.map(({ message }) => message),
    advice: [
      `let an ADMIN approve the plan ${plan.hash.slice(0, 8)} on the git page of the environment${byTrailer ? ', or push a commit that ends with the line' : ''}`,
      ...(byTrailer ? [`Headgate-Allow-Delete: ${deletes}`] : []),
    ],
  };
}
