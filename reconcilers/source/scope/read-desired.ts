/**
 * The desired state of one commit. Reads what is new since the last read of the same repository and scope, and nothing
 * else: trees, files and included files are known by their object ids.
 */

import { didYouMean } from '../../../controller/platform/text/nearest-name.ts';
import { printable } from '../../../controller/platform/yaml/position.ts';
import { problem } from '../finding.ts';
import { blobReader } from '../git/blobs.ts';
import { IGNORE_FILE } from '../git/ignore-file.ts';
import type { ObjectReader } from '../git/objects.ts';
import { type Repository, readRawCommit } from '../git/repository.ts';
import { GitRepositoryError } from '../git/repository-error.ts';
import { listSnapshot, REPOSITORY_FILE } from '../git/snapshot.ts';
import { type TreeReader, treeReader } from '../git/tree-reader.ts';
import type { Desired, Problem, SnapshotScope } from '../types.ts';
import { decodeText } from '../yaml/decode-text.ts';
import { includeReader } from './include-reader.ts';
import { readFiles } from './read-files.ts';
import { ScopeState } from './scope-state.ts';
import type { SourceCache } from './source-cache.ts';

function folderPath(path: string): string {
  return path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/');
}

/**
 * What `commit` wants for the scope. A wrong manifest is a problem in the answer and hurts nothing else.
 * @throws GitRepositoryError where the repository or the commit cannot be read: then nothing is known.
 */
export async function readDesired(
  repo: Repository,
  commit: string,
  scope: SnapshotScope,
  cache: SourceCache,
): Promise<Desired> {
  const folders: SnapshotScope = {
    path: folderPath(scope.path),
    sharedPaths: scope.sharedPaths.map(folderPath),
  };
  const key = JSON.stringify([repo.gitdir, folders.path, folders.sharedPaths]);
  return await cache.reads.runExclusive(key, async () => {
    const state = cache.scopes.get(key) ?? new ScopeState();
    if (state.desired?.commit === commit) return state.desired;
    return await repo.objects.use((reader) => readCommitInto(state, reader, { commit, folders, key, cache }));
  });
}

interface Wanted {
  commit: string;
  folders: SnapshotScope;
  /** Of the scope in the cache. */
  key: string;
  cache: SourceCache;
}

async function readCommitInto(
  state: ScopeState,
  reader: ObjectReader,
  { commit, folders, key, cache }: Wanted,
): Promise<Desired> {
  const found = await readRawCommit(reader, commit);
  if (!found) throw new GitRepositoryError(`the repository holds no commit ${commit.slice(0, 64)}`);
  const trees = treeReader(found.tree, cache, reader, state.trees);
  const fingerprint = await fingerprintOf(trees, folders);
  if (state.desired && state.fingerprint === fingerprint) {
    const { commit: since } = state.desired;
    state.desired = { ...state.desired, commit, since, changed: new Set(), gone: [] };
    return state.desired;
  }
  const blobs = blobReader(reader, cache);
  const snapshot = await listSnapshot(trees, folders, state.memory, async (oid, maxBytes) => {
    const bytes = await blobs.read(oid, maxBytes);
    if (bytes) return decodeText(bytes);
    const message = `the file is larger than ${maxBytes} bytes`;
    return { stage: 'source', message, hint: 'Use fewer patterns.' };
  });
  if (!snapshot.pathExists) snapshot.problems.unshift(...(await missingPath(trees, folders.path)));
  const includes = includeReader(trees, blobs, folders);
  const stale = await state.includes.stale(includes);
  const reading = { cache, blobs, includes, scope: folders };
  const results = await readFiles(snapshot.files, state.results, stale.paths, reading);
  const desired = state.settle(commit, snapshot, results, stale);
  state.fingerprint = fingerprint;
  // What the repository lacks today it may hold tomorrow, under the same ids.
  if (blobs.lacked) cache.scopes.delete(key);
  else cache.scopes.set(key, state);
  return desired;
}

async function fingerprintOf(trees: TreeReader, scope: SnapshotScope): Promise<string> {
  const ignoreFile = scope.path === '' ? IGNORE_FILE : `${scope.path}/${IGNORE_FILE}`;
  const paths = [scope.path, ...scope.sharedPaths, REPOSITORY_FILE, IGNORE_FILE, ignoreFile];
  const found = await Promise.all(paths.map((path) => trees.lookup(path)));
  return found.map((at) => (at.found === 'nothing' ? '-' : `${at.found}:${at.oid}`)).join(' ');
}

/** Null for a link or submodule: the walk has reported it. */
async function missingPath(trees: TreeReader, path: string): Promise<Problem[]> {
  const at = await trees.lookup(path);
  if (at.found !== 'nothing' && at.found !== 'file') return [];
  const message = `the folder ${path} does not exist in this commit; everything is left as it is`;
  const otherwise = 'Bring the folder back, or change the path of the binding.';
  const names =
    at.found === 'nothing'
      ? at.siblings.filter(({ kind }) => kind === 'folder').map(({ name }) => printable(name))
      : [];
  const hint = at.found === 'nothing' ? didYouMean(at.missing, names, otherwise) : otherwise;
  return [problem(path, { stage: 'source', message, hint })];
}
