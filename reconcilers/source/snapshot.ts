/**
 * The manifest files of one commit: every `.yaml` and `.yml` below the binding's path and `headgate.yaml` at the root,
 * without what `.headgateignore` names. Links and submodules are reported and never followed.
 */
import { BoundedMap } from './bounded-map.ts';
import { type Finding, problem } from './finding.ts';
import { IGNORE_FILE, type IgnoreRules, parseIgnoreFile } from './ignore-file.ts';
import { foldPath, isYaml, looksLikeYaml, nameFault, printable, type TreeEntry } from './tree.ts';
import type { TreeReader } from './tree-reader.ts';
import type { Problem, SnapshotScope } from './types.ts';

export const REPOSITORY_FILE = 'headgate.yaml';
export const MAX_FILES = 100_000;
const MAX_DEPTH = 64;
const MAX_PATH = 1024;
const IGNORE_FILE_BYTES = 64 * 1024;

export interface SnapshotFile {
  path: string;
  oid: string;
}

export interface Snapshot {
  files: SnapshotFile[];
  problems: Problem[];
  pathExists: boolean;
  /** Files that must not be used since another has the same path in another spelling. */
  colliding: ReadonlySet<string>;
}

interface Folder {
  oid: string;
  /** The ignore files it was walked under. */
  ignoreKey: string;
  files: SnapshotFile[];
  problems: Problem[];
}

/** What a walk found below each folder: an unchanged folder is not walked again. */
export interface WalkMemory {
  folders: BoundedMap<Folder>;
  /** The paths of the last walk: while they stay, so do their collisions. */
  paths: readonly string[];
  collisions: Collisions;
}

export function walkMemory(): WalkMemory {
  return {
    folders: new BoundedMap(20_000),
    paths: [],
    collisions: { colliding: new Set(), problems: [] },
  };
}

const IGNORE_HINT = `Or name it in ${IGNORE_FILE} if it is not meant for Headgate.`;

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
    if (at.found === 'nothing' || at.found === 'folder') continue;
    if (at.found !== 'file') {
      // Below the path the walk reports it as any other link.
      keys.push(at.found);
      continue;
    }
    keys.push(at.oid);
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

function refusal(path: string, entry: TreeEntry): Problem | null {
  const found = (message: string, hint: string) =>
    problem(printable(path), { stage: 'source', message, hint });
  if (entry.kind === 'link') {
    return found(
      'this is a symbolic link; links are never followed',
      `Put the file itself here, or include it by $file. ${IGNORE_HINT}`,
    );
  }
  if (entry.kind === 'submodule') {
    return found(
      'this is a git submodule; submodules are not read',
      `Put the files themselves into this repository. ${IGNORE_HINT}`,
    );
  }
  const fault = nameFault(entry.name);
  if (fault !== null && (entry.kind === 'folder' || looksLikeYaml(entry.name))) {
    return found(`this name ${fault}`, `Rename it. ${IGNORE_HINT}`);
  }
  if (path.length > MAX_PATH)
    return found(`this path has more than ${MAX_PATH} characters`, 'Use shorter names.');
  return null;
}

async function walkFolder(
  path: string,
  oid: string,
  depth: number,
  context: { trees: TreeReader; ignoring: Ignoring; memory: WalkMemory },
): Promise<Folder> {
  const known = context.memory.folders.get(path);
  const ignoreKey = context.ignoring.key;
  if (known?.oid === oid && known.ignoreKey === ignoreKey) return known;
  const folder: Folder = { oid, ignoreKey, files: [], problems: [] };
  if (depth > MAX_DEPTH) {
    const message = `folders are nested more than ${MAX_DEPTH} deep; nothing below this one was read`;
    folder.problems.push(problem(path, { stage: 'source', message, hint: 'Move the files further up.' }));
    return folder;
  }
  const prefix = path === '' ? '' : `${path}/`;
  for (const entry of await context.trees.entries(oid)) {
    const at = `${prefix}${entry.name}`;
    const isFolder = entry.kind === 'folder';
    if (entry.kind === 'file' && !looksLikeYaml(entry.name)) continue;
    const refused = refusal(at, entry);
    if (nameFault(entry.name) === null && context.ignoring.ignores(isFolder ? `${at}/` : at)) continue;
    if (refused) {
      folder.problems.push(refused);
    } else if (isFolder) {
      const below = await walkFolder(at, entry.oid, depth + 1, context);
      for (const file of below.files) folder.files.push(file);
      for (const found of below.problems) folder.problems.push(found);
    } else if (isYaml(entry.name)) {
      folder.files.push({ path: at, oid: entry.oid });
    }
    if (folder.files.length > MAX_FILES) break;
  }
  context.memory.folders.set(path, folder);
  return folder;
}

interface Collisions {
  colliding: Set<string>;
  problems: Problem[];
}

function findCollisions(files: readonly SnapshotFile[]): Collisions {
  const byKey = new Map<string, string>();
  const colliding = new Set<string>();
  const problems: Problem[] = [];
  for (const { path } of files) {
    const key = foldPath(path);
    const other = byKey.get(key);
    if (other === undefined) {
      byKey.set(key, path);
      continue;
    }
    for (const [mine, theirs] of [
      [path, other],
      [other, path],
    ] as const) {
      if (colliding.has(mine)) continue;
      colliding.add(mine);
      problems.push(
        problem(mine, {
          stage: 'source',
          message: `this path and ${theirs} differ in case or in the form of their letters only, so both are refused`,
          hint: 'Rename one of the two: on many systems they are one file.',
        }),
      );
    }
  }
  return { colliding, problems };
}

/** Lists what is to be read; reads no manifest. `memory` belongs to one repository and scope. */
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
    const walked = await walkFolder(scope.path, at.oid, 0, { trees, ignoring, memory });
    for (const file of walked.files) files.push(file);
    for (const found of walked.problems) problems.push(found);
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
  if (files.length > MAX_FILES) {
    const message = `there are more than ${MAX_FILES} manifest files below this path; the others were not read`;
    problems.push(problem(scope.path, { stage: 'source', message, hint: 'Split the environment.' }));
    files.length = MAX_FILES;
  }
  if (files.length !== memory.paths.length || files.some(({ path }, index) => path !== memory.paths[index])) {
    memory.paths = files.map(({ path }) => path);
    memory.collisions = findCollisions(files);
  }
  const { colliding, problems: collisions } = memory.collisions;
  problems.push(...collisions);
  return { files, problems, pathExists: at.found === 'folder', colliding };
}
