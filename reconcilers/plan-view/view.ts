/** A plan as people and programs see it. */
import type { Binding } from '../../controller/git-sync/index.ts';
import type { Context } from '../../controller/platform/context.ts';
import type { FleetFinding, GitPlan, GuardResult, PlannedChange } from '../../schemas/api/git-plan.ts';
import { type ManifestKind, nameKeyOf } from '../../schemas/manifests/index.ts';
import type { Computed } from '../git/compute.ts';
import { stopsPlan } from '../git/guards.ts';
import { identity, identityOf } from '../git/identity.ts';
import { attribute, groupByIdentity } from '../git/kept.ts';
import { conditionsOf, keptCondition, type ManifestOutcome } from '../git/outcome.ts';
import { type Applying, allowedDeletes, applies, type Change, objectIdOf } from '../git/plan.ts';
import { conflictText } from '../git/standing.ts';
import { type Touched, touchedNodes } from '../git/touched.ts';
import { KINDS } from '../kinds/index.ts';
import type { Problem } from '../source/index.ts';
import type { Before } from './before.ts';
import { blank, ofApplying, toFinding, touchedOf } from './changes.ts';
import { fleetFindings } from './fleet.ts';

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
  approvalOf(hash: string): Promise<GitPlan['approval']>;
}

export async function viewOf(options: ViewOptions): Promise<GitPlan> {
  const { ctx, binding, computed, ref } = options;
  const { looked, plan, guards } = computed;
  const { commit } = looked;
  const judged = judge(computed);
  const { sound } = judged;
  const touched = await touchedNodes(ctx, binding.environmentId, {
    ...plan,
    changes: [...sound, ...judged.deletes],
  });
  const before = await options.before(sound);
  const configOf = new Map(touched.before.map(({ key, config }) => [key, withoutLevel(config)]));
  const moved = touchedOf([touched.moved], touched.hostOf);
  const groups = [...sound, ...judged.deletes].filter((change) => kindOf(change) === 'NodeGroup');
  const nodesOf = (change: Change) => {
    // What labels move belongs to the one group that changes; of several nobody can say which.
    if (kindOf(change) === 'NodeGroup') return groups.length === 1 ? moved : null;
    if (kindOf(change) !== 'Pipeline') return null;
    const touch = touched.byChange.get(change);
    return touch ? touchedOf([touch], touched.hostOf) : touchedOf([], touched.hostOf);
  };
  const changes: PlannedChange[] = [
    ...sound.map((change) =>
      ofApplying(change, {
        before: before.get(change),
        runsNow: configOf.get(objectIdOf(change) ?? '') ?? null,
        check: computed.checks.get(change),
        nodes: nodesOf(change),
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
  const approval = await options.approvalOf(plan.hash);
  return {
    environmentId: binding.environmentId,
    environmentName: binding.environmentName,
    commit: options.ofRepository
      ? { sha: commit.sha, author: commit.author, subject: commit.subject, at: commit.at }
      : null,
    ref,
    hash: plan.hash,
    state: stateOf(binding, computed, counts, approval !== null, guards),
    counts,
    changes: shown,
    changesTotal: changes.length,
    findings: judged.findings.slice(0, MOST_FINDINGS),
    guards,
    fleet: [...missingSecrets(computed), ...fleetFindings(await fleetStateOf(ctx, touched))],
    nodes: touchedOf([...touched.byChange.values(), touched.moved], touched.hostOf),
    approval,
    plannedAt: new Date(ctx.clock.now()),
  };
}

const kindOf = (change: Change): string =>
  'manifest' in change ? change.manifest.kind : change.previous.kind;
const withoutLevel = (config: string): string => config.slice(config.indexOf('\n') + 1);
const lineOf = ({ looked }: Computed, previous: { kind: string; nameKey: string }): number =>
  looked.inventory.get(identityOf(previous))?.line ?? 1;

interface Judged {
  /** What would be applied. */
  sound: Applying[];
  /** What would be deleted, or left to the UI. */
  deletes: Change[];
  refused: PlannedChange[];
  others: PlannedChange[];
  findings: GitPlan['findings'];
  unchanged: number;
}

/** What of the plan a pass would carry out, and why not the rest. */
function judge({ looked, plan, checks }: Computed): Judged {
  const { desired, inventory, dangling } = looked;
  // A path that was deleted on purpose, as the commit says, is no fault.
  const meant = !desired.pathExists && plan.changes.some(({ action }) => action === 'prune');
  const problems = (meant ? [] : desired.problems).map((one) => attribute(one, inventory, desired.manifests));
  const refused: PlannedChange[] = groupByIdentity(problems).map(
    ({ kind, name, nameKey, problems: [first, ...more] }) => {
      const line = inventory.get(identity(kind, nameKey));
      return {
        ...blank('refuse', { kind, name, path: first?.path ?? '', line: first?.line ?? line?.line ?? 1 }),
        objectId: line?.objectId ?? null,
        reason: { code: 'Invalid', message: first?.message ?? 'The document was refused' },
        findings: (first ? [first, ...more] : []).map(toFinding),
      };
    },
  );
  const refuse = (
    change: Extract<Change, { manifest: object }>,
    code: string,
    message: string,
    found: readonly Problem[],
  ) =>
    refused.push({
      ...blank('refuse', change.manifest),
      objectId: change.previous?.objectId ?? null,
      reason: { code, message },
      findings: found.map(toFinding),
      tests: checks.get(change)?.tests ?? [],
    });
  const due: Applying[] = [];
  const prunes: Extract<Change, { action: 'prune' }>[] = [];
  const orphans: Change[] = [];
  const others: PlannedChange[] = [];
  let unchanged = looked.focus?.untouched ?? 0;
  for (const change of plan.changes) {
    if (applies(change)) {
      const found = checks.get(change)?.problems ?? [];
      if (found.length === 0) due.push(change);
      else refuse(change, 'Invalid', found[0]?.message ?? 'refused', found);
      continue;
    }
    switch (change.action) {
      case 'none': {
        const found = dangling.get(change.manifest);
        if (found) refuse(change, 'Invalid', found[0]?.message ?? 'refused', found);
        else unchanged += 1;
        break;
      }
      case 'conflict':
        refuse(change, 'Conflict', conflictText(change.manifest, change.object.name), []);
        break;
      case 'prune':
        prunes.push(change);
        break;
      case 'orphan':
        orphans.push(change);
        others.push({
          ...blank('keep', {
            ...change.previous,
            line: inventory.get(identityOf(change.previous))?.line ?? 1,
          }),
          objectId: change.previous.objectId,
          reason: {
            code: 'Orphaned',
            message: "Git does not own this kind here any more: it becomes the UI's, as it is",
          },
        });
        break;
      case 'forget':
        break;
      default: {
        const shown = leftAlone(change, looked.commit.sha, inventory);
        if (shown) others.push(shown);
      }
    }
  }
  const there = new Set(looked.ui.map(identityOf));
  for (const { kind, objectName } of inventory.values())
    if (objectName !== null) there.add(identity(kind, nameKeyOf(objectName)));
  const { sound, blocked } = withoutBlocked(due, there);
  for (const { change, by } of blocked)
    refuse(change, 'Blocked', `waits for "${by}", on which it depends and which is not there yet`, []);
  const broken = refused.length > 0 && allowedDeletes(looked.commit.message) < prunes.length;
  if (broken) {
    for (const { previous } of prunes)
      others.push(kept(previous, 'broken-manifests', looked.commit.sha, inventory));
  }
  return {
    ...{ sound, refused, others, unchanged },
    deletes: [...(broken ? [] : prunes), ...orphans],
    findings: problems.filter(({ kind, name }) => kind === null || name === null).map(toFinding),
  };
}

type Inventory = Computed['looked']['inventory'];

/** Whoever names what is not there and does not come with it waits, and so do those that name it. */
function withoutBlocked(due: readonly Applying[], there: ReadonlySet<string>) {
  let sound = [...due];
  const blocked: { change: Applying; by: string }[] = [];
  for (;;) {
    const coming = new Set(sound.map(({ manifest }) => identityOf(manifest)));
    const stuck = sound.flatMap((change) => {
      const needs = KINDS.get(change.manifest.kind)?.references(change.manifest) ?? [];
      const missing = needs.find(({ kind, name }) => {
        const key = identity(kind, nameKeyOf(name));
        return !there.has(key) && !coming.has(key);
      });
      return missing ? [{ change, by: missing.name }] : [];
    });
    if (stuck.length === 0) return { sound, blocked };
    blocked.push(...stuck);
    const gone = new Set(stuck.map(({ change }) => change));
    sound = sound.filter((change) => !gone.has(change));
  }
}

function kept(
  previous: Extract<Change, { action: 'keep' }>['previous'],
  reason: Parameters<typeof keptCondition>[0],
  commit: string,
  inventory: Inventory,
): PlannedChange {
  const line = inventory.get(identityOf(previous))?.line ?? 1;
  const said = keptCondition(reason, { path: previous.path, line, commit });
  return {
    ...blank('keep', { ...previous, line }),
    objectId: previous.objectId,
    reason: { code: said.reason, message: said.message },
  };
}

/** Null for what is of no interest: policies, which become nothing. */
function leftAlone(
  change: Extract<Change, { action: 'drifted' | 'ignore' | 'suspended' | 'held' | 'keep' }>,
  commit: string,
  inventory: Inventory,
): PlannedChange | null {
  if (change.action === 'keep') return kept(change.previous, change.reason, commit, inventory);
  if (change.action === 'ignore' && change.reason === 'no-object') return null;
  const { manifest, previous } = change;
  const outcome: ManifestOutcome =
    change.action === 'held'
      ? { type: 'held', hold: change.hold }
      : change.action === 'suspended'
        ? { type: 'suspended', word: change.word }
        : change.action === 'drifted'
          ? { type: 'drifted' }
          : { type: 'ignored', reason: 'not-owned' };
  const place = { path: manifest.path, line: manifest.line, commit };
  const said = conditionsOf(outcome, place, manifest).find(({ type }) => type === 'Applied');
  return {
    ...blank('keep', manifest),
    objectId: previous?.objectId ?? null,
    reason: said ? { code: said.reason, message: said.message } : null,
  };
}

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
  approved: boolean,
  guards: readonly GuardResult[],
): GitPlan['state'] {
  if (binding.mode !== 'sync' || binding.suspendedAt !== null) return 'not-applied';
  if (guards.some(stopsPlan) || plan.awaiting !== null) return approved ? 'approved' : 'waiting';
  if (counts.refuse > 0 || looked.desired.problems.length > 0) return 'partial';
  return plan.empty ? 'empty' : 'ready';
}

async function fleetStateOf({ services }: Context, { after, nodesAfter }: Touched) {
  const catalogue = await services.engine.catalogue().catch(() => null);
  return { pipelines: after, nodes: nodesAfter, catalogue };
}

/** Refused by the check of secrets; told here too, since it is mended in another place than the manifest. */
function missingSecrets({ plan, checks }: Computed): FleetFinding[] {
  const byMessage = new Map<string, Set<string>>();
  for (const change of plan.changes) {
    if (!applies(change)) continue;
    for (const { stage, message } of checks.get(change)?.problems ?? []) {
      if (stage !== 'secrets' || !/does not exist in this environment/.test(message)) continue;
      byMessage.set(message, (byMessage.get(message) ?? new Set()).add(change.manifest.name));
    }
  }
  return [...byMessage].map(([message, pipelines]) => ({
    type: 'missing-secret',
    severity: 'error',
    message,
    pipelines: [...pipelines].sort(),
    hosts: [],
  }));
}
