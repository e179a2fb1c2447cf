/** Walks the folders of a commit. A folder that is as it was is not walked again, nor is an entry that is. */

import { printable } from '../../../controller/platform/yaml/position.ts';
import { problem } from '../finding.ts';
import type { Problem } from '../types.ts';
import { IGNORE_FILE } from './ignore-file.ts';
import { inOrder } from './ordered-lookup.ts';
import { isYaml, looksLikeYaml, nameFault, type TreeEntry } from './tree.ts';
import type { TreeReader } from './tree-reader.ts';

export const MAX_FILES = 100_000;
/** A few objects can stand for billions of folders: each holds the next one ten times. */
const MAX_FOLDERS = 100_000;
const MAX_DEPTH = 64;
const MAX_PATH = 1024;
const IGNORE_HINT = `Or name it in ${IGNORE_FILE} if it is not meant for Headgate.`;

export interface SnapshotFile {
  path: string;
  oid: string;
}

/** What an entry came to; all null where it is ignored. */
interface Outcome {
  entry: TreeEntry;
  file: SnapshotFile | null;
  below: Folder | null;
  problem: Problem | null;
}

export interface Folder {
  oid: string;
  /** The ignore files it was walked under. */
  ignoreKey: string;
  outcomes: Outcome[];
  /** All below it, in the order of the tree. */
  files: SnapshotFile[];
  problems: Problem[];
  /** Folders and refused entries, itself included. */
  count: number;
}

export interface Walk {
  trees: TreeReader;
  ignoreKey: string;
  ignores(path: string): boolean;
  pause(): Promise<void> | undefined;
}

export function refusal(path: string, entry: TreeEntry): Problem | null {
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

/** @param before What was found at this path the last time. */
export async function walkFolder(
  path: string,
  oid: string,
  before: Folder | null,
  walk: Walk,
  depth = 0,
): Promise<Folder> {
  const { ignoreKey } = walk;
  const sameRules = before?.ignoreKey === ignoreKey;
  if (before && sameRules && before.oid === oid) return before;
  const folder: Folder = { oid, ignoreKey, outcomes: [], files: [], problems: [], count: 1 };
  if (depth > MAX_DEPTH) {
    const message = `folders are nested more than ${MAX_DEPTH} deep; nothing below this one was read`;
    folder.problems.push(problem(path, { stage: 'source', message, hint: 'Move the files further up.' }));
    return folder;
  }
  const earlier = inOrder(before?.outcomes ?? [], ({ entry }) => entry.name);
  for (const entry of await walk.trees.entries(oid, path)) {
    if (entry.kind === 'file' && !looksLikeYaml(entry.name)) continue;
    const past = earlier(entry.name);
    const same = past?.entry.oid === entry.oid && past.entry.kind === entry.kind;
    const outcome = same && sameRules ? past : await examine(path, entry, past, walk, depth);
    folder.outcomes.push(outcome);
    if (outcome.file) folder.files.push(outcome.file);
    if (outcome.problem) folder.problems.push(outcome.problem);
    if (outcome.below) {
      for (const file of outcome.below.files) folder.files.push(file);
      for (const found of outcome.below.problems) folder.problems.push(found);
    }
    folder.count += (outcome.below?.count ?? 0) + (outcome.problem ? 1 : 0);
    if (folder.files.length > MAX_FILES || folder.count > MAX_FOLDERS) break;
  }
  return folder;
}

async function examine(
  folder: string,
  entry: TreeEntry,
  past: Outcome | undefined,
  walk: Walk,
  depth: number,
): Promise<Outcome> {
  const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
  const isFolder = entry.kind === 'folder';
  const outcome: Outcome = { entry, file: null, below: null, problem: null };
  if (nameFault(entry.name) === null && walk.ignores(isFolder ? `${path}/` : path)) return outcome;
  outcome.problem = refusal(path, entry);
  if (outcome.problem) return outcome;
  if (isFolder) {
    await walk.pause();
    outcome.below = await walkFolder(path, entry.oid, past?.below ?? null, walk, depth + 1);
  } else if (isYaml(entry.name)) {
    outcome.file = past?.file?.oid === entry.oid ? past.file : { path, oid: entry.oid };
  }
  return outcome;
}

/** What a walk left out since there was too much of it. */
export function limitProblems(path: string, { files, count }: Folder): Problem[] {
  const met: string[] = [];
  if (files.length > MAX_FILES) met.push(`${MAX_FILES} manifest files`);
  if (count > MAX_FOLDERS) met.push(`${MAX_FOLDERS} folders, links and submodules`);
  return met.map((what) => {
    const message = `there are more than ${what} below this path; the others were not read`;
    return problem(path, { stage: 'source', message, hint: 'Split the environment.' });
  });
}
