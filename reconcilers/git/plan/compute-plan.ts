/** The steps of a pass before it acts: observe desired and actual state, plan, evaluate the guards. Nothing here writes an object. */
import { type Binding, policiesOf } from '../../../controller/delivery/bindings/index.ts';
import { listOrdered, listUiDependencies } from '../../../controller/pipelines/order/index.ts';
import type { GuardResult } from '../../../schemas/api/delivery/git-plan.ts';
import type { CheckResult } from '../../kinds/index.ts';
import { descends, readCommit, readDesired, resolveFullRef } from '../../source/index.ts';
import type { Observed, PassOptions } from '../pass-types.ts';
import { readWithoutNotes } from '../read/pass-memory.ts';
import { affectedNodes, disturbedNodes } from './affected-nodes.ts';
import { listLiveNames } from './blocked-manifests.ts';
import { focusOf, listReferenceCandidates } from './changed-manifests.ts';
import { checkAll, ENGINE_CHECKS } from './check-changes.ts';
import { hasDependencies, type ObservedOrder } from './dependency-cycles.ts';
import { allowedDeletes, applies, type Change, makePlan, type Plan } from './plan.ts';
import { evaluateGuards } from './plan-guards.ts';
import { isPolicy } from './policy-manifests.ts';
import { danglingReferences } from './references.ts';

export interface ComputeOptions
  extends Pick<PassOptions, 'ctx' | 'binding' | 'repository' | 'cache' | 'signal' | 'memory'> {
  /** The commit to plan for; by default the head of the binding's branch. */
  commit?: string;
  /** Whether the commit counts as one on top of the applied commit; by default git decides. */
  descends?: boolean;
  /** False leaves `checks` empty. */
  check?: boolean;
}

export interface Computed {
  observed: Observed;
  plan: Plan;
  /** Every guard that is set, exceeded or not, and every hold on the plan. */
  guards: GuardResult[];
  /** For the changes that would be applied. */
  checks: ReadonlyMap<Change, CheckResult>;
}

/** The message is shown to users as it is. */
export class SourceProblem extends Error {}

/**
 * Applies and records nothing.
 * @throws SourceProblem, GitRepositoryError where git cannot be read: an unknown plan is not an empty one.
 */
export async function computePlan(options: ComputeOptions): Promise<Computed> {
  const observed = await observe(options);
  const plan = planOf(observed);
  const guards = await guardsOf(options, observed, plan);
  const due = plan.changes.filter(applies);
  const checks =
    options.check === false
      ? new Map()
      : await checkAll(options, { ...observed, ...plan }, due, due.length <= ENGINE_CHECKS);
  return { observed, plan, guards, checks };
}

export async function observe(options: ComputeOptions): Promise<Observed> {
  const { ctx, binding, repository, cache, memory } = options;
  const found = options.commit === undefined ? await resolveFullRef(repository, binding.ref) : null;
  const head = options.commit ?? found?.sha;
  if (head === undefined) throw new SourceProblem(missingRef(binding));
  const [commit, desired, { inventory, secrets, operatorInput, ui }] = await Promise.all([
    readCommit(repository, head),
    readDesired(repository, head, { path: binding.path, sharedPaths: binding.sharedPaths }, cache),
    memory ? memory.read(ctx, binding) : readWithoutNotes(ctx.db, binding),
  ]);
  const applied = binding.appliedCommit?.sha ?? null;
  const follows =
    options.descends ??
    (applied === null ||
      // A second pass over the commit that rewrote history does not follow it.
      (applied === head ? binding.rewrittenCommit !== head : await descends(repository, head, applied)));
  const settled = memory?.settled ?? null;
  const policy = policiesOf(binding).effective;
  const candidates = settled === desired ? [] : [...listReferenceCandidates(desired, settled)];
  const { environmentId } = binding;
  const dangling = await danglingReferences(ctx, environmentId, desired, candidates, new Set(policy.owns));
  // Only a new dependency can close a cycle, which may lead through unchanged manifests.
  const order = candidates.some(hasDependencies) ? await readOrder(ctx.db, environmentId) : null;
  // The conditions of a policy manifest depend on the binding and on other policy manifests.
  const more = [...dangling.keys(), ...desired.manifests.filter(isPolicy)];
  const focus = order === null ? focusOf(desired, settled, inventory, more) : null;
  return {
    ...{
      commit,
      desired,
      inventory,
      secrets,
      operatorInput,
      ui,
      policy,
      descends: follows,
      focus,
      dangling,
      order,
    },
    refName: found?.name ?? null,
  };
}

export function missingRef({ ref, resolvedRef }: Binding): string {
  const short = ref.replace(/^refs\/(?:heads|tags)\//, '');
  const advice = 'or bind the environment to another one. Everything runs on as it was';
  if (ref.startsWith('refs/tags/') || resolvedRef === `refs/tags/${short}`)
    return `the tag "${short}" does not exist in the repository any more; push it again, ${advice}`;
  if (ref.startsWith('refs/heads/') || resolvedRef === `refs/heads/${short}`)
    return `the branch "${short}" does not exist in the repository; push it, ${advice}`;
  return `no branch or tag "${short}" exists in the repository; push it, ${advice}`;
}

const readOrder = async (db: ComputeOptions['ctx']['db'], environmentId: string): Promise<ObservedOrder> => ({
  pipelines: await listOrdered(db, environmentId),
  stored: await listUiDependencies(db, environmentId),
});

export const planOf = (observed: Observed): Plan =>
  makePlan({
    desired: observed.desired,
    ...(observed.focus ?? { recorded: [...observed.inventory.values()] }),
    descends: observed.descends,
    allowedDeletes: allowedDeletes(observed.commit.message),
    policy: observed.policy,
    operatorInput: observed.operatorInput,
    ui: observed.ui,
    dangling: observed.dangling,
    order: observed.order,
    liveNames: () => listLiveNames({ ui: observed.ui, recorded: observed.inventory.values() }),
  });

export async function guardsOf(
  { ctx, binding }: Pick<ComputeOptions, 'ctx' | 'binding'>,
  { inventory, ui, policy, descends, commit }: Observed,
  plan: Plan,
): Promise<GuardResult[]> {
  const live = [...inventory.values()].filter(({ objectName }) => objectName !== null);
  const isLimited = policy.maxNodeRestartPercent !== null && !plan.empty;
  const affected = isLimited ? await affectedNodes(ctx, binding.environmentId, plan) : null;
  const owns = new Set<string>(policy.owns);
  // Objects that a killed first pass has created without recording them do not count.
  const existing = [...ui, ...live.filter(({ appliedCommit }) => appliedCommit !== null)];
  return evaluateGuards(
    plan,
    {
      ownedObjects: live.length,
      nodes: affected?.nodes ?? null,
      disturbedNodes: affected && disturbedNodes(affected).size,
      firstPlan: binding.begunAt === null && existing.some(({ kind }) => owns.has(kind)),
      rewritten: !descends,
    },
    policy,
    commit.message,
  );
}
