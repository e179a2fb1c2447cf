/** Commits between the head of the last pass and the head of this one: a newer commit came before they had a pass. */
import type { SkippedCommits } from '../../../controller/delivery/bindings/index.ts';
import { type CommitInfo, descends, readCommit } from '../../source/index.ts';
import type { PassOptions } from '../pass-types.ts';

const MAX_LISTED = 50;
/** A longer line of commits is not counted at all. */
const MAX_FOLLOWED = 1_000;
const NONE: SkippedCommits = { count: 0, commits: [] };

/**
 * Follows first parents. Null where the commit is not new, or where there are too many commits to count. A rewritten history
 * skips nothing.
 */
export async function skippedCommits(
  { binding, repository }: Pick<PassOptions, 'binding' | 'repository'>,
  head: CommitInfo,
): Promise<SkippedCommits | null> {
  const last = binding.headCommit?.sha;
  if (last === head.sha) return null;
  if (last === undefined || !(await descends(repository, head.sha, last))) return NONE;
  const commits: SkippedCommits['commits'] = [];
  let count = 0;
  for (let sha = head.parents[0]; sha !== undefined; count += 1) {
    if (sha === last) return { count, commits };
    if (count === MAX_FOLLOWED) return null;
    const { subject, parents } = await readCommit(repository, sha);
    if (count < MAX_LISTED) commits.push({ sha, subject });
    sha = parents[0];
  }
  // The last head was merged as a second parent, so first parents never lead to it.
  return NONE;
}
