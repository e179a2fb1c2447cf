import type { CommitInfo } from '../../../schemas/api/delivery/git-sync.ts';

/** A commit as JSON, for a column. */
export const commitText = ({ sha, author, email, subject, at }: CommitInfo) =>
  JSON.stringify({ sha, author, email, subject, at });

/** A commit read from JSON, where times are text. */
export function datedCommit(commit: CommitInfo | null): CommitInfo | null {
  return commit && { ...commit, at: new Date(commit.at) };
}
