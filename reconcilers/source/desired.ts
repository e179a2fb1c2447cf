/**
 * The desired state of one commit. Reads what is new since the last read of the same repository and scope, and nothing
 * else: trees, files and included files are known by their object ids.
 */
import { blobReader } from './blobs.ts';
import type { SourceCache } from './cache.ts';
import { problem } from './finding.ts';
import { findClashes, type PlacedDocument } from './identity.ts';
import { IGNORE_FILE } from './ignore-file.ts';
import { includeReader } from './include-reader.ts';
import { withObjects } from './objects.ts';
import { type FileResult, readFiles } from './read-files.ts';
import { type Repository, readRawCommit } from './repository.ts';
import { GitRepositoryError } from './repository-error.ts';
import { listSnapshot, REPOSITORY_FILE, type Snapshot, type WalkMemory, walkMemory } from './snapshot.ts';
import { didYouMean } from './suggest.ts';
import { decodeText } from './text.ts';
import { printable } from './tree.ts';
import { type TreeReader, treeReader } from './tree-reader.ts';
import type { Desired, Problem, RefusedDocument, SnapshotScope } from './types.ts';

export interface ScopeState {
  /** The object ids of all that can be read from this scope. */
  fingerprint: string;
  desired: Desired;
  memory: WalkMemory;
  files: Map<string, FileResult>;
}

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
  const before = cache.scopes.get(key);
  if (before?.desired.commit === commit) return before.desired;

  return await withObjects(repo.gitdir, async (reader) => {
    const found = await readRawCommit(reader, commit);
    if (!found) throw new GitRepositoryError(`the repository holds no commit ${commit.slice(0, 64)}`);
    const trees = treeReader(found.tree, cache, reader);
    const fingerprint = await fingerprintOf(trees, folders);
    if (before?.fingerprint === fingerprint) {
      before.desired = { ...before.desired, commit };
      return before.desired;
    }
    const blobs = blobReader(reader, cache);
    const memory = before?.memory ?? walkMemory();
    const snapshot = await listSnapshot(trees, folders, memory, async (oid, maxBytes) => {
      const bytes = await blobs.read(oid, maxBytes);
      return bytes
        ? decodeText(bytes)
        : {
            stage: 'source',
            message: `the file is larger than ${maxBytes} bytes`,
            hint: 'Use fewer patterns.',
          };
    });
    const includes = includeReader(trees, blobs, folders);
    const files = await readFiles(snapshot.files, before?.files ?? new Map(), {
      cache,
      blobs,
      includes,
      scope: folders,
    });
    const desired = assemble(commit, snapshot, files);
    if (!snapshot.pathExists) desired.problems.unshift(...(await missingPath(trees, folders.path)));
    // What the repository lacks today it may hold tomorrow, under the same ids.
    if (blobs.lacked) cache.scopes.delete(key);
    else cache.scopes.set(key, { fingerprint, desired, memory, files });
    return desired;
  });
}

async function fingerprintOf(trees: TreeReader, scope: SnapshotScope): Promise<string> {
  const ignoreFile = scope.path === '' ? IGNORE_FILE : `${scope.path}/${IGNORE_FILE}`;
  const paths = [scope.path, ...scope.sharedPaths, REPOSITORY_FILE, IGNORE_FILE, ignoreFile];
  const found = await Promise.all(paths.map((path) => trees.lookup(path)));
  return found.map((at) => (at.found === 'nothing' ? '-' : `${at.found}:${at.oid}`)).join(' ');
}

/** Nothing for a link or submodule: the walk has told of it. */
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

function assemble(commit: string, snapshot: Snapshot, files: ReadonlyMap<string, FileResult>): Desired {
  const placed: PlacedDocument[] = [];
  const problems = [...snapshot.problems];
  const refused: RefusedDocument[] = [];
  for (const [path, result] of files) {
    if (result.problem) {
      problems.push(result.problem);
      refused.push({ kind: null, name: null, path });
    }
    for (const built of result.documents) {
      placed.push({ path, built });
      for (const found of built.problems) problems.push(found);
    }
  }
  const clashes = findClashes(placed);
  for (const found of clashes.problems) problems.push(found);
  const manifests: Desired['manifests'] = [];
  for (const { path, built } of placed) {
    if (built.manifest && !clashes.refused.has(built) && !snapshot.colliding.has(path))
      manifests.push(built.manifest);
    else refused.push({ kind: built.claim.kind, name: built.claim.name, path });
  }
  const complete = snapshot.pathExists && problems.length === 0;
  return {
    commit,
    manifests,
    problems,
    refused,
    pathExists: snapshot.pathExists,
    complete,
    fileCount: files.size,
  };
}
