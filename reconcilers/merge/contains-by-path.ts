/**
 * Whether a branch contains the changes of another, compared by path. A merge is not reliable for this: among similar files it
 * may detect a wrong rename, and git 2.39 detects renames even with `merge.renames=false`.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LocalGit } from './local-git.ts';

interface Entry {
  /** `000000`: the path does not exist. */
  mode: string;
  oid: string;
}
interface Change {
  from: Entry;
  to: Entry;
}

const MAX_BYTES = 2 * 1024 * 1024;
/** Paths that both sides changed to different texts; with more, the branch counts as not contained. */
const MAX_TEXTS = 50;

/** True if the base holds each change that the head made since the merge base, alone or together with other changes. */
export async function containsByPath(
  git: LocalGit,
  { mergeBase, base, head }: { mergeBase: string; base: string; head: string },
): Promise<boolean> {
  const theirs = await listChanges(git, mergeBase, head);
  const ours = await listChanges(git, mergeBase, base);
  const texts: [ours: Change, theirs: Change][] = [];
  for (const [path, change] of theirs) {
    const ourChange = ours.get(path);
    if (!ourChange) return false;
    if (ourChange.to.oid === change.to.oid && ourChange.to.mode === change.to.mode) continue;
    if (ourChange.to.mode !== change.to.mode || ![ourChange.from, ourChange.to, change.to].every(isFile))
      return false;
    if (texts.push([ourChange, change]) > MAX_TEXTS) return false;
  }
  for (const [ourChange, change] of texts) if (!(await containsChange(git, ourChange, change))) return false;
  return true;
}

const isFile = ({ mode }: Entry): boolean => mode.startsWith('100');

/** The changes between two commits, by path. */
async function listChanges(git: LocalGit, from: string, to: string): Promise<Map<string, Change>> {
  const { stdout } = await git(['diff-tree', '-r', '-z', '--raw', '--no-renames', '--full-index', from, to]);
  const parts = stdout.split('\0');
  const changes = new Map<string, Change>();
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [modeFrom = '', modeTo = '', oidFrom = '', oidTo = ''] = (parts[at] ?? '').slice(1).split(' ');
    const change = { from: { mode: modeFrom, oid: oidFrom }, to: { mode: modeTo, oid: oidTo } };
    changes.set(parts[at + 1] ?? '', change);
  }
  return changes;
}

/** True if a merge of the head's text into the base's text changes nothing. */
async function containsChange(git: LocalGit, ours: Change, theirs: Change): Promise<boolean> {
  const oids = [ours.to.oid, ours.from.oid, theirs.to.oid];
  const folder = await mkdtemp(join(tmpdir(), 'headgate-merge-'));
  try {
    const files: string[] = [];
    for (const [at, oid] of oids.entries()) {
      const { code, stdout: size } = await git(['cat-file', '-s', oid], { acceptedCodes: [128] });
      // A partial clone lacks large files.
      if (code !== 0 || Number(size) > MAX_BYTES) return false;
      const file = join(folder, String(at));
      await writeFile(file, (await git(['cat-file', 'blob', oid])).stdout);
      files.push(file);
    }
    // git-merge-file exits with the number of conflicts, and with 255 for binary files.
    const conflicted = Array.from({ length: 255 }, (_, count) => count + 1);
    const { code, stdout } = await git(['merge-file', '-p', '-q', ...files], { acceptedCodes: conflicted });
    if (code !== 0) return false;
    return (await git(['hash-object', '--stdin'], { input: stdout })).stdout.trim() === ours.to.oid;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
