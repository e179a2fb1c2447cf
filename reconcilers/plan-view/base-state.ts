/** The state before a change: the manifest that was applied, or the database's object where it was changed outside git. */
import {
  type Binding,
  findObject,
  listObjects,
  type StoredObject,
} from '../../controller/delivery/bindings/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import type { Observed } from '../git/pass-types.ts';
import { type Applying, type Change, objectIdOf } from '../git/plan/plan.ts';
import { identity, identityOf } from '../git/read/identity.ts';
import {
  type DesiredManifest,
  GitRepositoryError,
  type Repository,
  readDesired,
  type SourceCache,
} from '../source/index.ts';
import { isOwnable, plainObject } from '../write-back/manifest/plain-object.ts';

export interface Before {
  /**
   * `manifest`: the applied manifest with its defaults. `database`: the database's object, without defaults and without what
   * only git holds (values, tests, rollout).
   */
  form: 'manifest' | 'database';
  name: string;
  labels: Record<string, string>;
  /** Null where they are not known: the database does not store them. */
  annotations: Record<string, string> | null;
  spec: Record<string, unknown>;
}

/** Commits that are read; objects from other commits are read from the database. */
const MAX_COMMITS = 8;

/** By change; changes that create an object are absent. */
export async function readBefore(
  {
    ctx,
    binding,
    repository,
    cache,
  }: {
    ctx: Context;
    binding: Binding;
    /** The repository that holds the applied commits. */
    repository: Repository;
    cache: SourceCache;
  },
  { inventory }: Observed,
  changes: readonly Applying[],
): Promise<ReadonlyMap<Change, Before>> {
  const found = new Map<Change, Before>();
  const byCommit = new Map<string, { change: Applying; key: string; hash: string }[]>();
  for (const change of changes) {
    if (change.action !== 'update' || change.drifted) continue;
    const key = identityOf(change.previous);
    const line = inventory.get(key);
    if (!line?.appliedCommit || line.appliedHash === null || line.objectHash !== line.appliedHash) continue;
    const earlier = byCommit.get(line.appliedCommit) ?? [];
    byCommit.set(line.appliedCommit, [...earlier, { change, key, hash: line.appliedHash }]);
  }
  const commits = [...byCommit].sort(([, a], [, b]) => b.length - a.length).slice(0, MAX_COMMITS);
  for (const [commit, lines] of commits) {
    const then = await manifestsAt(repository, commit, binding, cache);
    for (const { change, key, hash } of lines) {
      const manifest = then.get(key);
      if (manifest?.hash === hash) found.set(change, ofManifest(manifest));
    }
  }
  const rest = changes.filter((change) => !found.has(change));
  const objects = rest.flatMap((change) => {
    const id = objectIdOf(change);
    return id === null ? [] : [{ change, kind: change.manifest.kind, id }];
  });
  if (objects.length > 0) {
    const held = await readObjects(ctx.db, binding.environmentId, objects);
    for (const { change, id } of objects) {
      const before = held.get(id);
      if (before) found.set(change, before);
    }
  }
  return found;
}

/** By identity. */
export async function manifestsAt(
  repository: Repository,
  commit: string,
  { path, sharedPaths }: Binding,
  cache: SourceCache,
): Promise<ReadonlyMap<string, DesiredManifest>> {
  try {
    const { manifests } = await readDesired(repository, commit, { path, sharedPaths }, cache);
    return new Map(manifests.map((manifest) => [identity(manifest.kind, manifest.nameKey), manifest]));
  } catch (error) {
    // The remote and its copy may no longer hold the commit.
    if (error instanceof GitRepositoryError) return new Map();
    throw error;
  }
}

const ofManifest = ({ name, labels, annotations, spec }: DesiredManifest): Before => ({
  ...{ form: 'manifest', name, labels, annotations },
  spec: { ...spec },
});

/** Above this number all objects of the kinds are read at once. */
const MAX_SINGLE_READS = 20;

async function readObjects(
  db: Context['db'],
  environmentId: string,
  wanted: readonly { kind: string; id: string }[],
): Promise<ReadonlyMap<string, Before>> {
  const ownable = wanted.flatMap(({ kind, id }) => (isOwnable(kind) ? [{ kind, id }] : []));
  const stored: StoredObject[] = [];
  if (ownable.length > MAX_SINGLE_READS) {
    stored.push(...(await listObjects(db, environmentId, [...new Set(ownable.map(({ kind }) => kind))])));
  } else {
    for (const { kind, id } of ownable) {
      const found = await findObject(db, kind, id);
      if (found) stored.push(found);
    }
  }
  return new Map(
    stored.map((object) => {
      const { name, labels, spec } = plainObject(object);
      return [object.id, { form: 'database', name, labels, annotations: null, spec }];
    }),
  );
}
