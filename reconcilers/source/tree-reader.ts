/** Walks the trees of one commit, through the cache. A session of git is opened only once something is missing there. */
import type { SourceCache } from './cache.ts';
import type { ObjectReader } from './objects.ts';
import { GitRepositoryError } from './repository-error.ts';
import { parseTree, type TreeEntry } from './tree.ts';

const TREE_BYTES = 64 * 1024 * 1024;

export type Lookup =
  | { found: 'file' | 'folder' | 'link' | 'submodule'; oid: string }
  /** `folder` is the deepest folder that is there, `missing` the name that is not in it. */
  | { found: 'nothing'; folder: string; missing: string; siblings: readonly TreeEntry[] };

export interface TreeReader {
  readonly root: string;
  entries(oid: string): Promise<readonly TreeEntry[]>;
  /** What stands at a path relative to the root. A link or submodule on the way is the answer: none is followed. */
  lookup(path: string): Promise<Lookup>;
}

export function treeReader(root: string, cache: SourceCache, reader: ObjectReader): TreeReader {
  const entries = async (oid: string): Promise<readonly TreeEntry[]> => {
    const known = cache.trees.get(oid);
    if (known) return known;
    const found = await reader.read(oid, TREE_BYTES);
    if (found?.type !== 'tree' || !found.data)
      throw new GitRepositoryError(`the tree ${oid} is missing or too large`);
    const parsed = parseTree(found.data, oid.length / 2);
    cache.trees.set(oid, parsed, parsed.length + 1);
    return parsed;
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
      const siblings: readonly TreeEntry[] = await entries(at.oid);
      const entry = siblings.find((candidate) => candidate.name === name);
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
