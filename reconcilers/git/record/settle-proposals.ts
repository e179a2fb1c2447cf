/**
 * Pull requests that are kept here, as the branches say: merged by whatever way, closed, pushed to, or left behind by a base
 * that moved. Recognised by content and never by the id of a commit.
 */
import {
  closePullRequest,
  listPullRequests,
  notePullRequest,
  type PullRequestRecord,
  pullRequestsOf,
  tellOfPullRequest,
} from '../../../controller/delivery/pull-requests/index.ts';
import { RepositoryError } from '../../../controller/delivery/repository/index.ts';
import { type LocalGit, localGit } from '../../merge/local-git.ts';
import { observeMerge } from '../../merge/merge-result.ts';
import { holds } from '../../merge/workspace.ts';
import { resolveRef } from '../../source/index.ts';
import type { PassOptions } from '../pass-types.ts';
import type { PassMemory } from '../read/pass-memory.ts';

/** Looked at in one pass; what is to be applied must not wait for more. */
const MOST_LOOKS = { embedded: 20, remote: 5 };
/** Commits of the base, each of which may have been the one with which it came in. */
const MOST_STEPS = 50;

type Verdict =
  | ({ state: 'open' } & Parameters<typeof notePullRequest>[2])
  | { state: 'merged'; headSha: string; mergeSha: string }
  | { state: 'closed' };

/**
 * To be called once what the branch stands at is known. Looks again only where a branch has moved. True where there was more
 * to look at than one pass does.
 */
export async function settleProposals(
  options: PassOptions,
  base: string,
  memory: PassMemory,
): Promise<boolean> {
  const { ctx, binding, repository } = options;
  // A forge says itself what became of those that live there.
  if (binding.forge !== 'none') return false;
  const open = await listPullRequests(ctx.db, pullRequestsOf(binding), { state: 'open' });
  if (open.length === 0) return false;
  // The environments of a repository look at the same time, and one is enough: what it finds it writes for all.
  const place = `${repository.gitdir}\0${binding.ref}\0${base}`;
  if (settling.has(place)) return false;
  settling.add(place);
  try {
    return await settle(options, base, memory, open);
  } finally {
    settling.delete(place);
  }
}

const settling = new Set<string>();

async function settle(
  options: PassOptions,
  base: string,
  memory: PassMemory,
  open: readonly PullRequestRecord[],
): Promise<boolean> {
  const { ctx, repository, remote, signal } = options;
  const heads = await headsOf(options, open);
  if (heads === null) return false;
  const now = JSON.stringify([base, open.map(({ id, branch }) => [id, heads.get(branch)])]);
  if (memory.proposals === now) return false;
  const git = localGit(repository.gitdir, signal);
  const due = open.filter((pull) => isDue(pull, base, heads.get(pull.branch)));
  const seen: { pull: PullRequestRecord; verdict: Verdict }[] = [];
  const most = remote ? MOST_LOOKS.remote : MOST_LOOKS.embedded;
  let failed = 0;
  for (const pull of due) {
    if (seen.length === most) break;
    try {
      const verdict = await look(options, git, pull, { base, head: heads.get(pull.branch) ?? null });
      if (verdict) seen.push({ pull, verdict });
      else failed += 1;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RepositoryError)) throw error;
      failed += 1;
      ctx.log.warn({ number: pull.number, reason: error.message }, 'a pull request could not be looked at');
    }
  }
  const overtaken = seen.length > 0 && (await write(options, seen));
  const isMore = overtaken || due.length > seen.length + failed;
  memory.proposals = isMore || failed > 0 ? '' : now;
  return isMore;
}

/** Where the branches stand where the repository lives; null where that is not known now. */
async function headsOf(
  { ctx, repository, remote, signal }: PassOptions,
  open: readonly PullRequestRecord[],
): Promise<ReadonlyMap<string, string> | null> {
  const branches = [...new Set(open.map(({ branch }) => branch))];
  if (!remote) {
    const found = await Promise.all(
      branches.map(async (branch) => [branch, await resolveRef(repository, `refs/heads/${branch}`)] as const),
    );
    return new Map(found.flatMap(([branch, sha]) => (sha === null ? [] : [[branch, sha] as const])));
  }
  try {
    return await remote.heads(branches);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof RepositoryError)) throw error;
    ctx.log.warn({ reason: error.message }, 'the branches of pull requests are not known');
    return null;
  }
}

const isDue = (pull: PullRequestRecord, base: string, head: string | undefined): boolean =>
  head !== pull.headSha || base !== pull.baseSha || pull.mergeable === 'unknown';

/** Null where nothing can be said. */
async function look(
  { binding, remote }: PassOptions,
  git: LocalGit,
  pull: PullRequestRecord,
  { base, head }: { base: string; head: string | null },
): Promise<Verdict | null> {
  await remote?.meet({ base: binding.ref, head: pull.branch });
  const last = head ?? pull.headSha;
  if (!(await holds(git, [base, last]))) {
    // Of a branch that is gone, only a copy that was made anew does not hold the commit; a server may still have it.
    if (head === null && remote) await remote.fetchCommit(last).catch(() => {});
    if (!(await holds(git, [base, last]))) return head === null ? { state: 'closed' } : null;
  }
  const { mergeBase, conflicts, tree, isIn } = await observeMerge(git, { base, head: last });
  if (isIn) return { state: 'merged', headSha: last, mergeSha: base };
  const earlier =
    mergeBase !== null && (head === null || tree === null)
      ? await cameInEarlier(git, { mergeBase, base, head: last, lookedAt: pull.baseSha })
      : null;
  if (earlier) return { state: 'merged', headSha: last, mergeSha: earlier };
  if (head === null) return { state: 'closed' };
  const mergeable = tree === null ? 'conflict' : 'clean';
  return { state: 'open', headSha: head, baseSha: base, mergeable, conflicts };
}

/** The base may have gone on since on the very lines: then only a commit on the way holds all of it. */
async function cameInEarlier(
  git: LocalGit,
  {
    mergeBase,
    base,
    head,
    lookedAt,
  }: { mergeBase: string; base: string; head: string; lookedAt: string | null },
): Promise<string | null> {
  const known = lookedAt !== null && (await holds(git, [lookedAt])) ? [lookedAt] : [];
  const { stdout } = await git([
    ...['rev-list', '--first-parent', '--reverse', `--max-count=${MOST_STEPS}`],
    ...[base, '--not', mergeBase, ...known],
  ]);
  for (const step of stdout.split('\n').filter((sha) => sha !== '' && sha !== base))
    if ((await holds(git, [step])) && (await observeMerge(git, { base: step, head })).isIn) return step;
  return null;
}

/** Whether one that is over could not be ended: somebody noted another head of it meanwhile, and it is to be looked at again. */
async function write(
  { ctx }: PassOptions,
  seen: readonly { pull: PullRequestRecord; verdict: Verdict }[],
): Promise<boolean> {
  return ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    let overtaken = false;
    for (const { pull, verdict } of seen) {
      const changed =
        verdict.state === 'open'
          ? await notePullRequest(tx, pull.id, verdict)
          : await closePullRequest(tx, pull, {
              state: verdict.state,
              ...(verdict.state === 'merged' ? { mergeSha: verdict.mergeSha, newHead: verdict.headSha } : {}),
            });
      if (changed) await tellOfPullRequest({ ...ctx, db: tx }, pull, 'branches moved');
      else if (verdict.state !== 'open') overtaken = true;
    }
    return overtaken;
  });
}
