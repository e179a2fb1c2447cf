/**
 * The manifest files of one commit: every `.yaml` and `.yml` below the binding's path and `headgate.yaml` at the root,
 * without what `.headgateignore` names. Links and submodules are reported and never followed.
 */
import { type Finding, problem } from '../finding.ts';
import type { Problem, SnapshotScope } from '../types.ts';
import { IGNORE_FILE, type IgnoreRules, parseIgnoreFile } from './ignore-file.ts';
import type { TreeReader } from './tree-reader.ts';
import { type Folder, limitProblems, MAX_FILES, refusal, type SnapshotFile, walkFolder } from './walk.ts';
import { createYielder } from './yield-turn.ts';

export const REPOSITORY_FILE = 'headgate.yaml';
const IGNORE_FILE_BYTES = 64 * 1024;

export interface Snapshot {
  files: SnapshotFile[];
  problems: Problem[];
  pathExists: boolean;
}

/** What the last walk found, to be built upon; belongs to one repository and scope. */
export interface WalkMemory {
  root: Folder | null;
}

interface Ignoring {
  key: string;
  ignores(path: string): boolean;
  problems: Problem[];
}

/** The ignore files at the root and at the binding's path; both count. */
async function readIgnoring(
  trees: TreeReader,
  scope: SnapshotScope,
  readText: (oid: string, maxBytes: number) => Promise<string | Finding>,
): Promise<Ignoring> {
  const rules: { prefix: string; rules: IgnoreRules }[] = [];
  const problems: Problem[] = [];
  const keys: string[] = [];
  for (const folder of new Set(['', scope.path])) {
    const prefix = folder === '' ? '' : `${folder}/`;
    const path = `${prefix}${IGNORE_FILE}`;
    const at = await trees.lookup(path);
    // By place: the same patterns mean other files in another folder.
    keys.push(at.found === 'file' ? at.oid : at.found);
    // A link below the path is reported by the walk, as any other.
    if (at.found !== 'file') continue;
    const text = await readText(at.oid, IGNORE_FILE_BYTES);
    if (typeof text !== 'string') {
      problems.push(problem(path, text));
      continue;
    }
    const parsed = parseIgnoreFile(text);
    problems.push(...parsed.findings.map((finding) => problem(path, finding)));
    rules.push({ prefix, rules: parsed.rules });
  }
  return {
    key: keys.join(' '),
    problems,
    ignores: (path) =>
      rules.some(({ prefix, rules }) => path.startsWith(prefix) && rules.ignores(path.slice(prefix.length))),
  };
}

/** Lists what is to be read; reads no manifest. */
export async function listSnapshot(
  trees: TreeReader,
  scope: SnapshotScope,
  memory: WalkMemory,
  readText: (oid: string, maxBytes: number) => Promise<string | Finding>,
): Promise<Snapshot> {
  const ignoring = await readIgnoring(trees, scope, readText);
  const problems = [...ignoring.problems];
  const files: SnapshotFile[] = [];
  const at = await trees.lookup(scope.path);
  if (at.found === 'folder') {
    const walk = { trees, ignoreKey: ignoring.key, ignores: ignoring.ignores, pause: createYielder() };
    memory.root = await walkFolder(scope.path, at.oid, memory.root, walk);
    for (const file of memory.root.files.slice(0, MAX_FILES)) files.push(file);
    for (const found of memory.root.problems) problems.push(found);
    problems.push(...limitProblems(scope.path, memory.root));
  } else if (at.found === 'link' || at.found === 'submodule') {
    const message = `the path of the binding is, or leads through, a ${at.found === 'link' ? 'symbolic link' : 'git submodule'}, which is not followed`;
    problems.push(
      problem(scope.path, { stage: 'source', message, hint: 'Bind a real folder of this repository.' }),
    );
  }
  const repositoryFile = scope.path === '' ? null : await trees.lookup(REPOSITORY_FILE);
  if (repositoryFile?.found === 'file') {
    if (!ignoring.ignores(REPOSITORY_FILE)) files.push({ path: REPOSITORY_FILE, oid: repositoryFile.oid });
  } else if (repositoryFile?.found === 'link' || repositoryFile?.found === 'submodule') {
    const refused = refusal(REPOSITORY_FILE, {
      name: REPOSITORY_FILE,
      kind: repositoryFile.found,
      oid: repositoryFile.oid,
    });
    if (refused) problems.push(refused);
  }
  return { files, problems, pathExists: at.found === 'folder' };
}
