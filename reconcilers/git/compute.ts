/** What git wants, what is, and the difference: everything of a pass that comes before it acts. Nothing here writes an object. */

import { policiesOf } from '../../controller/git-sync/index.ts';
import type { GuardResult } from '../../schemas/api/git-plan.ts';
import type { CheckResult } from '../kinds/index.ts';
import { descends, readCommit, readDesired, resolveRef } from '../source/index.ts';
import { checkAll, ENGINE_CHECKS } from './checking.ts';
import { focusOf, mayDangle } from './focus.ts';
import { evaluateGuards } from './guards.ts';
import { readAsItIs } from './memory.ts';
import { allowedDeletes, applies, type Change, makePlan, type Plan } from './plan.ts';
import { isPolicy } from './policies.ts';
import { danglingReferences } from './references.ts';
import { namesThere } from './refusals.ts';
import type { Looked, PassOptions } from './steps.ts';
import { disturbedNodes, touchedNodes } from './touched.ts';

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
  looked: Looked;
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
  const looked = await look(options);
  const plan = planOf(looked);
  const guards = await guardsOf(options, looked, plan);
  const due = plan.changes.filter(applies);
  const checks =
    options.check === false ? new Map() : await checkAll(options, looked, due, due.length <= ENGINE_CHECKS);
  return { looked, plan, guards, checks };
}

export async function look(options: ComputeOptions): Promise<Looked> {
  const { ctx, binding, repository, cache, memory } = options;
  const head = options.commit ?? (await resolveRef(repository, binding.ref));
  if (head === null) {
    throw new SourceProblem(
      `the branch "${binding.ref}" does not exist in the repository; push it, or bind the environment to another one. Everything runs on as it was`,
    );
  }
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
  const dangling =
    settled === desired
      ? new Map()
      : await danglingReferences(
          ctx,
          binding.environmentId,
          desired,
          mayDangle(desired, settled),
          new Set(policy.owns),
        );
  // What one of them says of itself depends on the binding and on the others.
  const more = [...dangling.keys(), ...desired.manifests.filter(isPolicy)];
  const focus = focusOf(desired, settled, inventory, more);
  return { commit, desired, inventory, secrets, said, ui, policy, descends: follows, focus, dangling };
}

export const planOf = (looked: Looked): Plan =>
  makePlan({
    desired: looked.desired,
    ...(looked.focus ?? { recorded: [...looked.inventory.values()] }),
    descends: looked.descends,
    allowedDeletes: allowedDeletes(looked.commit.message),
    policy: looked.policy,
    said: looked.said,
    ui: looked.ui,
    dangling: looked.dangling,
    there: () => namesThere({ ui: looked.ui, recorded: looked.inventory.values() }),
  });

export async function guardsOf(
  { ctx, binding }: Pick<ComputeOptions, 'ctx' | 'binding'>,
  { inventory, ui, policy, descends, commit }: Looked,
  plan: Plan,
): Promise<GuardResult[]> {
  const living = [...inventory.values()].filter(({ objectName }) => objectName !== null);
  const asked = policy.maxNodeRestartPercent !== null && !plan.empty;
  const touched = asked ? await touchedNodes(ctx, binding.environmentId, plan) : null;
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
