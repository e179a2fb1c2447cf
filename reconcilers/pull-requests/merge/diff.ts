/** The files between two commits, within bounds; what is no text or too large is told without a patch. */
import type { PullRequestDiff } from '../../../schemas/api/pull-requests.ts';
import type { LocalGit } from '../../merge/local-git.ts';

const MOST_FILES = 300;
const MOST_PATCH_BYTES = 1024 * 1024;
/** Of what is compared at a time: a patch of it stays below what is read of git. */
const BATCH_BYTES = 3 * 1024 * 1024;
/** Of all that is compared for one answer. */
const MOST_COMPARED_BYTES = 64 * 1024 * 1024;
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
  /** A file that became a link, or the like: told as a deletion and a new one. */
  isOtherType: boolean;
}

export async function diffOf(
  git: LocalGit,
  from: string,
  to: string,
): Promise<Pick<PullRequestDiff, 'files' | 'filesTotal'>> {
  const listed = await list(git, from, to);
  const entries = listed.entries.slice(0, MOST_FILES);
  const patches = await patchesOf(git, [from, to], entries, listed.options);
  return {
    filesTotal: listed.entries.length,
    files: entries.map((entry) => ({
      path: entry.path.slice(0, PATH_CHARACTERS),
      oldPath: entry.oldPath?.slice(0, PATH_CHARACTERS) ?? null,
      ...{ status: entry.status, additions: entry.additions, deletions: entry.deletions },
      patch: patches.get(entry) ?? null,
    })),
  };
}

const PLAIN = ['--no-ext-diff', '--no-textconv', '--no-color', '--full-index', '--abbrev=64'];

/** Looking for renames, and for lines, reads files that a partial copy may not hold: then it is told with less. */
async function list(git: LocalGit, from: string, to: string) {
  const ask = async (options: readonly string[], counted: boolean) => {
    const what = counted ? ['--raw', '--numstat'] : ['--raw'];
    const { stdout } = await git(['diff', '-z', ...what, ...PLAIN, ...options, from, to, '--']);
    return { entries: parse(stdout), options };
  };
  const tries = [() => ask(['--find-renames'], true), () => ask(['--no-renames'], true)];
  for (const attempt of tries) {
    try {
      return await attempt();
    } catch {
      git.signal.throwIfAborted();
    }
  }
  return ask(['--no-renames'], false);
}

const STATUS: Record<string, ChangedFile['status']> = { A: 'added', D: 'deleted', R: 'renamed' };

/** `git diff --raw --numstat -z` (git-diff(1), "Raw output format" and "Other diff formats"): first all of one, then of the other. */
function parse(output: string): Entry[] {
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
    // Neither lines nor a patch are told of what is no text.
    entry.isText = counts[1] !== '-';
    entry.additions = entry.isText ? Number(counts[1]) : 0;
    entry.deletions = entry.isText ? Number(counts[2]) : 0;
  }
  return entries;
}

async function patchesOf(
  git: LocalGit,
  [from, to]: readonly [string, string],
  entries: readonly Entry[],
  options: readonly string[],
): Promise<Map<Entry, string>> {
  const found = new Map<Entry, string>();
  let bytes = 0;
  for (const batch of await batches(git, entries)) {
    if (bytes >= MOST_PATCH_BYTES) break;
    const paths = batch.flatMap(({ oldPath, path }) => (oldPath === null ? [path] : [oldPath, path]));
    const { stdout } = await git(['diff', '--patch', ...PLAIN, ...options, from, to, '--', ...paths]);
    const patches = batch.length === 1 ? [stdout] : stdout.split(/^(?=diff --git )/m);
    // A name that is a file on one side and a folder on the other: nobody knows which patch is whose.
    if (patches.length !== batch.length) continue;
    for (const [index, entry] of batch.entries()) {
      const patch = patches[index] ?? '';
      bytes += Buffer.byteLength(patch);
      if (bytes <= MOST_PATCH_BYTES) found.set(entry, patch);
    }
  }
  return found;
}

/** As many as are compared at a time; without what is no text. */
async function batches(git: LocalGit, entries: readonly Entry[]): Promise<Entry[][]> {
  const text = entries.filter(({ isText }) => isText);
  const sizes = await sizesOf(git, [...new Set(text.flatMap(({ oids }) => oids))]);
  const all: Entry[][] = [];
  let batch: Entry[] = [];
  let room = BATCH_BYTES;
  let compared = 0;
  for (const entry of text) {
    const size = entry.oids.reduce((sum, oid) => sum + (sizes.get(oid) ?? 0), 0);
    compared += size;
    if (compared > MOST_COMPARED_BYTES) break;
    if ((size > room || entry.isOtherType) && batch.length > 0) {
      all.push(batch);
      batch = [];
      room = BATCH_BYTES;
    }
    batch.push(entry);
    room = entry.isOtherType ? 0 : room - size;
  }
  if (batch.length > 0) all.push(batch);
  return all;
}

async function sizesOf(git: LocalGit, oids: readonly string[]): Promise<Map<string, number>> {
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
