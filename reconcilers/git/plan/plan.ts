/**
 * The plan: the difference between what git wants and what was applied. Pure: same input, same plan; planning after the
 * plan was applied gives nothing to do.
 */
import type { GitPolicy } from '../../../schemas/api/git-policy.ts';
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import type { Desired, DesiredManifest, Problem } from '../../source/index.ts';
import { identity, identityOf } from '../read/identity.ts';
import { NO_OPERATOR_INPUT, type OperatorInput, type UiObject } from '../read/overrides.ts';
import { listLiveNames, refusesAny } from './blocked-manifests.ts';
import { acts, type Change, manifestOf, type PruneHold, type Recorded, renames } from './change.ts';
import { changeOf, createClassifyContext } from './classify-manifest.ts';
import { findCycles, type ObservedOrder } from './dependency-cycles.ts';
import { isObject, matchLines } from './match-lines.ts';
import { inOrder, sorted } from './order.ts';
import { approvalOf, hashOf } from './plan-hash.ts';
import { isPolicy, setsPolicy } from './policy-manifests.ts';
import { holdOf, reasonToKeep } from './prune-guard.ts';

export * from './change.ts';
export { inOrder } from './order.ts';
export { allowedDeletes } from './prune-guard.ts';

export interface Plan {
  changes: Change[];
  /** With what waits for an approval of the hash as if it had it. */
  whole: readonly Change[];
  /** Names what the plan would do once it is approved; equal plans have equal hashes. */
  hash: string;
  /** Nothing is to be done now. */
  empty: boolean;
  /** What is not done because the path is missing or empty, until the hash is approved. */
  awaiting: 'missing-path' | 'empty-path' | null;
  /** Manifests that name what is not there, or whose dependencies form a circle: they are refused. */
  faults: ReadonlyMap<DesiredManifest, readonly Problem[]>;
  /** Under which hash an ADMIN has approved it, or the plan of which it is the rest; null where nobody has. */
  approval: string | null;
}

export interface PlanInput {
  desired: Desired;
  /** Those of `desired` to plan for, where it is known that nothing is to be done for the others; else all of them. */
  manifests?: readonly DesiredManifest[];
  /** The inventory, or the lines that stand for `manifests` and for what is gone. */
  recorded: readonly Recorded[];
  /** The commit comes after the one that was applied last (or nothing was applied yet); the same one again as it did then. */
  descends: boolean;
  /** `Headgate-Allow-Delete: <count>` of the commit. */
  allowedDeletes: number;
  /** What git may do here; without it as a binding has it that says nothing. */
  policy?: Pick<GitPolicy, 'owns' | 'prune' | 'selfHeal'>;
  /** Words of operators, and holds. */
  said?: OperatorInput;
  /** Living objects that the UI owns. */
  ui?: readonly UiObject[];
  /** Manifests that name something that is not there. */
  dangling?: ReadonlyMap<DesiredManifest, readonly Problem[]>;
  /** Null where no circle of dependencies can have come up. */
  order?: ObservedOrder | null;
  /** Living objects by identity; without it those of `recorded` and `ui`. */
  there?: () => ReadonlySet<string>;
}

export function makePlan(input: PlanInput): Plan {
  const { desired, said = NO_OPERATOR_INPUT } = input;
  const manifests = (input.manifests ?? desired.manifests).filter(
    (manifest) => manifest.kind !== 'Repository' || (isPolicy(manifest) && setsPolicy(manifest)),
  );
  const { previousOf, taken, wanted } = matchLines(manifests, input.recorded, said);
  // Where the object was deleted past git, somebody may have made another of its name since.
  const isNew = (manifest: DesiredManifest) =>
    isObject(previousOf.get(manifest)) === undefined || previousOf.get(manifest)?.objectName === null;
  const judge = createClassifyContext(input, manifests.filter(isNew));
  const changes: Change[] = [];
  const still: Change[] = [];
  for (const manifest of manifests) {
    const change = changeOf(manifest, previousOf.get(manifest) ?? null, judge);
    if (acts(change)) changes.push(change);
    else still.push(change);
    const previous = previousOf.get(manifest);
    if (change.action === 'ignore' && change.previous === null && previous)
      still.push({ action: 'orphan', previous });
  }
  const order = new Map(
    inOrder(changes.map(manifestOf), desired.manifests).map((manifest, index) => [manifest, index]),
  );
  changes.sort(
    (a, b) =>
      Number(renames(b)) - Number(renames(a)) || order.get(manifestOf(a))! - order.get(manifestOf(b))!,
  );
  changes.push(...still);

  const kept = new Set(
    desired.refused.flatMap((one) => (one.kind && one.name ? [identity(one.kind, nameKeyOf(one.name))] : [])),
  );
  const keptPaths = new Set(desired.refused.filter((one) => !one.kind || !one.name).map((one) => one.path));
  const gone = input.recorded.filter(
    (record) => !taken.has(record) && !(record.objectId === null && wanted.has(identityOf(record))),
  );
  const leaving = sorted(
    gone.filter((record) => !kept.has(identityOf(record)) && !keptPaths.has(record.path)),
  );
  const objects = leaving.filter((record) => record.objectId !== null && judge.owns.has(record.kind));
  const { ui = [], recorded } = input;
  const there = input.there ?? (() => listLiveNames({ ui, recorded }));
  const going = objects.filter((record) => reasonToKeep(record, null, input, said) === null);
  const faults = faultsOf(input, changes, going);
  const hold = holdOf(input, objects.length, () => refusesAny(changes, faults, there));
  const departures = (holding: PruneHold | null) =>
    leaving.flatMap((previous): Change[] => {
      if (previous.objectId === null)
        return holding === 'missing-path' ? [] : [{ action: 'forget', previous }];
      if (!judge.owns.has(previous.kind)) return [{ action: 'orphan', previous }];
      const reason = reasonToKeep(previous, holding, input, said);
      return [reason === null ? { action: 'prune', previous } : { action: 'keep', previous, reason }];
    });
  const awaiting = hold === 'missing-path' || hold === 'empty-path' ? hold : null;
  const whole = [...changes, ...departures(awaiting ? null : hold)];
  const hash = hashOf(whole);
  const approval = approvalOf(said, whole, hash);
  if (awaiting === null || approval !== null)
    return { changes: whole, whole, hash, empty: !whole.some(acts), awaiting: null, faults, approval };
  changes.push(...departures(hold));
  return { changes, whole, hash, empty: !changes.some(acts), awaiting, faults, approval };
}

function faultsOf(
  { dangling = new Map(), order = null }: PlanInput,
  changes: readonly Change[],
  going: readonly Recorded[],
): Plan['faults'] {
  if (order === null) return dangling;
  const leaving = new Set(going.flatMap(({ objectId }) => objectId ?? []));
  return new Map([...findCycles(changes, order, dangling, leaving), ...dangling]);
}
