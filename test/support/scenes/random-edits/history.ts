/** The branch of a sequence: commits are written into the bare repository by this process, and the branch moved to them. */
import fs from 'node:fs';
import { join } from 'node:path';
import git from 'isomorphic-git';
import { render, type World } from './world.ts';

export interface WrittenCommit {
  sha: string;
  parent: WrittenCommit | null;
  message: string;
  world: World;
}

interface Folder {
  files: Map<string, string>;
  folders: Map<string, Folder>;
}

export class History {
  readonly #gitdir: string;
  /** Texts that are in the repository already, with their ids. */
  readonly #blobs = new Map<string, string>();
  #seconds = 1_700_000_000;
  head: WrittenCommit | null = null;

  constructor(gitdir: string) {
    this.#gitdir = gitdir;
  }

  /** A commit on top of `parent`, and the branch on it. */
  async commit(world: World, parent: WrittenCommit | null, message: string): Promise<WrittenCommit> {
    const root = newFolder();
    for (const [path, text] of render(world)) await this.#place(root, path, text);
    const tree = await this.#writeFolder(root);
    this.#seconds += 60;
    const who = {
      name: 'Ada Example',
      email: 'ada@example.org',
      timestamp: this.#seconds,
      timezoneOffset: 0,
    };
    const sha = await git.writeCommit({
      fs,
      gitdir: this.#gitdir,
      commit: { message, tree, parent: parent ? [parent.sha] : [], author: who, committer: who },
    });
    const written = { sha, parent, message, world };
    this.moveTo(written);
    return written;
  }

  /** In one step, as git does it: a pass that looks in this moment sees the old or the new. */
  moveTo(commit: WrittenCommit): void {
    const branch = join(this.#gitdir, 'refs/heads/main');
    fs.writeFileSync(`${branch}.lock`, `${commit.sha}\n`);
    fs.renameSync(`${branch}.lock`, branch);
    this.head = commit;
  }

  async #place(root: Folder, path: string, text: string): Promise<void> {
    const parts = path.split('/');
    const name = parts.pop() ?? '';
    let folder = root;
    for (const part of parts) {
      const inner = folder.folders.get(part) ?? newFolder();
      folder.folders.set(part, inner);
      folder = inner;
    }
    const known = this.#blobs.get(text);
    const oid = known ?? (await git.writeBlob({ fs, gitdir: this.#gitdir, blob: Buffer.from(text) }));
    this.#blobs.set(text, oid);
    folder.files.set(name, oid);
  }

  async #writeFolder(folder: Folder): Promise<string> {
    const files = [...folder.files].map(([path, oid]) => ({
      mode: '100644',
      path,
      oid,
      type: 'blob' as const,
    }));
    const folders = [];
    for (const [path, inner] of folder.folders) {
      folders.push({ mode: '040000', path, oid: await this.#writeFolder(inner), type: 'tree' as const });
    }
    return git.writeTree({ fs, gitdir: this.#gitdir, tree: [...files, ...folders] });
  }
}

const newFolder = (): Folder => ({ files: new Map(), folders: new Map() });

/** The commit and those before it, newest first. */
export function* lineOf(commit: WrittenCommit | null): Generator<WrittenCommit> {
  for (let at = commit; at !== null; at = at.parent) yield at;
}

export function isOnTop(commit: WrittenCommit | null, sha: string): boolean {
  for (const one of lineOf(commit)) if (one.sha === sha) return true;
  return false;
}
