/** The document of a plan, for users and programs. */
import type { Binding } from '../../controller/delivery/bindings/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import type { GitPlan, GuardResult, PlannedChange } from '../../schemas/api/delivery/git-plan.ts';
import type { ManifestKind } from '../../schemas/manifests/index.ts';
import { type AffectedNodes, affectedNodes } from '../git/plan/affected-nodes.ts';
import type { Computed } from '../git/plan/compute-plan.ts';
import { type Applying, type Change, objectIdOf } from '../git/plan/plan.ts';
import { stopsPlan } from '../git/plan/plan-guards.ts';
import { identityOf } from '../git/read/identity.ts';
import { KINDS } from '../kinds/index.ts';
import type { Before } from './base-state.ts';
import { blank, presentAffectedNodes, presentApplied } from './change-view.ts';
import { classifyChanges } from './classify-changes.ts';
import { fleetFindings } from './fleet-impact.ts';
import { missingSecrets } from './missing-secrets.ts';
import { previewRules } from './rule-previews.ts';

const MAX_CHANGES = 500;
const MAX_FINDINGS = 500;

export interface ViewOptions {
  ctx: Context;
  binding: Binding;
  computed: Computed;
  /** How long what alert rules would have done is looked for. */
  previewMs: number;
  ref: string | null;
  /** False where the commit is not in the repository. */
  ofRepository: boolean;
  before(changes: readonly Applying[]): Promise<ReadonlyMap<Change, Before>>;
  /** Changes of the policy. */
  policies: readonly PlannedChange[];
  approvalOf(hash: string): Promise<GitPlan['approval']>;
}

export async function viewOf(options: ViewOptions): Promise<GitPlan> {
  const { ctx, binding, computed, ref } = options;
  const { observed, plan, guards } = computed;
  const { commit } = observed;
  const classified = classifyChanges(computed);
  const { ready } = classified;
  const affected = await affectedNodes(ctx, binding.environmentId, {
    ...plan,
    changes: [...ready, ...classified.deletes],
  });
  const before = await options.before(ready);
  const previews = await previewRules(options, ready);
  // What most nodes run: during a rollout, the version before it.
  const configOf = new Map(
    affected.before.flatMap(({ key, config, staged }) => {
      const runs = staged ? staged.control?.config : config;
      return runs === undefined ? [] : [[key, withoutLevel(runs)] as const];
    }),
  );
  const moved = presentAffectedNodes([affected.moved], affected.hostOf);
  const groups = [...ready, ...classified.deletes].filter((change) => kindOf(change) === 'NodeGroup');
  const nodesOf = (change: Change) => {
    // Effects through labels belong to the one group that changes; among several groups the cause is unknown.
    if (kindOf(change) === 'NodeGroup') return groups.length === 1 ? moved : null;
    if (kindOf(change) !== 'Pipeline') return null;
    const effect = affected.byChange.get(change);
    return presentAffectedNodes(effect ? [effect] : [], affected.hostOf);
  };
  const changes: PlannedChange[] = [
    ...ready.map((change) =>
      presentApplied(change, {
        before: before.get(change),
        runsNow: configOf.get(objectIdOf(change) ?? '') ?? null,
        check: computed.checks.get(change),
        nodes: nodesOf(change),
        stages: affected.stages.get(change) ?? null,
        preview: previews.get(change) ?? null,
      }),
    ),
    ...classified.deletes.flatMap((change) =>
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
    ...classified.refused,
    ...classified.others,
  ];
  if (groups.length > 1 && moved.count > 0) {
    const note = `the changes of node groups together touch ${moved.count} node${moved.count === 1 ? '' : 's'} through labels`;
    for (const change of changes) if (change.kind === 'NodeGroup') change.notes.push(note);
  }
  changes.sort(inOrder);
  const listed = withinBudget(changes.slice(0, MAX_CHANGES));
  const counts = countsOf(changes, classified.unchanged);
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
    changes: listed,
    changesTotal: changes.length,
    findings: classified.findings.slice(0, MAX_FINDINGS),
    guards,
    fleet: [...missingSecrets(computed), ...fleetFindings(await fleetStateOf(ctx, affected))],
    nodes: presentAffectedNodes([...affected.byChange.values(), affected.moved], affected.hostOf),
    approval,
    plannedAt: new Date(ctx.clock.now()),
  };
}

const kindOf = (change: Change): string =>
  'manifest' in change ? change.manifest.kind : change.previous.kind;
const withoutLevel = (config: string): string => config.slice(config.indexOf('\n') + 1);
const lineOf = ({ observed }: Computed, previous: { kind: string; nameKey: string }): number =>
  observed.inventory.get(identityOf(previous))?.line ?? 1;

/** First changes that are carried out, then refused ones, then the others; each group in the order of applying. */
function inOrder(a: PlannedChange, b: PlannedChange): number {
  const group = ({ action }: PlannedChange) => (action === 'keep' ? 2 : action === 'refuse' ? 1 : 0);
  const order = ({ kind }: PlannedChange) => KINDS.get(kind as ManifestKind)?.order ?? 99;
  const [left, right] = [a.name.toLowerCase(), b.name.toLowerCase()];
  return group(a) - group(b) || order(a) - order(b) || (left < right ? -1 : left > right ? 1 : 0);
}

/** Characters of fields and configs, so that a browser can hold the answer. */
const MAX_TEXT = 4 * 1024 * 1024;
const MAX_TEXT_OF_CHANGE = 256 * 1024;

function withinBudget(changes: readonly PlannedChange[]): PlannedChange[] {
  let left = MAX_TEXT;
  return changes.map((change) => {
    const { engineDiff, fields } = change;
    const size =
      (engineDiff?.length ?? 0) +
      fields.reduce((sum, { before, after }) => sum + (before?.length ?? 0) + (after?.length ?? 0), 0);
    if (size <= Math.min(left, MAX_TEXT_OF_CHANGE)) {
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
  { plan, observed }: Computed,
  counts: GitPlan['counts'],
  { approved, guards, policies }: { approved: boolean; guards: readonly GuardResult[]; policies: number },
): GitPlan['state'] {
  if (binding.mode !== 'sync' || binding.suspendedAt !== null) return 'not-applied';
  if (guards.some(stopsPlan) || plan.awaiting !== null) return approved ? 'approved' : 'waiting';
  if (counts.refuse > 0 || observed.desired.problems.length > 0) return 'partial';
  return plan.empty && policies === 0 ? 'empty' : 'ready';
}

async function fleetStateOf({ services }: Context, { after, nodesAfter }: AffectedNodes) {
  const catalogue = await services.engine.catalogue().catch(() => null);
  return { pipelines: after, nodes: nodesAfter, catalogue };
}
