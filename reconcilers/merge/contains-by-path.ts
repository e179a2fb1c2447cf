/**
 * Whether a branch is in another, by its paths alone: of files that are alike, a merge may take one that was renamed for
 * another, and some versions of git look for renames also where they are told not to (`merge.renames`; 2.39 does).
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LocalGit } from './local-git.ts';

interface Entry {
  /** `000000`: there is none. */
  mode: string;
  oid: string;
}
interface Change {
  from: Entry;
  to: Entry;
}

const MOST_BYTES = 2 * 1024 * 1024;
/** Which both sides have changed to different texts; more are hardly a merge that is done. */
const MOST_TEXTS = 50;

/** Every path that the head has changed since `first` is, in the base, what the head made of it, or holds that beside other changes. */
export async function isInByPath(
  git: LocalGit,
  { first, base, head }: { first: string; base: string; head: string },
): Promise<boolean> {
  const theirs = await changesOf(git, first, head);
  const ours = await changesOf(git, first, base);
  const texts: [ours: Change, theirs: Change][] = [];
  for (const [path, change] of theirs) {
    const known = ours.get(path);
    if (!known) return false;
    if (known.to.oid === change.to.oid && known.to.mode === change.to.mode) continue;
    if (known.to.mode !== change.to.mode || ![known.from, known.to, change.to].every(isFile)) return false;
    if (texts.push([known, change]) > MOST_TEXTS) return false;
  }
  for (const [known, change] of texts) if (!(await holds(git, known, change))) return false;
  return true;
}

const isFile = ({ mode }: Entry): boolean => mode.startsWith('100');

/** By path. */
async function changesOf(git: LocalGit, from: string, to: string): Promise<Map<string, Change>> {
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

/** Merging the text of the head into that of the base changes nothing. */
async function holds(git: LocalGit, ours: Change, theirs: Change): Promise<boolean> {
  const oids = [ours.to.oid, ours.from.oid, theirs.to.oid];
  const folder = await mkdtemp(join(tmpdir(), 'headgate-merge-'));
  try {
    const files: string[] = [];
    for (const [at, oid] of oids.entries()) {
      const { code, stdout: size } = await git(['cat-file', '-s', oid], { codes: [128] });
      // A partial copy lacks large files.
      if (code !== 0 || Number(size) > MOST_BYTES) return false;
      const file = join(folder, String(at));
      await writeFile(file, (await git(['cat-file', 'blob', oid])).stdout);
      files.push(file);
    }
    // Conflicts are counted; 255 is what is no text.
    const conflicted = Array.from({ length: 255 }, (_, count) => count + 1);
    const { code, stdout } = await git(['merge-file', '-p', '-q', ...files], { codes: conflicted });
    if (code !== 0) return false;
    return (await git(['hash-object', '--stdin'], { input: stdout })).stdout.trim() === ours.to.oid;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
