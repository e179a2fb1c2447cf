/** The changed files between two commits, within limits. Files that are binary or too large have no patch. */
import type { PullRequestDiff } from '../../../schemas/api/delivery/pull-requests.ts';
import type { LocalGit } from '../../merge/local-git.ts';

const MAX_FILES = 300;
const MAX_PATCH_BYTES = 1024 * 1024;
/** Compared by one git process: its patch stays below the limit of git's output. */
const BATCH_BYTES = 3 * 1024 * 1024;
/** Compared for one answer. */
const MAX_COMPARED_BYTES = 64 * 1024 * 1024;
/** A path in an answer; longer ones are cut. */
const PATH_CHARACTERS = 4_096;

type ChangedFile = PullRequestDiff['files'][number];

interface Entry {
  path: string;
  oldPath: string | null;
  status: ChangedFile['status'];
  oids: string[];
  additions: number;
  deletions: number;
  isText: boolean;
  /** The file changed its type, for example to a link: git shows a deletion and an addition. */
  isOtherType: boolean;
}

export async function readDiff(
  git: LocalGit,
  from: string,
  to: string,
): Promise<Pick<PullRequestDiff, 'files' | 'filesTotal'>> {
  const changed = await listChangedFiles(git, from, to);
  const entries = changed.entries.slice(0, MAX_FILES);
  const patches = await readPatches(git, [from, to], entries, changed.options);
  return {
    filesTotal: changed.entries.length,
    files: entries.map((entry) => ({
      path: entry.path.slice(0, PATH_CHARACTERS),
      oldPath: entry.oldPath?.slice(0, PATH_CHARACTERS) ?? null,
      ...{ status: entry.status, additions: entry.additions, deletions: entry.deletions },
      patch: patches.get(entry) ?? null,
    })),
  };
}

const PLAIN_OPTIONS = ['--no-ext-diff', '--no-textconv', '--no-color', '--full-index', '--abbrev=64'];

/** Finding renames and counting lines reads files that a partial copy may lack: then the list comes without them. */
async function listChangedFiles(git: LocalGit, from: string, to: string) {
  const runDiff = async (options: readonly string[], withCounts: boolean) => {
    const formats = withCounts ? ['--raw', '--numstat'] : ['--raw'];
    const { stdout } = await git(['diff', '-z', ...formats, ...PLAIN_OPTIONS, ...options, from, to, '--']);
    return { entries: parseRawDiff(stdout), options };
  };
  const attempts = [() => runDiff(['--find-renames'], true), () => runDiff(['--no-renames'], true)];
  for (const attempt of attempts) {
    try {
      return await attempt();
    } catch {
      git.signal.throwIfAborted();
    }
  }
  return runDiff(['--no-renames'], false);
}

const STATUS: Record<string, ChangedFile['status']> = { A: 'added', D: 'deleted', R: 'renamed' };

/** `git diff --raw --numstat -z` (git-diff(1), "Raw output format" and "Other diff formats"): first all of one, then of the other. */
function parseRawDiff(output: string): Entry[] {
  const parts = output.split('\0');
  const entries: Entry[] = [];
  let at = 0;
  for (; parts[at]?.startsWith(':'); ) {
    const [, , before = '', after = '', letter = ''] = (parts[at] ?? '').split(' ');
    const isRename = letter.startsWith('R');
    const first = parts[at + 1] ?? '';
    const second = parts[at + 2] ?? '';
    entries.push({
      path: isRename ? second : first,
      oldPath: isRename ? first : null,
      status: STATUS[letter[0] ?? ''] ?? 'modified',
      oids: [before, after].filter((oid) => !/^0*$/.test(oid)),
      ...{ additions: 0, deletions: 0, isText: false, isOtherType: letter === 'T' },
    });
    at += isRename ? 3 : 2;
  }
  for (const entry of entries) {
    const counts = /^(\d+|-)\t(\d+|-)\t/.exec(parts[at] ?? '');
    if (!counts) break;
    at += entry.oldPath === null ? 1 : 3;
    // Binary files have neither line counts nor a patch.
    entry.isText = counts[1] !== '-';
    entry.additions = entry.isText ? Number(counts[1]) : 0;
    entry.deletions = entry.isText ? Number(counts[2]) : 0;
  }
  return entries;
}

async function readPatches(
  git: LocalGit,
  [from, to]: readonly [string, string],
  entries: readonly Entry[],
  options: readonly string[],
): Promise<Map<Entry, string>> {
  const found = new Map<Entry, string>();
  let bytes = 0;
  for (const batch of await splitIntoBatches(git, entries)) {
    if (bytes >= MAX_PATCH_BYTES) break;
    const paths = batch.flatMap(({ oldPath, path }) => (oldPath === null ? [path] : [oldPath, path]));
    const { stdout } = await git(['diff', '--patch', ...PLAIN_OPTIONS, ...options, from, to, '--', ...paths]);
    const patches = batch.length === 1 ? [stdout] : stdout.split(/^(?=diff --git )/m);
    // A name that is a file on one side and a folder on the other makes the patches ambiguous.
    if (patches.length !== batch.length) continue;
    for (const [index, entry] of batch.entries()) {
      const patch = patches[index] ?? '';
      bytes += Buffer.byteLength(patch);
      if (bytes <= MAX_PATCH_BYTES) found.set(entry, patch);
    }
  }
  return found;
}

/** Batches of text files, each for one git process. */
async function splitIntoBatches(git: LocalGit, entries: readonly Entry[]): Promise<Entry[][]> {
  const text = entries.filter(({ isText }) => isText);
  const sizes = await readSizes(git, [...new Set(text.flatMap(({ oids }) => oids))]);
  const all: Entry[][] = [];
  let batch: Entry[] = [];
  let left = BATCH_BYTES;
  let compared = 0;
  for (const entry of text) {
    const size = entry.oids.reduce((sum, oid) => sum + (sizes.get(oid) ?? 0), 0);
    compared += size;
    if (compared > MAX_COMPARED_BYTES) break;
    if ((size > left || entry.isOtherType) && batch.length > 0) {
      all.push(batch);
      batch = [];
      left = BATCH_BYTES;
    }
    batch.push(entry);
    left = entry.isOtherType ? 0 : left - size;
  }
  if (batch.length > 0) all.push(batch);
  return all;
}

async function readSizes(git: LocalGit, oids: readonly string[]): Promise<Map<string, number>> {
  if (oids.length === 0) return new Map();
  const { stdout } = await git(['cat-file', '--batch-check=%(objectname) %(objectsize)'], {
    input: oids.map((oid) => `${oid}\n`).join(''),
  });
  return new Map(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' '))
      .map(([oid = '', size = '']) => [oid, Number(size) || 0]),
  );
}
