/** Reads a folder on disk that holds a config repository, or an environment of one, as if it were a commit. */
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
} from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { ScratchFile } from '../source/index.ts';

/** The folder cannot be read, or holds no manifests. */
export class FolderError extends Error {
  override readonly name = 'FolderError';
}

export interface Folder {
  /** The repository's folder; absolute. */
  root: string;
  /** The environments' folders, relative to the root; `''` is the root itself. */
  paths: string[];
}

export const SHARED_PATHS = ['shared', 'tests'];
const ENVIRONMENTS = 'environments';
/** Entries that mark the root of a repository, besides `environments`. */
const ROOT_MARKS = ['headgate.yaml', '.git'];
const ROOT_FILES = new Set(['headgate.yaml', '.headgateignore']);
const MAX_FILES = 100_000;
const MAX_DEPTH = 80;
const MAX_TOTAL_BYTES = 1024 ** 3;
/** One byte more than a manifest or an included file may have; the rest of a larger file is not read. */
const MAX_FILE_BYTES = 8 * 1024 * 1024 + 1;

/**
 * Finds the repository that `dir` is or lies in, and its environments: `environments/*` with manifests, else the folder
 * itself. `wanted` lists the environments instead, relative to the root.
 */
export function openFolder(dir: string, wanted: readonly string[] = []): Folder {
  const start = realFolder(dir);
  const root = isRoot(start) ? start : (rootAbove(start) ?? start);
  if (wanted.length > 0) return { root, paths: wanted.map((path) => namedPath(root, path)) };
  const inside = relative(root, start).split(sep).join('/');
  const parent = inside === '' ? ENVIRONMENTS : inside === ENVIRONMENTS ? inside : null;
  const found = parent === null ? [] : environmentsBelow(root, parent);
  if (found.length > 0) return { root, paths: found };
  if (!holdsManifests(start)) {
    throw new FolderError(
      `${dir} holds no manifests: no .yaml or .yml file is in it. Name the root of a config repository, or the folder of an environment`,
    );
  }
  return { root, paths: [inside] };
}

function realFolder(dir: string): string {
  try {
    const real = realpathSync(resolve(dir));
    readdirSync(real);
    return real;
  } catch (error) {
    throw unreadable(dir, error);
  }
}

const isRoot = (folder: string): boolean =>
  [...ROOT_MARKS, ENVIRONMENTS].some((mark) => existsSync(join(folder, mark)));

function rootAbove(folder: string): string | null {
  for (let at = dirname(folder); at !== dirname(at); at = dirname(at))
    if (ROOT_MARKS.some((mark) => existsSync(join(at, mark)))) return at;
  return null;
}

function namedPath(root: string, path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (path.startsWith('/') || segments.includes('..'))
    throw new FolderError(`--path ${path}: name a folder of the repository from its root, without ..`);
  const inside = segments.join('/');
  if (!isFolder(join(root, inside)))
    throw new FolderError(`--path ${path}: there is no such folder in ${root}`);
  return inside;
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function environmentsBelow(root: string, parent: string): string[] {
  if (!isFolder(join(root, parent))) return [];
  return entriesOf(join(root, parent))
    .filter((entry) => entry.isDirectory() && holdsManifests(join(root, parent, entry.name)))
    .map((entry) => `${parent}/${entry.name}`);
}

function holdsManifests(folder: string, depth = 0): boolean {
  if (depth > MAX_DEPTH) return false;
  const entries = entriesOf(folder);
  return (
    entries.some((entry) => entry.isFile() && /\.ya?ml$/i.test(entry.name)) ||
    entries.some((entry) => entry.isDirectory() && holdsManifests(join(folder, entry.name), depth + 1))
  );
}

/** Sorted by name, without `.git`. */
function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.name !== '.git')
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    throw unreadable(folder, error);
  }
}

/**
 * The files that the manifests can come from: those of the environments and the shared folders, and two at the root. A
 * generator, so that they need not be in memory together.
 */
export function* filesOf(folder: Folder, sharedPaths: readonly string[]): Generator<ScratchFile> {
  const wanted = [...folder.paths, ...sharedPaths];
  const isWithin = (path: string) =>
    wanted.some((one) => one === '' || path === one || path.startsWith(`${one}/`));
  const leadsTo = (path: string) => wanted.some((one) => one.startsWith(`${path}/`));
  let count = 0;
  let bytes = 0;
  const found = function* (below: string, depth: number): Generator<ScratchFile> {
    for (const entry of entriesOf(join(folder.root, below))) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      const within = isWithin(path);
      if (entry.isDirectory()) {
        if (depth < MAX_DEPTH && (within || leadsTo(path))) yield* found(path, depth + 1);
        continue;
      }
      if (!within && !leadsTo(path) && !ROOT_FILES.has(path)) continue;
      // A commit holds no pipes, sockets or devices.
      if (!entry.isFile() && !entry.isSymbolicLink()) continue;
      const content = entry.isFile()
        ? readStart(join(folder.root, path))
        : linkTarget(join(folder.root, path));
      count += 1;
      bytes += content.length;
      if (count > MAX_FILES || bytes > MAX_TOTAL_BYTES) {
        throw new FolderError(
          `${folder.root} holds more than ${count > MAX_FILES ? `${MAX_FILES} files` : '1 GiB'}; name the folder of one environment by --path`,
        );
      }
      yield { path, content, link: entry.isSymbolicLink() };
    }
  };
  yield* found('', 0);
}

const linkTarget = (path: string): Buffer => Buffer.from(readlinkSync(path).slice(0, 4_096));

function readStart(path: string): Buffer {
  try {
    const file = openSync(path, 'r');
    try {
      const size = lstatSync(path).size;
      const buffer = Buffer.allocUnsafe(Math.min(size, MAX_FILE_BYTES));
      let at = 0;
      while (at < buffer.length) {
        const read = readSync(file, buffer, at, buffer.length - at, null);
        if (read === 0) break;
        at += read;
      }
      return buffer.subarray(0, at);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): FolderError {
  const { code } = error as NodeJS.ErrnoException;
  if (path.includes('\ufffd'))
    return new FolderError(`${path} cannot be read: its name is not UTF-8; rename it`);
  if (code === 'ENOENT') return new FolderError(`there is no folder ${path}`);
  if (code === 'ENOTDIR') return new FolderError(`${path} is a file; name the folder of a config repository`);
  if (code === 'EACCES' || code === 'EPERM')
    return new FolderError(
      `${path} cannot be read: this user has no right to read it; grant the right, or remove the file`,
    );
  return new FolderError(`${path} cannot be read (${code ?? String(error)})`);
}
