import type { CommitInfo } from '../../../schemas/api/git-sync.ts';

/** What is kept of a commit. */
export const commitText = ({ sha, author, email, subject, at }: CommitInfo) =>
  JSON.stringify({ sha, author, email, subject, at });

/** Stored as JSON, where times are text. */
export function dated(commit: CommitInfo | null): CommitInfo | null {
  return commit && { ...commit, at: new Date(commit.at) };
}
