/** The guards: a plan that exceeds one is not applied until an ADMIN has approved exactly that plan. Pure. */
import type { GuardResult } from '../../../schemas/api/delivery/git-plan.ts';
import type { GitPolicy } from '../../../schemas/api/delivery/git-policy.ts';
import { allowedDeletes, type Plan } from './plan.ts';

/** The facts that the guards are evaluated on. */
export interface GuardFacts {
  /** Live objects that git owns here, before the plan. */
  ownedObjects: number;
  /** Nodes of the environment; null where no guard needs them, so they were not counted. */
  nodes: number | null;
  /** Nodes on which the plan restarts or stops an engine. */
  disturbedNodes: number | null;
  /** Nothing of this binding has been applied, and the environment held objects before it. */
  firstPlan: boolean;
  /** The commit does not descend from the one that was applied last. */
  rewritten: boolean;
}

export type Guards = Pick<GitPolicy, 'maxDeletes' | 'maxDeletePercent' | 'maxNodeRestartPercent'>;

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
const percentOf = (part: number, whole: number) =>
  whole === 0 ? 0 : Math.round((part / whole) * 1_000) / 10;

/** Every guard that is set, exceeded or not, and every hold on the plan. */
export function evaluateGuards(
  plan: Plan,
  facts: GuardFacts,
  policy: Guards,
  commitMessage: string,
): GuardResult[] {
  const deletes = plan.changes.filter(({ action }) => action === 'prune').length;
  const allowed = allowedDeletes(commitMessage);
  const isAllowed = deletes > 0 && allowed >= deletes && !facts.rewritten;
  const trailer = isAllowed ? `; the commit allows ${allowed}` : '';
  const results: GuardResult[] = [];
  const measure = (
    guard: GuardResult['guard'],
    limit: number | null,
    value: number | null,
    what: (limit: number) => string,
    lifted: boolean,
  ) => {
    if (limit === null || value === null) return;
    const exceeded = value > limit && !lifted;
    results.push({ guard, limit, value, exceeded, message: `${what(limit)}${lifted ? trailer : ''}` });
  };
  measure(
    'maxDeletes',
    policy.maxDeletes,
    deletes,
    (limit) => `deletes ${plural(deletes, 'object')}, and ${limit} may go in one pass`,
    isAllowed,
  );
  const share = percentOf(deletes, facts.ownedObjects);
  measure(
    'maxDeletePercent',
    policy.maxDeletePercent,
    share,
    (limit) =>
      `deletes ${share} % of the ${plural(facts.ownedObjects, 'object')} that git owns here, and ${limit} % may go in one pass`,
    isAllowed,
  );
  const disturbed =
    facts.disturbedNodes === null || facts.nodes === null
      ? null
      : percentOf(facts.disturbedNodes, facts.nodes);
  measure(
    'maxNodeRestartPercent',
    policy.maxNodeRestartPercent,
    disturbed,
    (limit) =>
      `restarts or stops engines on ${disturbed} % of the ${plural(facts.nodes ?? 0, 'node')}, and ${limit} % may be touched in one pass`,
    false,
  );
  const hold = (guard: GuardResult['guard'], value: number | null, message: string) =>
    results.push({ guard, limit: null, value, exceeded: true, message });
  if (facts.firstPlan && !plan.empty)
    hold(
      'firstPlan',
      null,
      'is the first one of this binding, and the environment holds objects already: look at what it would do to them',
    );
  const countRetained = (reason: string) =>
    plan.changes.filter((change) => change.action === 'keep' && change.reason === reason).length;
  const rewritten = countRetained('rewritten-history');
  if (rewritten > 0)
    hold(
      'rewrittenHistory',
      rewritten,
      `would delete ${plural(rewritten, 'object')} after a rewritten history: each waits for an ADMIN, or for the next commit on top`,
    );
  if (plan.awaiting !== null) {
    const count = countRetained(plan.awaiting);
    hold(
      plan.awaiting === 'missing-path' ? 'missingPath' : 'emptyPath',
      count,
      plan.awaiting === 'missing-path'
        ? `would delete ${plural(count, 'object')}: the path of the binding is not in this commit`
        : `would delete ${plural(count, 'object')}: no manifest is left`,
    );
  }
  return results;
}

/** Guards that stop the whole plan. The others hold back only the objects that they name. */
const WHOLE_PLAN: ReadonlySet<GuardResult['guard']> = new Set([
  'maxDeletes',
  'maxDeletePercent',
  'maxNodeRestartPercent',
  'firstPlan',
]);

export const stopsPlan = ({ guard, exceeded }: GuardResult): boolean => exceeded && WHOLE_PLAN.has(guard);

/** Whether an approval of the plan's hash lifts it. A rewritten history needs a later commit, or an override for each object. */
export const isLiftedByApproval = ({ guard, exceeded }: GuardResult): boolean =>
  exceeded && guard !== 'rewrittenHistory';
