/**
 * The plan: the difference between what git wants and what was applied. Pure: same input, same plan; planning after the
 * plan was applied gives nothing to do.
 */
import { createHash } from 'node:crypto';
import { DEFAULT_POLICY, type GitPolicy } from '../../schemas/api/git-policy.ts';
import { nameKeyOf } from '../../schemas/manifests/index.ts';
import { KINDS } from '../kinds/index.ts';
import type { Desired, DesiredManifest } from '../source/index.ts';
import { acts, type Change, manifestOf, type PruneHold, type Recorded, renames } from './changes.ts';
import { holdOf, reasonToKeep } from './departures.ts';
import { identity, identityOf } from './identity.ts';
import { metaOf } from './meta.ts';
import { NOTHING_SAID, type Said, type UiObject } from './said.ts';

export * from './changes.ts';
export { allowedDeletes, HISTORY_REWRITTEN } from './departures.ts';

export interface Plan {
  changes: Change[];
  /** Names what the plan would do once it is approved; equal plans have equal hashes. */
  hash: string;
  /** Nothing is to be done now. */
  empty: boolean;
  /** What is not done because the path is missing or empty, until the hash is approved. */
  awaiting: 'missing-path' | 'empty-path' | null;
}

export interface PlanInput {
  desired: Desired;
  /** Those of `desired` to plan for, where it is known that nothing is to be done for the others; else all of them. */
  manifests?: readonly DesiredManifest[];
  /** The inventory, or the lines that stand for `manifests` and for what is gone. */
  recorded: readonly Recorded[];
  /** The commit comes after the one that was applied last (or nothing was applied yet). */
  descends: boolean;
  /** `Headgate-Allow-Delete: <count>` of the commit. */
  allowedDeletes: number;
  /** What git may do here; without it as a binding has it that says nothing. */
  policy?: Pick<GitPolicy, 'owns' | 'prune' | 'selfHeal'>;
  /** Words of operators, and holds. */
  said?: Said;
  /** Living objects that the UI owns. */
  ui?: readonly UiObject[];
}

/** Describes the repository itself; nothing comes of it. */
const NOT_AN_OBJECT: ReadonlySet<string> = new Set(['Repository']);

export function makePlan(input: PlanInput): Plan {
  const { desired, said = NOTHING_SAID } = input;
  const manifests = (input.manifests ?? desired.manifests).filter(
    (manifest) => !NOT_AN_OBJECT.has(manifest.kind),
  );
  const byName = new Map(input.recorded.map((record) => [identityOf(record), record]));
  // In an order of their own: rows come as the database gives them, and equal plans must be equal.
  const withUid = sorted(input.recorded.filter(({ uid, objectId }) => uid !== null && objectId !== null));
  const byUid = new Map(withUid.map((record) => [identity(record.kind, record.uid ?? ''), record]));
  const wanted = new Set(manifests.map(identityOf));
  const taken = new Set<Recorded>();
  const previousOf = new Map<DesiredManifest, Recorded>();
  const claim = (manifest: DesiredManifest, found: Recorded | undefined) => {
    if (!found || taken.has(found) || previousOf.has(manifest)) return;
    taken.add(found);
    previousOf.set(manifest, found);
  };
  // A uid outranks a name: what was renamed stays itself, though another manifest has taken its old name.
  for (const manifest of manifests)
    if (manifest.uid !== null) claim(manifest, byUid.get(identity(manifest.kind, manifest.uid)));
  const namesake = (manifest: DesiredManifest) => byName.get(identityOf(manifest));
  const isObject = (record: Recorded | undefined) => (record?.objectId == null ? undefined : record);
  for (const manifest of manifests) claim(manifest, isObject(namesake(manifest)));
  for (const manifest of sorted(manifests.filter(({ previousName }) => previousName !== null))) {
    const former = identity(manifest.kind, nameKeyOf(manifest.previousName ?? ''));
    if (!wanted.has(former)) claim(manifest, byName.get(former));
  }
  // Last: a line that never became an object must not keep one from its rename.
  for (const manifest of manifests) claim(manifest, namesake(manifest));

  // Where the object was deleted past git, somebody may have made another of its name since.
  const isNew = (manifest: DesiredManifest) =>
    isObject(previousOf.get(manifest)) === undefined || previousOf.get(manifest)?.objectName === null;
  const judge = judgeOf(input, manifests.filter(isNew));
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
  const order = new Map(inOrder(changes.map(manifestOf)).map((manifest, index) => [manifest, index]));
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
  const hold = holdOf(input, objects.length);
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
  if (awaiting === null || said.approved.has(hash))
    return { changes: whole, hash, empty: !whole.some(acts), awaiting: null };
  changes.push(...departures(hold));
  return { changes, hash, empty: !changes.some(acts), awaiting };
}

/** What decides about each manifest, made once for all of them. */
interface Judge {
  owns: ReadonlySet<string>;
  selfHeal: boolean;
  said: Said;
  /** Of manifests that have no object yet: the one of the UI that they name by its id, or that has their name. */
  ui: ReadonlyMap<DesiredManifest, { object: UiObject; byUid: boolean }>;
}

function judgeOf(
  { policy = DEFAULT_POLICY, said = NOTHING_SAID, ui = [] }: PlanInput,
  newcomers: readonly DesiredManifest[],
): Judge {
  const found = new Map<DesiredManifest, { object: UiObject; byUid: boolean }>();
  if (ui.length > 0) {
    const byUid = new Map<string, UiObject>();
    for (const object of ui) if (object.uid !== null) byUid.set(identity(object.kind, object.uid), object);
    for (const object of ui) byUid.set(identity(object.kind, object.id), object);
    const byName = new Map(ui.map((object) => [identityOf(object), object]));
    for (const manifest of newcomers) {
      const object = manifest.uid === null ? undefined : byUid.get(identity(manifest.kind, manifest.uid));
      // An object has one manifest; whose it is by its id, its name is free for another.
      if (!object || byName.get(identityOf(object)) !== object) continue;
      byName.delete(identityOf(object));
      found.set(manifest, { object, byUid: true });
    }
    for (const manifest of newcomers) {
      const object = byName.get(identityOf(manifest));
      if (object && !found.has(manifest)) found.set(manifest, { object, byUid: false });
    }
  }
  return { owns: new Set(policy.owns), selfHeal: policy.selfHeal, said, ui: found };
}

function sorted<T extends { kind: string; nameKey: string }>(list: readonly T[]): T[] {
  const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return [...list].sort((a, b) => compare(a.nameKey, b.nameKey) || compare(a.kind, b.kind));
}

function changeOf(manifest: DesiredManifest, previous: Recorded | null, judge: Judge): Change {
  const kind = KINDS.get(manifest.kind);
  if (!kind) return { action: 'ignore', manifest, previous, reason: 'no-object' };
  if (!judge.owns.has(manifest.kind))
    return {
      action: 'ignore',
      manifest,
      previous: previous?.objectId == null ? previous : null,
      reason: 'not-owned',
    };
  const { words, holds } = judge.said;
  const names = [identityOf(manifest), ...(previous ? [identityOf(previous)] : [])];
  const word = names.flatMap((name) => words.get(name)?.suspend ?? [])[0] ?? null;
  if (word || kind.suspended(manifest)) return { action: 'suspended', manifest, previous, word };
  const hold = names.flatMap((name) => holds.get(name)?.get(manifest.hash) ?? [])[0];
  if (hold) return { action: 'held', manifest, previous, hold };
  if (!previous || previous.objectId === null || judge.ui.has(manifest)) return newcomer(manifest, judge);
  const runsAs = previous.objectName ?? previous.name;
  const renamedFrom = runsAs === manifest.name ? null : runsAs;
  const drifted =
    previous.appliedHash === manifest.hash &&
    (previous.objectHash !== manifest.hash || previous.objectDeployed !== kind.deployed(manifest));
  const described = (previous.appliedMeta ?? null) === null || previous.appliedMeta === metaOf(manifest);
  if (previous.appliedHash === manifest.hash && !drifted && renamedFrom === null && described)
    return { action: 'none', manifest, previous };
  // Where git itself has news of it, that is what it becomes.
  if (drifted && described && previous.name === manifest.name && !judge.selfHeal)
    return { action: 'drifted', manifest, previous };
  return { action: 'update', manifest, previous, renamedFrom, drifted };
}

/** One that git has not applied before. */
function newcomer(manifest: DesiredManifest, { ui, said }: Judge): Change {
  const found = ui.get(manifest);
  if (!found) return { action: 'create', manifest, previous: null };
  const wanted = found.byUid || said.words.get(identityOf(manifest))?.adopt !== undefined;
  return { action: wanted ? 'adopt' : 'conflict', manifest, previous: null, object: found.object };
}

/** By kind, and within a kind after those that it names; otherwise by name. */
export function inOrder(manifests: readonly DesiredManifest[]): DesiredManifest[] {
  const byName = new Map(manifests.map((manifest) => [identityOf(manifest), manifest]));
  const depth = new Map<DesiredManifest, number>();
  const depthOf = (manifest: DesiredManifest, trail: ReadonlySet<DesiredManifest>): number => {
    const known = depth.get(manifest);
    if (known !== undefined) return known;
    if (trail.has(manifest) || trail.size > 100) return 0;
    const inner = new Set(trail).add(manifest);
    const needs = KINDS.get(manifest.kind)?.references(manifest) ?? [];
    const deepest = needs.reduce((most, { kind, name }) => {
      const other = byName.get(identity(kind, nameKeyOf(name)));
      return other ? Math.max(most, depthOf(other, inner) + 1) : most;
    }, 0);
    depth.set(manifest, deepest);
    return deepest;
  };
  const order = (manifest: DesiredManifest) => KINDS.get(manifest.kind)?.order ?? 99;
  for (const manifest of manifests) depthOf(manifest, new Set());
  return sorted(manifests).sort((a, b) => order(a) - order(b) || (depth.get(a) ?? 0) - (depth.get(b) ?? 0));
}

function hashOf(changes: readonly Change[]): string {
  const hash = createHash('sha256');
  for (const change of changes) {
    if (!acts(change)) continue;
    const object = change.action === 'adopt' ? change.object.id : (change.previous?.objectId ?? '-');
    if ('manifest' in change)
      hash.update(
        `${change.action} ${identityOf(change.manifest)} ${change.manifest.hash} ${metaOf(change.manifest)} ${object}\n`,
      );
    else if (change.previous)
      hash.update(
        `${change.action} ${identityOf(change.previous)} ${change.previous.appliedHash} ${object}\n`,
      );
  }
  return hash.digest('hex').slice(0, 32);
}
