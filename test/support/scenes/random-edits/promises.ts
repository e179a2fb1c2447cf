/** What holds of a database that follows git, whoever wrote the commits and whatever happened to the passes. */
import { config, expect } from 'chai';
import stringify from 'fast-json-stable-stringify';
import type { Desired, DesiredManifest } from '../../../../reconcilers/source/index.ts';
import { nameKeyOf } from '../../../../schemas/manifests/index.ts';
import { isEdited, type ObjectRow, type Observed, shouldBe, type VersionRow } from './observed.ts';
import type { EditedKind } from './world.ts';

// A failure of one seed in a million is told once: whole.
config.truncateThreshold = 0;

type Manifest = DesiredManifest<EditedKind>;

const saidOf = ({ kind, name }: { kind: string; name: string }) => `${kind} "${name}"`;
const manifestsOf = (desired: Desired): Manifest[] => desired.manifests.filter(isEdited);
export const livingOf = (observed: Observed): ObjectRow[] =>
  observed.objects.filter((object) => !object.tombstoned);

type Row = { kind: string; name: string } & Record<string, unknown>;
const flat = ({ is, id: _id, ...row }: Partial<ObjectRow> & { is: object }): Row =>
  ({ ...row, ...is }) as Row;

/** Fails with the fields that differ, for the whole rows are long. */
function expectSame(what: string, are: readonly Row[], should: readonly Row[]): void {
  expect(are.map(saidOf).sort(), what).to.deep.equal(should.map(saidOf).sort());
  const differences = should.flatMap((wanted) => {
    const found = are.find((row) => saidOf(row) === saidOf(wanted));
    return Object.keys({ ...wanted, ...found }).flatMap((field) => {
      const [is, not] = [stringify(found?.[field]), stringify(wanted[field])];
      return is === not ? [] : [`${saidOf(wanted)}: ${field} is ${is}, not ${not}`];
    });
  });
  expect(differences.join('\n'), what).to.equal('');
}

/** Everything that lives is in git, everything in git lives and is what git says, and all of it is said to be well. */
export function expectEqualToGit(observed: Observed, desired: Desired): void {
  const manifests = manifestsOf(desired);
  const living = livingOf(observed);
  expectSame('what lives', living.map(flat), manifests.map(shouldBe).map(flat));
  expect(observed.importErrors, 'import errors').to.equal(0);

  const standing = new Map(living.map((object) => [saidOf(object), object.id]));
  expectSame(
    'the inventory',
    observed.inventory.map(({ conditions: _conditions, ...line }) => line),
    manifests.map((manifest) => ({
      kind: manifest.kind,
      nameKey: manifest.nameKey,
      name: manifest.name,
      uid: manifest.uid,
      path: manifest.path,
      line: manifest.line,
      objectId: standing.get(saidOf(manifest)),
      appliedHash: manifest.hash,
      seenHash: manifest.hash,
      prunePolicy: 'auto',
      prunePending: false,
    })),
  );
  for (const line of observed.inventory) {
    const stated = line.conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
    // No test is described, so none was run.
    expect(
      stated.filter((condition) => condition !== 'Tested Unknown NoTests'),
      `the conditions of ${saidOf(line)}`,
    ).to.deep.equal(['Parsed True Parsed', 'Validated True Valid', 'Applied True Applied']);
  }
}

/** What was seen once stays: objects as themselves or as tombstones, versions as they were, without a gap. */
export class Memory {
  readonly #objects = new Set<string>();
  readonly #versions = new Map<string, string>();
  #uids = new Map<string, string>();

  expectKept(observed: Observed): void {
    const ids = new Set(observed.objects.map(({ id }) => id));
    for (const id of this.#objects) expect(ids.has(id), `the row of ${id} is still there`).to.equal(true);
    for (const id of ids) this.#objects.add(id);

    const living = livingOf(observed);
    const uids = new Map(living.flatMap(({ uid, id }) => (uid === null ? [] : [[uid, id] as const])));
    for (const [uid, id] of uids) {
      const was = this.#uids.get(uid);
      const left = was !== id && living.some((object) => object.id === was);
      expect(left, `the uid ${uid} has gone over from ${was} to ${id}, and both live`).to.equal(false);
    }
    this.#uids = uids;

    const digests = new Map(observed.versions.map((version) => [version.id, version.digest]));
    for (const [id, digest] of this.#versions)
      expect(digests.get(id), `version ${id} is as it was written`).to.equal(digest);
    for (const [id, digest] of digests) this.#versions.set(id, digest);

    let before: VersionRow | null = null;
    for (const version of observed.versions) {
      const previous: VersionRow | null = before?.pipelineId === version.pipelineId ? before : null;
      const what = `version ${version.version} of ${version.pipelineId}`;
      expect(version.version, `${what} follows the one before`).to.equal((previous?.version ?? 0) + 1);
      expect(version.specHash, `${what} is another spec than the one before`).not.to.equal(
        previous?.specHash,
      );
      expect(version.audited, `${what} is in the audit log`).to.equal(true);
      before = version;
    }
  }
}

/** Each version is what its commit held at its path, and says so. */
export async function expectVersionsFromGit(
  observed: Observed,
  read: (sha: string) => Promise<Desired>,
  messageOf: (sha: string) => string | undefined,
): Promise<void> {
  for (const { version, pipelineId, commit, path, specHash, changelog, author } of observed.versions) {
    const what = `version ${version} of ${pipelineId}`;
    expect({ changelog, author }, what).to.deep.equal({
      changelog: messageOf(commit ?? ''),
      author: 'Ada Example',
    });
    const desired = await read(commit ?? '');
    const there = desired.manifests.some((manifest) => manifest.hash === specHash && manifest.path === path);
    expect(there, `${what} is in ${path} of ${commit}`).to.equal(true);
  }
}

/** A deleted object runs nowhere. */
export function expectTombstonesIdle(observed: Observed): void {
  for (const object of observed.objects) {
    if (object.tombstoned && object.kind === 'Pipeline')
      expect(object.is, `the tombstone of ${saidOf(object)}`).to.include({
        deployed: false,
        deployedHash: null,
      });
  }
}

/**
 * Whose id each manifest must have after a pass that looked at `before`; null is a new one. A uid outranks a name, a
 * name outranks `previousName`, and what lives outranks what was deleted.
 */
function idsFor(before: Observed, desired: Desired): Map<Manifest, string | null> {
  const manifests = manifestsOf(desired);
  const living = livingOf(before);
  const found = new Map<Manifest, string | null>();
  const taken = new Set<string>();
  const claim = (whose: (manifest: Manifest) => readonly ObjectRow[]) => {
    for (const manifest of manifests) {
      const known = found.has(manifest);
      const free = whose(manifest).find(({ id, kind }) => kind === manifest.kind && !taken.has(id));
      if (known || !free) continue;
      found.set(manifest, free.id);
      taken.add(free.id);
    }
  };
  const named = (key: string) => living.filter(({ name }) => nameKeyOf(name) === key);
  claim(({ uid }) => (uid === null ? [] : living.filter((object) => object.uid === uid)));
  claim(({ nameKey }) => named(nameKey));
  claim(({ kind, previousName }) => {
    const former = previousName === null ? null : nameKeyOf(previousName);
    if (former === null) return [];
    return manifests.some((other) => other.kind === kind && other.nameKey === former) ? [] : named(former);
  });
  const gone = before.objects.filter(({ tombstoned }) => tombstoned);
  claim(({ uid }) => (uid === null ? [] : gone.filter((object) => object.uid === uid)));
  claim(({ nameKey }) => gone.filter(({ name }) => nameKeyOf(name) === nameKey));
  for (const manifest of manifests) if (!found.has(manifest)) found.set(manifest, null);
  return found;
}

/** The manifests that `after` says are applied stand for the objects that they must. */
export function expectIdentities(before: Observed, after: Observed, desired: Desired): void {
  const known = new Set(before.objects.map(({ id }) => id));
  const disputed = disputedIn(before);
  for (const [manifest, expected] of idsFor(before, desired)) {
    const line = after.inventory.find(
      (one) => one.kind === manifest.kind && one.nameKey === manifest.nameKey,
    );
    const applied = line?.conditions.some(({ type, status }) => type === 'Applied' && status === 'True');
    if (!line?.objectId || !applied || line.seenHash !== manifest.hash) continue;
    const id = known.has(line.objectId) ? line.objectId : null;
    if (disputed.has(id ?? '') || disputed.has(expected ?? '')) continue;
    expect(id, `whose id ${saidOf(manifest)} has (null: a new one)`).to.equal(expected);
  }
}

/** Objects of which inventory and row tell different things: a pass was stopped, or a new uid was refused. */
function disputedIn({ objects, inventory }: Observed): Set<string> {
  const lines = new Map(inventory.map((line) => [line.objectId, line]));
  const disputed = objects.filter(({ id, name, uid, tombstoned }) => {
    const line = lines.get(id);
    return tombstoned ? line !== undefined : line?.uid !== uid || line.name !== name;
  });
  return new Set(disputed.map(({ id }) => id));
}

/** What an unfinished tree, a rewritten history or an annotation must keep is still there. */
export function expectNothingLost(
  before: Observed,
  after: Observed,
  { desired, onTop }: { desired: Desired; onTop: boolean },
): void {
  const living = new Set(livingOf(after).map(({ id }) => id));
  const mayPrune = desired.complete && onTop;
  for (const object of livingOf(before)) {
    const line = before.inventory.find(({ objectId }) => objectId === object.id);
    if (mayPrune && (line?.prunePolicy ?? 'auto') === 'auto') continue;
    const why = line && line.prunePolicy !== 'auto' ? `headgate/prune: ${line.prunePolicy}` : 'the commit';
    expect(living.has(object.id), `${saidOf(object)} lives on, for ${why}`).to.equal(true);
  }
}
