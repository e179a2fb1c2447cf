/** Walks the trees of one commit, through the cache. A session of git is opened only once something is missing there. */
import type { BoundedMap } from '../../../controller/platform/runtime/bounded-map.ts';
import type { ObjectCache } from './object-cache.ts';
import type { ObjectReader } from './objects.ts';
import { parseTree } from './parse-tree.ts';
import { GitRepositoryError } from './repository-error.ts';
import type { TreeEntry } from './tree.ts';

const TREE_BYTES = 64 * 1024 * 1024;

export type Lookup =
  | { found: 'file' | 'folder' | 'link' | 'submodule'; oid: string }
  /** `folder` is the deepest folder that is there, `missing` the name that is not in it. */
  | { found: 'nothing'; folder: string; missing: string; siblings: readonly TreeEntry[] };

export interface TreeReader {
  readonly root: string;
  /** `path` is where the tree stands. */
  entries(oid: string, path: string): Promise<readonly TreeEntry[]>;
  /** What stands at a path relative to the root. A link or submodule on the way is the answer: none is followed. */
  lookup(path: string): Promise<Lookup>;
}

/** The ids of large trees by their paths. What stood at a path before is a good start for reading what stands there. */
export type LargeTrees = BoundedMap<string>;

const MANY_LOOKUPS = 8;
const names = new WeakMap<readonly TreeEntry[], { lookups: number; byName: Map<string, TreeEntry> | null }>();

/** The first one of that name. Thousands of files may be looked up in one large folder. */
function entryOf(entries: readonly TreeEntry[], name: string): TreeEntry | undefined {
  const known = names.get(entries) ?? { lookups: 0, byName: null };
  if (known.lookups === 0) names.set(entries, known);
  known.lookups += 1;
  if (known.lookups < MANY_LOOKUPS) return entries.find((candidate) => candidate.name === name);
  known.byName ??= new Map(entries.toReversed().map((entry) => [entry.name, entry]));
  return known.byName.get(name);
}

/** @param large Kept from read to read of one scope. */
export function treeReader(
  root: string,
  cache: ObjectCache,
  reader: ObjectReader,
  large: LargeTrees,
): TreeReader {
  const entries = async (oid: string, path: string): Promise<readonly TreeEntry[]> => {
    const known = cache.trees.get(oid);
    if (known) return known.entries;
    const found = await reader.read(oid, TREE_BYTES);
    if (found?.type !== 'tree' || !found.data)
      throw new GitRepositoryError(`the tree ${oid} is missing or too large`);
    const parsed = parseTree(found.data, oid.length / 2, cache.trees.get(large.get(path) ?? ''));
    cache.trees.set(oid, parsed, parsed.entries.length + 1);
    if (parsed.source) large.set(path, oid);
    return parsed.entries;
  };
  const seen = new Map<string, Promise<Lookup>>();
  const walk = async (path: string): Promise<Lookup> => {
    let at: Lookup = { found: 'folder', oid: root };
    let folder = '';
    for (const name of path === '' ? [] : path.split('/')) {
      if (at.found !== 'folder') {
        if (at.found !== 'file') return at;
        return { found: 'nothing', folder, missing: name, siblings: [] };
      }
      const siblings: readonly TreeEntry[] = await entries(at.oid, folder);
      const entry = entryOf(siblings, name);
      if (!entry) return { found: 'nothing', folder, missing: name, siblings };
      at = { found: entry.kind, oid: entry.oid };
      folder = folder === '' ? name : `${folder}/${name}`;
    }
    return at;
  };
  return {
    root,
    entries,
    lookup(path) {
      const known = seen.get(path);
      if (known) return known;
      const answer = walk(path);
      seen.set(path, answer);
      return answer;
    },
  };
}
