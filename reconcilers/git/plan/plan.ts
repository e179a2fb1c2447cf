/**
 * The plan: the difference between the desired state in git and what was applied. Pure: equal input gives equal plans, and
 * planning again after applying gives an empty plan.
 */
import type { GitPolicy } from '../../../schemas/api/delivery/git-policy.ts';
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
import { holdOf, reasonToRetain } from './prune-holds.ts';

export * from './change.ts';
export { inOrder } from './order.ts';
export { allowedDeletes } from './prune-holds.ts';

export interface Plan {
  changes: Change[];
  /** The changes as they are once the hash is approved. */
  whole: readonly Change[];
  /** The hash of `whole`; equal plans have equal hashes. */
  hash: string;
  /** `changes` contains no action. */
  empty: boolean;
  /** Why nothing is pruned until the hash is approved: the path is missing or holds no manifest. */
  awaiting: 'missing-path' | 'empty-path' | null;
  /** Manifests that are refused: they refer to something that does not exist, or their dependencies form a cycle. */
  faults: ReadonlyMap<DesiredManifest, readonly Problem[]>;
  /** The approved hash: of this plan, or of the plan that this is the rest of; null where nobody has approved it. */
  approval: string | null;
}

export interface PlanInput {
  desired: Desired;
  /** The manifests of `desired` to plan for, where the others are known to be unchanged; by default all. */
  manifests?: readonly DesiredManifest[];
  /** The inventory, or its lines for `manifests` and for what is gone. */
  recorded: readonly Recorded[];
  /** The commit descends from the one that was applied last, or nothing has been applied. */
  descends: boolean;
  /** `Headgate-Allow-Delete: <count>` of the commit. */
  allowedDeletes: number;
  /** What git may do here; by default DEFAULT_POLICY. */
  policy?: Pick<GitPolicy, 'owns' | 'prune' | 'selfHeal'>;
  operatorInput?: OperatorInput;
  /** Live objects that the UI owns. */
  ui?: readonly UiObject[];
  /** Manifests that refer to something that does not exist, with their problems. */
  dangling?: ReadonlyMap<DesiredManifest, readonly Problem[]>;
  /** Null where no dependency cycle can have arisen. */
  order?: ObservedOrder | null;
  /** Identities of live objects; by default those of `recorded` and `ui`. */
  liveNames?: () => ReadonlySet<string>;
}

export function makePlan(input: PlanInput): Plan {
  const { desired, operatorInput = NO_OPERATOR_INPUT } = input;
  const manifests = (input.manifests ?? desired.manifests).filter(
    (manifest) => manifest.kind !== 'Repository' || (isPolicy(manifest) && setsPolicy(manifest)),
  );
  const { previousOf, taken, wanted } = matchLines(manifests, input.recorded, operatorInput);
  // Where the object was deleted outside git, another of its name may have been created since.
  const isNew = (manifest: DesiredManifest) =>
    isObject(previousOf.get(manifest)) === undefined || previousOf.get(manifest)?.objectName === null;
  const context = createClassifyContext(input, manifests.filter(isNew));
  const changes: Change[] = [];
  const idle: Change[] = [];
  for (const manifest of manifests) {
    const change = changeOf(manifest, previousOf.get(manifest) ?? null, context);
    if (acts(change)) changes.push(change);
    else idle.push(change);
    const previous = previousOf.get(manifest);
    if (change.action === 'ignore' && change.previous === null && previous)
      idle.push({ action: 'orphan', previous });
  }
  const order = new Map(
    inOrder(changes.map(manifestOf), desired.manifests).map((manifest, index) => [manifest, index]),
  );
  changes.sort(
    (a, b) =>
      Number(renames(b)) - Number(renames(a)) || order.get(manifestOf(a))! - order.get(manifestOf(b))!,
  );
  changes.push(...idle);

  const refusedNames = new Set(
    desired.refused.flatMap((one) => (one.kind && one.name ? [identity(one.kind, nameKeyOf(one.name))] : [])),
  );
  const refusedPaths = new Set(
    desired.refused.filter((one) => !one.kind || !one.name).map((one) => one.path),
  );
  const gone = input.recorded.filter(
    (record) => !taken.has(record) && !(record.objectId === null && wanted.has(identityOf(record))),
  );
  const removed = sorted(
    gone.filter((record) => !refusedNames.has(identityOf(record)) && !refusedPaths.has(record.path)),
  );
  const objects = removed.filter((record) => record.objectId !== null && context.owns.has(record.kind));
  const { ui = [], recorded } = input;
  const liveNames = input.liveNames ?? (() => listLiveNames({ ui, recorded }));
  const pruned = objects.filter((record) => reasonToRetain(record, null, input, operatorInput) === null);
  const faults = faultsOf(input, changes, pruned);
  const hold = holdOf(input, objects.length, () => refusesAny(changes, faults, liveNames));
  const removalsUnder = (active: PruneHold | null) =>
    removed.flatMap((previous): Change[] => {
      if (previous.objectId === null)
        return active === 'missing-path' ? [] : [{ action: 'forget', previous }];
      if (!context.owns.has(previous.kind)) return [{ action: 'orphan', previous }];
      const reason = reasonToRetain(previous, active, input, operatorInput);
      return [reason === null ? { action: 'prune', previous } : { action: 'keep', previous, reason }];
    });
  const awaiting = hold === 'missing-path' || hold === 'empty-path' ? hold : null;
  const whole = [...changes, ...removalsUnder(awaiting ? null : hold)];
  const hash = hashOf(whole);
  const approval = approvalOf(operatorInput, whole, hash);
  if (awaiting === null || approval !== null)
    return { changes: whole, whole, hash, empty: !whole.some(acts), awaiting: null, faults, approval };
  changes.push(...removalsUnder(hold));
  return { changes, whole, hash, empty: !changes.some(acts), awaiting, faults, approval };
}

function faultsOf(
  { dangling = new Map(), order = null }: PlanInput,
  changes: readonly Change[],
  pruned: readonly Recorded[],
): Plan['faults'] {
  if (order === null) return dangling;
  const ids = new Set(pruned.flatMap(({ objectId }) => objectId ?? []));
  return new Map([...findCycles(changes, order, dangling, ids), ...dangling]);
}
