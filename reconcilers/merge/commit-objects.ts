/** Reads and writes commit objects. */
import type { CommitIdentity } from '../write-back/commit/commit.ts';
import type { LocalGit } from './local-git.ts';

export interface NewCommit {
  tree: string;
  parents: readonly string[];
  message: string;
  author: CommitIdentity;
  /** `<seconds> <zone>`; the default is now. */
  authorDate?: string;
  committer: CommitIdentity;
  committerDate?: string;
}

export async function writeCommit(git: LocalGit, commit: NewCommit): Promise<string> {
  const { author, committer } = commit;
  const parents = commit.parents.flatMap((parent) => ['-p', parent]);
  const { stdout } = await git(['commit-tree', commit.tree, ...parents, '-F', '-'], {
    input: commit.message,
    env: {
      GIT_AUTHOR_NAME: sanitizeIdentity(author.name),
      GIT_AUTHOR_EMAIL: sanitizeIdentity(author.email),
      GIT_COMMITTER_NAME: sanitizeIdentity(committer.name),
      GIT_COMMITTER_EMAIL: sanitizeIdentity(committer.email),
      ...(commit.authorDate ? { GIT_AUTHOR_DATE: `@${commit.authorDate}` } : {}),
      ...(commit.committerDate ? { GIT_COMMITTER_DATE: `@${commit.committerDate}` } : {}),
    },
  });
  return stdout.trim();
}

/** Removes characters that end a name or an address in a commit header. */
const sanitizeIdentity = (text: string): string => text.replace(/[<>\n\r\0]/g, ' ').trim() || 'unknown';

export interface ExistingCommit {
  sha: string;
  parents: string[];
  tree: string;
  author: CommitIdentity;
  /** `<seconds> <zone>` */
  authorDate: string;
  message: string;
}

const FIELDS = ['%H', '%P', '%T', '%an', '%ae', '%ad', '%B'];

/** Oldest first. `range` as `git rev-list` takes it. */
export async function readCommits(git: LocalGit, range: readonly string[]): Promise<ExistingCommit[]> {
  const { stdout } = await git([
    ...['log', '-z', '--reverse', '--topo-order', '--date=raw', `--format=${FIELDS.join('%x00')}`],
    ...range,
  ]);
  if (stdout === '') return [];
  const parts = stdout.split('\0');
  const commits: ExistingCommit[] = [];
  for (let at = 0; at + FIELDS.length <= parts.length; at += FIELDS.length) {
    const [sha = '', parents = '', tree = '', name = '', email = '', authorDate = '', message = ''] =
      parts.slice(at, at + FIELDS.length);
    commits.push({
      ...{ sha, tree, authorDate, message, author: { name, email } },
      parents: parents.split(' ').filter((parent) => parent !== ''),
    });
  }
  return commits;
}
