/** Sorts the changes of a plan: those that a pass would carry out, would refuse, or would leave alone. */
import type { GitPlan, PlannedChange } from '../../schemas/api/delivery/git-plan.ts';
import { nameKeyOf } from '../../schemas/manifests/index.ts';
import { conflictText } from '../git/act/record-unwritten.ts';
import { listLiveNames, listRefusedNames, withoutBlocked } from '../git/plan/blocked-manifests.ts';
import type { Computed } from '../git/plan/compute-plan.ts';
import { attribute, groupByIdentity } from '../git/plan/last-good.ts';
import { type Applying, applies, type Change } from '../git/plan/plan.ts';
import { identity, identityOf } from '../git/read/identity.ts';
import { conditionsOf, type ManifestOutcome, retainedCondition } from '../git/record/outcome.ts';
import type { Problem } from '../source/index.ts';
import { blank, toFinding } from './change-view.ts';

export interface ClassifiedChanges {
  /** Would be applied. */
  ready: Applying[];
  /** Would be deleted, or handed to the UI. */
  deletes: Change[];
  refused: PlannedChange[];
  others: PlannedChange[];
  findings: GitPlan['findings'];
  unchanged: number;
}

export function classifyChanges({ observed, plan, checks }: Computed): ClassifiedChanges {
  const { desired, inventory } = observed;
  // A path whose deletion the commit allows is no fault.
  const isDeletionAllowed = !desired.pathExists && plan.changes.some(({ action }) => action === 'prune');
  const problems = (isDeletionAllowed ? [] : desired.problems).map((one) =>
    attribute(one, inventory, desired.manifests),
  );
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
  const reject = (
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
  let unchanged = observed.focus?.unchanged ?? 0;
  for (const change of plan.changes) {
    if (applies(change)) {
      const found = checks.get(change)?.problems ?? [];
      if (found.length === 0) due.push(change);
      else reject(change, 'Invalid', found[0]?.message ?? 'refused', found);
      continue;
    }
    switch (change.action) {
      case 'none': {
        const found = plan.faults.get(change.manifest);
        if (found) reject(change, 'Invalid', found[0]?.message ?? 'refused', found);
        else unchanged += 1;
        break;
      }
      case 'conflict':
        reject(change, 'Conflict', conflictText(change.manifest, change.object.name), []);
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
      case 'policy':
        break;
      default:
        others.push(leftAlone(change, observed.commit.sha, inventory));
    }
  }
  const { ready, blocked } = withoutBlocked(
    due,
    listLiveNames({ ui: observed.ui, recorded: inventory.values() }),
    [...listRefusedNames(observed), ...refused.map(({ kind, name }) => identity(kind, nameKeyOf(name)))],
  );
  for (const { change, why } of blocked) reject(change, 'Blocked', why, []);
  // The plan itself retains objects only for faults that are known before the checks.
  const broken = refused.length > 0;
  if (broken) {
    for (const { previous } of prunes)
      others.push(retained(previous, 'broken-manifests', observed.commit.sha, inventory));
  }
  return {
    ...{ ready, refused, others, unchanged },
    deletes: [...(broken ? [] : prunes), ...orphans],
    findings: problems.filter(({ kind, name }) => kind === null || name === null).map(toFinding),
  };
}

type Inventory = Computed['observed']['inventory'];

function retained(
  previous: Extract<Change, { action: 'keep' }>['previous'],
  reason: Parameters<typeof retainedCondition>[0],
  commit: string,
  inventory: Inventory,
): PlannedChange {
  const line = inventory.get(identityOf(previous))?.line ?? 1;
  const condition = retainedCondition(reason, { path: previous.path, line, commit });
  return {
    ...blank('keep', { ...previous, line }),
    objectId: previous.objectId,
    reason: { code: condition.reason, message: condition.message },
  };
}

function leftAlone(
  change: Extract<Change, { action: 'drifted' | 'ignore' | 'suspended' | 'held' | 'keep' }>,
  commit: string,
  inventory: Inventory,
): PlannedChange {
  if (change.action === 'keep') return retained(change.previous, change.reason, commit, inventory);
  const { manifest, previous } = change;
  const outcome: ManifestOutcome =
    change.action === 'held'
      ? { type: 'held', hold: change.hold }
      : change.action === 'suspended'
        ? { type: 'suspended', override: change.override }
        : change.action === 'drifted'
          ? { type: 'drifted' }
          : { type: 'ignored' };
  const source = { path: manifest.path, line: manifest.line, commit };
  const condition = conditionsOf(outcome, source, manifest).find(({ type }) => type === 'Applied');
  return {
    ...blank('keep', manifest),
    objectId: previous?.objectId ?? null,
    reason: condition ? { code: condition.reason, message: condition.message } : null,
  };
}
