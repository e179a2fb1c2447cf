/** What git wants, what is, and the difference: everything of a pass that comes before it acts. Nothing here writes an object. */

import { type Binding, policiesOf } from '../../../controller/delivery/bindings/index.ts';
import { listOrdered, listStored } from '../../../controller/pipelines/order/index.ts';
import type { GuardResult } from '../../../schemas/api/git-plan.ts';
import type { CheckResult } from '../../kinds/index.ts';
import { descends, readCommit, readDesired, resolveFullRef } from '../../source/index.ts';
import type { Observed, PassOptions } from '../pass-types.ts';
import { readAsItIs } from '../read/pass-memory.ts';
import { affectedNodes, disturbedNodes } from './affected-nodes.ts';
import { listLiveNames } from './blocked-manifests.ts';
import { focusOf, mayDangle } from './changed-manifests.ts';
import { checkAll, ENGINE_CHECKS } from './check-changes.ts';
import { hasDependencies, type ObservedOrder } from './dependency-cycles.ts';
import { evaluateGuards } from './guards.ts';
import { allowedDeletes, applies, type Change, makePlan, type Plan } from './plan.ts';
import { isPolicy } from './policy-manifests.ts';
import { danglingReferences } from './references.ts';

export interface ComputeOptions
  extends Pick<PassOptions, 'ctx' | 'binding' | 'repository' | 'cache' | 'signal' | 'memory'> {
  /** The commit to plan for; without it the one that the binding's branch stands at. */
  commit?: string;
  /** Said by whoever knows that the commit stands for one on top of what was applied; else git is asked. */
  descends?: boolean;
  /** False: nothing is checked, and `checks` is empty. */
  check?: boolean;
}

export interface Computed {
  looked: Observed;
  plan: Plan;
  /** Those that are set, exceeded or not, and the holds that the plan is under. */
  guards: GuardResult[];
  /** Of what would be applied. */
  checks: ReadonlyMap<Change, CheckResult>;
}

/** A message for people that is shown as it is. */
export class SourceProblem extends Error {}

/**
 * Applies and records nothing.
 * @throws SourceProblem, GitRepositoryError where git cannot be read: then nothing is known, which is not "nothing to do".
 */
export async function computePlan(options: ComputeOptions): Promise<Computed> {
  const looked = await observe(options);
  const plan = planOf(looked);
  const guards = await guardsOf(options, looked, plan);
  const due = plan.changes.filter(applies);
  const checks =
    options.check === false
      ? new Map()
      : await checkAll(options, { ...looked, ...plan }, due, due.length <= ENGINE_CHECKS);
  return { looked, plan, guards, checks };
}

export async function observe(options: ComputeOptions): Promise<Observed> {
  const { ctx, binding, repository, cache, memory } = options;
  const found = options.commit === undefined ? await resolveFullRef(repository, binding.ref) : null;
  const head = options.commit ?? found?.sha;
  if (head === undefined) throw new SourceProblem(missingRef(binding));
  const [commit, desired, { inventory, secrets, said, ui }] = await Promise.all([
    readCommit(repository, head),
    readDesired(repository, head, { path: binding.path, sharedPaths: binding.sharedPaths }, cache),
    memory ? memory.read(ctx, binding) : readAsItIs(ctx.db, binding),
  ]);
  const applied = binding.appliedCommit?.sha ?? null;
  const follows =
    options.descends ??
    (applied === null ||
      // Looking again at the commit that rewrote history is no commit on top of it.
      (applied === head ? binding.rewrittenCommit !== head : await descends(repository, head, applied)));
  const settled = memory?.settled ?? null;
  const policy = policiesOf(binding).effective;
  const candidates = settled === desired ? [] : [...mayDangle(desired, settled)];
  const { environmentId } = binding;
  const dangling = await danglingReferences(ctx, environmentId, desired, candidates, new Set(policy.owns));
  // A circle comes up with a dependency that is new. It may lead through manifests that nobody has changed.
  const order = candidates.some(hasDependencies) ? await readOrder(ctx.db, environmentId) : null;
  // What one of them says of itself depends on the binding and on the others.
  const more = [...dangling.keys(), ...desired.manifests.filter(isPolicy)];
  const focus = order === null ? focusOf(desired, settled, inventory, more) : null;
  return {
    ...{ commit, desired, inventory, secrets, said, ui, policy, descends: follows, focus, dangling, order },
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
  stored: await listStored(db, environmentId),
});

export const planOf = (looked: Observed): Plan =>
  makePlan({
    desired: looked.desired,
    ...(looked.focus ?? { recorded: [...looked.inventory.values()] }),
    descends: looked.descends,
    allowedDeletes: allowedDeletes(looked.commit.message),
    policy: looked.policy,
    said: looked.said,
    ui: looked.ui,
    dangling: looked.dangling,
    order: looked.order,
    there: () => listLiveNames({ ui: looked.ui, recorded: looked.inventory.values() }),
  });

export async function guardsOf(
  { ctx, binding }: Pick<ComputeOptions, 'ctx' | 'binding'>,
  { inventory, ui, policy, descends, commit }: Observed,
  plan: Plan,
): Promise<GuardResult[]> {
  const living = [...inventory.values()].filter(({ objectName }) => objectName !== null);
  const asked = policy.maxNodeRestartPercent !== null && !plan.empty;
  const touched = asked ? await affectedNodes(ctx, binding.environmentId, plan) : null;
  const owns = new Set<string>(policy.owns);
  // What a first pass has made that did not live to record it is no reason to wait.
  const standing = [...ui, ...living.filter(({ appliedCommit }) => appliedCommit !== null)];
  return evaluateGuards(
    plan,
    {
      ownedObjects: living.length,
      nodes: touched?.nodes ?? null,
      disturbedNodes: touched && disturbedNodes(touched).size,
      firstPlan: binding.begunAt === null && standing.some(({ kind }) => owns.has(kind)),
      rewritten: !descends,
    },
    policy,
    commit.message,
  );
}
