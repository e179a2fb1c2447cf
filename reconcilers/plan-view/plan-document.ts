/** A plan as people and programs see it. */
import type { Binding } from '../../controller/delivery/bindings/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import type { GitPlan, GuardResult, PlannedChange } from '../../schemas/api/git-plan.ts';
import type { ManifestKind } from '../../schemas/manifests/index.ts';
import { type AffectedNodes, affectedNodes } from '../git/plan/affected-nodes.ts';
import type { Computed } from '../git/plan/compute-plan.ts';
import { stopsPlan } from '../git/plan/guards.ts';
import { type Applying, type Change, objectIdOf } from '../git/plan/plan.ts';
import { identityOf } from '../git/read/identity.ts';
import { KINDS } from '../kinds/index.ts';
import type { Before } from './base-state.ts';
import { blank, ofApplying, presentAffectedNodes } from './change-view.ts';
import { classifyChanges } from './classify-changes.ts';
import { fleetFindings } from './fleet-impact.ts';
import { missingSecrets } from './missing-secrets.ts';

const MOST_CHANGES = 500;
const MOST_FINDINGS = 500;

export interface ViewOptions {
  ctx: Context;
  binding: Binding;
  computed: Computed;
  ref: string | null;
  /** False where the commit is none of the repository. */
  ofRepository: boolean;
  before(changes: readonly Applying[]): Promise<ReadonlyMap<Change, Before>>;
  /** Changes of what git may do. */
  policies: readonly PlannedChange[];
  approvalOf(hash: string): Promise<GitPlan['approval']>;
}

export async function viewOf(options: ViewOptions): Promise<GitPlan> {
  const { ctx, binding, computed, ref } = options;
  const { looked, plan, guards } = computed;
  const { commit } = looked;
  const judged = classifyChanges(computed);
  const { sound } = judged;
  const touched = await affectedNodes(ctx, binding.environmentId, {
    ...plan,
    changes: [...sound, ...judged.deletes],
  });
  const before = await options.before(sound);
  // What most nodes run: of a rollout that is under way, the version before it.
  const configOf = new Map(
    touched.before.flatMap(({ key, config, staged }) => {
      const runs = staged ? staged.control?.config : config;
      return runs === undefined ? [] : [[key, withoutLevel(runs)] as const];
    }),
  );
  const moved = presentAffectedNodes([touched.moved], touched.hostOf);
  const groups = [...sound, ...judged.deletes].filter((change) => kindOf(change) === 'NodeGroup');
  const nodesOf = (change: Change) => {
    // What labels move belongs to the one group that changes; of several nobody can say which.
    if (kindOf(change) === 'NodeGroup') return groups.length === 1 ? moved : null;
    if (kindOf(change) !== 'Pipeline') return null;
    const touch = touched.byChange.get(change);
    return touch ? presentAffectedNodes([touch], touched.hostOf) : presentAffectedNodes([], touched.hostOf);
  };
  const changes: PlannedChange[] = [
    ...sound.map((change) =>
      ofApplying(change, {
        before: before.get(change),
        runsNow: configOf.get(objectIdOf(change) ?? '') ?? null,
        check: computed.checks.get(change),
        nodes: nodesOf(change),
        stages: touched.stages.get(change) ?? null,
      }),
    ),
    ...judged.deletes.flatMap((change) =>
      change.action === 'prune'
        ? [
            {
              ...blank('delete', { ...change.previous, line: lineOf(computed, change.previous) }),
              objectId: change.previous.objectId,
              nodes: nodesOf(change),
            },
          ]
        : [],
    ),
    ...options.policies,
    ...judged.refused,
    ...judged.others,
  ];
  if (groups.length > 1 && moved.count > 0) {
    const note = `the changes of node groups together touch ${moved.count} node${moved.count === 1 ? '' : 's'} through labels`;
    for (const change of changes) if (change.kind === 'NodeGroup') change.notes.push(note);
  }
  changes.sort(inOrder);
  const shown = withinBudget(changes.slice(0, MOST_CHANGES));
  const counts = countsOf(changes, judged.unchanged);
  const approval = plan.approval === null ? null : await options.approvalOf(plan.approval);
  return {
    environmentId: binding.environmentId,
    environmentName: binding.environmentName,
    commit: options.ofRepository
      ? { sha: commit.sha, author: commit.author, subject: commit.subject, at: commit.at }
      : null,
    ref,
    hash: plan.hash,
    state: stateOf(binding, computed, counts, {
      approved: approval !== null,
      guards,
      policies: options.policies.length,
    }),
    counts,
    changes: shown,
    changesTotal: changes.length,
    findings: judged.findings.slice(0, MOST_FINDINGS),
    guards,
    fleet: [...missingSecrets(computed), ...fleetFindings(await fleetStateOf(ctx, touched))],
    nodes: presentAffectedNodes([...touched.byChange.values(), touched.moved], touched.hostOf),
    approval,
    plannedAt: new Date(ctx.clock.now()),
  };
}

const kindOf = (change: Change): string =>
  'manifest' in change ? change.manifest.kind : change.previous.kind;
const withoutLevel = (config: string): string => config.slice(config.indexOf('\n') + 1);
const lineOf = ({ looked }: Computed, previous: { kind: string; nameKey: string }): number =>
  looked.inventory.get(identityOf(previous))?.line ?? 1;

/** Those that are carried out, those that are refused, the others; within that as they are applied. */
function inOrder(a: PlannedChange, b: PlannedChange): number {
  const group = ({ action }: PlannedChange) => (action === 'keep' ? 2 : action === 'refuse' ? 1 : 0);
  const order = ({ kind }: PlannedChange) => KINDS.get(kind as ManifestKind)?.order ?? 99;
  const [left, right] = [a.name.toLowerCase(), b.name.toLowerCase()];
  return group(a) - group(b) || order(a) - order(b) || (left < right ? -1 : left > right ? 1 : 0);
}

/** Characters of fields and of configs: an answer stays one that a browser can hold. */
const MOST_TEXT = 4 * 1024 * 1024;
const MOST_OF_ONE = 256 * 1024;

function withinBudget(changes: readonly PlannedChange[]): PlannedChange[] {
  let left = MOST_TEXT;
  return changes.map((change) => {
    const { engineDiff, fields } = change;
    const size =
      (engineDiff?.length ?? 0) +
      fields.reduce((sum, { before, after }) => sum + (before?.length ?? 0) + (after?.length ?? 0), 0);
    if (size <= Math.min(left, MOST_OF_ONE)) {
      left -= size;
      return change;
    }
    const note = 'what changes in it is too much to be shown here';
    return { ...change, fields: [], engineDiff: null, notes: [...change.notes, note] };
  });
}

function countsOf(changes: readonly PlannedChange[], unchanged: number): GitPlan['counts'] {
  const counts = {
    create: 0,
    update: 0,
    delete: 0,
    adopt: 0,
    rename: 0,
    heal: 0,
    keep: 0,
    refuse: 0,
    unchanged,
  };
  for (const { action } of changes) counts[action] += 1;
  return counts;
}

function stateOf(
  binding: Binding,
  { plan, looked }: Computed,
  counts: GitPlan['counts'],
  { approved, guards, policies }: { approved: boolean; guards: readonly GuardResult[]; policies: number },
): GitPlan['state'] {
  if (binding.mode !== 'sync' || binding.suspendedAt !== null) return 'not-applied';
  if (guards.some(stopsPlan) || plan.awaiting !== null) return approved ? 'approved' : 'waiting';
  if (counts.refuse > 0 || looked.desired.problems.length > 0) return 'partial';
  return plan.empty && policies === 0 ? 'empty' : 'ready';
}

async function fleetStateOf({ services }: Context, { after, nodesAfter }: AffectedNodes) {
  const catalogue = await services.engine.catalogue().catch(() => null);
  return { pipelines: after, nodes: nodesAfter, catalogue };
}
