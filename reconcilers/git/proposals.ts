/** Proposals that are over: their branch has come into the branch that is applied, or is gone. */
import {
  closePullRequest,
  listPullRequests,
  type PullRequestRecord,
  pullRequestsOf,
} from '../../controller/pull-requests/index.ts';
import { descends, GitRepositoryError, type Repository, resolveRef } from '../source/index.ts';
import type { PassMemory } from './memory.ts';
import type { PassOptions } from './steps.ts';

/** Commits of the applied branch among which a proposal is looked for. */
const MOST_COMMITS = 2_000;

interface Seen {
  proposal: PullRequestRecord;
  /** Where its branch stands; null where the repository at hand has none. */
  head: string | null;
}

/** To be called once what the branch stands at is known. Looks again only where a branch has moved. */
export async function settleProposals(
  { ctx, binding, repository, remote }: PassOptions,
  base: string,
  memory: PassMemory,
): Promise<void> {
  // A forge says itself what became of those that live there.
  if (binding.forge !== 'none') return;
  const open = await listPullRequests(ctx.db, pullRequestsOf(binding), { state: 'open' });
  if (open.length === 0) return;
  const seen = await Promise.all(
    open.map(async (proposal): Promise<Seen> => ({ proposal, head: await headOf(repository, proposal) })),
  );
  const now = JSON.stringify([base, seen.map(({ proposal, head }) => [proposal.id, head])]);
  if (memory.proposals === now) return;
  const over: { id: string; headSha: string; state: 'merged' | 'closed' }[] = [];
  for (const { proposal, head } of seen) {
    const { id, headSha } = proposal;
    if (await isMerged(repository, base, head ?? headSha)) over.push({ id, headSha, state: 'merged' });
    // The copy of a remote does not hold every branch: that one is not there tells nothing.
    else if (head === null && !remote) over.push({ id, headSha, state: 'closed' });
  }
  if (over.length > 0)
    await ctx.db.transaction(async (tx) => {
      await ctx.fence?.(tx);
      for (const { state, ...of } of over) await closePullRequest(tx, of, { state });
      const { environmentId } = binding;
      await ctx.services.bus.publish(tx, { type: 'ui', environmentId, topics: ['git'] });
    });
  memory.proposals = now;
}

const headOf = (repository: Repository, { branch }: PullRequestRecord) =>
  resolveRef(repository, `refs/heads/${branch}`);

async function isMerged(repository: Repository, base: string, sha: string): Promise<boolean> {
  try {
    return await descends(repository, base, sha, { maxCommits: MOST_COMMITS });
  } catch (error) {
    // A copy need not hold all of the history; what was read of it for the pass is whole.
    if (error instanceof GitRepositoryError) return false;
    throw error;
  }
}
