/**
 * The plan: the difference between what git wants and what was applied. Pure: same input, same plan; planning after the
 * plan was applied gives nothing to do.
 */
import { createHash } from 'node:crypto';
import { nameKeyOf } from '../../schemas/manifests/index.ts';
import { KINDS } from '../kinds/index.ts';
import type { Desired, DesiredManifest } from '../source/index.ts';
import { identity, identityOf } from './identity.ts';
import { metaOf } from './meta.ts';

/** One line of the inventory, with what the database holds of the object. */
export interface Recorded {
  kind: string;
  nameKey: string;
  name: string;
  uid: string | null;
  path: string;
  objectId: string | null;
  appliedHash: string | null;
  /** Null where it is not known. */
  appliedMeta?: string | null;
  objectName: string | null;
  objectHash: string | null;
  objectDeployed: boolean | null;
  prunePolicy: 'auto' | 'confirm' | 'never';
  /** As the last pass left them. */
  conditions?: readonly { type: string; reason: string; commit: string | null }[];
}

export type Change =
  /** `previous` is the inventory line that stands for the same object, under the same or an earlier name. */
  | { action: 'create'; manifest: DesiredManifest; previous: null }
  | {
      action: 'update';
      manifest: DesiredManifest;
      previous: Recorded;
      renamedFrom: string | null;
      drifted: boolean;
    }
  | { action: 'none'; manifest: DesiredManifest; previous: Recorded }
  /** Read and checked, but nothing acts on its kind. */
  | { action: 'ignore'; manifest: DesiredManifest; previous: Recorded | null }
  | { action: 'suspended'; manifest: DesiredManifest; previous: Recorded | null }
  | { action: 'prune'; previous: Recorded }
  /** Left the tree, and is kept for the reason given. */
  | { action: 'keep'; previous: Recorded; reason: PruneHold }
  /** Was refused before it became an object, and is gone now. */
  | { action: 'forget'; previous: Recorded };

export type PruneHold =
  | 'broken-manifests'
  | 'rewritten-history'
  | 'missing-path'
  | 'empty-path'
  | 'confirm'
  | 'never'
  /** Said by the pass, not by the plan: the binding's mode is not `sync`. */
  | 'observing';

export interface Plan {
  changes: Change[];
  /** Names what the plan would do; equal plans have equal hashes. */
  hash: string;
  empty: boolean;
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
}

/** Describes the repository itself; nothing comes of it. */
const NOT_AN_OBJECT: ReadonlySet<string> = new Set(['Repository']);

export function makePlan(input: PlanInput): Plan {
  const { desired } = input;
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

  const changes: Change[] = [];
  const still: Change[] = [];
  for (const manifest of manifests) {
    const change = changeOf(manifest, previousOf.get(manifest) ?? null);
    if (acts(change)) changes.push(change);
    else still.push(change);
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
  const objects = leaving.filter((record) => record.objectId !== null);
  const hold = holdOf(input, objects.length);
  for (const previous of leaving) {
    if (previous.objectId === null) {
      if (hold !== 'missing-path') changes.push({ action: 'forget', previous });
      continue;
    }
    const reason = previous.prunePolicy === 'auto' ? hold : (hold ?? previous.prunePolicy);
    changes.push(reason === null ? { action: 'prune', previous } : { action: 'keep', previous, reason });
  }
  return { changes, hash: hashOf(changes), empty: changes.every((change) => !acts(change)) };
}

const manifestOf = (change: Change): DesiredManifest => {
  if (!('manifest' in change)) throw new Error('a change of a manifest');
  return change.manifest;
};

/** Renames come first and together: names that are traded are free for one another only within one transaction. */
const renames = (change: Change): boolean => change.action === 'update' && change.renamedFrom !== null;

function sorted<T extends { kind: string; nameKey: string }>(list: readonly T[]): T[] {
  const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return [...list].sort((a, b) => compare(a.nameKey, b.nameKey) || compare(a.kind, b.kind));
}

function changeOf(manifest: DesiredManifest, previous: Recorded | null): Change {
  const kind = KINDS.get(manifest.kind);
  if (!kind) return { action: 'ignore', manifest, previous };
  if (kind.suspended(manifest)) return { action: 'suspended', manifest, previous };
  if (!previous || previous.objectId === null) return { action: 'create', manifest, previous: null };
  const runsAs = previous.objectName ?? previous.name;
  const renamedFrom = runsAs === manifest.name ? null : runsAs;
  const drifted =
    previous.appliedHash === manifest.hash &&
    (previous.objectHash !== manifest.hash || previous.objectDeployed !== kind.deployed(manifest));
  const described = (previous.appliedMeta ?? null) === null || previous.appliedMeta === metaOf(manifest);
  if (previous.appliedHash === manifest.hash && !drifted && renamedFrom === null && described)
    return { action: 'none', manifest, previous };
  return { action: 'update', manifest, previous, renamedFrom, drifted };
}

/** Why nothing may be pruned in this pass; null when it may. */
function holdOf(input: PlanInput, leaving: number): PruneHold | null {
  if (leaving === 0) return null;
  const { desired, allowedDeletes } = input;
  // Looking again at the commit that rewrote history is no commit on top of it.
  const descends = input.descends && !input.recorded.some((record) => guardedAt(record, desired.commit));
  // A rewritten history may have come back to an old commit, whose word was about other objects.
  const allowed = descends && allowedDeletes >= leaving;
  // Git keeps no empty folders: whoever deletes every manifest deletes the path.
  if (!desired.pathExists) return allowed ? null : 'missing-path';
  if (!desired.complete || desired.problems.length > 0) return 'broken-manifests';
  if (!descends) return 'rewritten-history';
  // Policy alone (an Environment manifest) does not make a tree that somebody meant to leave.
  if (!allowed && !desired.manifests.some((manifest) => KINDS.has(manifest.kind))) return 'empty-path';
  return null;
}

const guardedAt = ({ conditions = [] }: Recorded, commit: string) =>
  conditions.some((one) => one.type === 'Applied' && one.reason === 'Guarded' && one.commit === commit);

export function acts(change: Change): boolean {
  return change.action === 'create' || change.action === 'update' || change.action === 'prune';
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
    if (change.action === 'prune')
      hash.update(`prune ${identityOf(change.previous)} ${change.previous.appliedHash}\n`);
    else if ('manifest' in change)
      hash.update(
        `${change.action} ${identityOf(change.manifest)} ${change.manifest.hash} ${metaOf(change.manifest)}\n`,
      );
  }
  return hash.digest('hex').slice(0, 32);
}

/** `Headgate-Allow-Delete: 12` at the end of a commit message. */
export function allowedDeletes(message: string): number {
  const found = /^Headgate-Allow-Delete:\s*(\d{1,6})\s*$/im.exec(message);
  return found ? Number(found[1]) : 0;
}
