/**
 * Brings Headgate's own pull requests up to date with the branches: merged in any way, closed, pushed to, or behind a base
 * that moved. A merge is recognised by content, never by the id of a commit.
 */
import {
  closePullRequest,
  listPullRequests,
  notePullRequest,
  notifyPullRequest,
  type PullRequestRecord,
  pullRequestsOf,
} from '../../../controller/delivery/pull-requests/index.ts';
import { RepositoryError } from '../../../controller/delivery/repository/index.ts';
import { type LocalGit, localGit } from '../../merge/local-git.ts';
import { observeMerge } from '../../merge/merge-result.ts';
import { hasCommits } from '../../merge/workspace.ts';
import { resolveRef } from '../../source/index.ts';
import type { PassOptions } from '../pass-types.ts';
import type { PassMemory } from '../read/pass-memory.ts';

/** Pull requests in one pass: applying must not wait for more. */
const MAX_PULLS = { embedded: 20, remote: 5 };
/** Commits of the base that are searched for the one that merged a pull request. */
const MAX_STEPS = 50;

type Verdict =
  | ({ state: 'open' } & Parameters<typeof notePullRequest>[2])
  | { state: 'merged'; headSha: string; mergeSha: string }
  | { state: 'closed' };

/**
 * `base` is the commit of the bound branch. Only pull requests whose branches have moved are examined. True where more are
 * due than one pass examines.
 */
export async function settleProposals(
  options: PassOptions,
  base: string,
  memory: PassMemory,
): Promise<boolean> {
  const { ctx, binding, repository } = options;
  // The forge reports the state of its own pull requests.
  if (binding.forge !== 'none') return false;
  const open = await listPullRequests(ctx.db, pullRequestsOf(binding), { state: 'open' });
  if (open.length === 0) return false;
  // All environments of a repository come here at the same time. One is enough: it writes for all of them.
  const key = `${repository.gitdir}\0${binding.ref}\0${base}`;
  if (settling.has(key)) return false;
  settling.add(key);
  try {
    return await settle(options, base, memory, open);
  } finally {
    settling.delete(key);
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
  // The rows too: who pushes writes a head later, and it may be an earlier one than that of the last pass.
  const now = JSON.stringify([base, open.map(({ id, branch, headSha }) => [id, headSha, heads.get(branch)])]);
  if (memory.proposals === now) return false;
  const git = localGit(repository.gitdir, signal);
  const due = open.filter((pull) => isDue(pull, base, heads.get(pull.branch)));
  const seen: { pull: PullRequestRecord; verdict: Verdict }[] = [];
  const most = remote ? MAX_PULLS.remote : MAX_PULLS.embedded;
  let failed = 0;
  for (const pull of due) {
    if (seen.length === most) break;
    try {
      const verdict = await examine(options, git, pull, { base, head: heads.get(pull.branch) ?? null });
      if (verdict) seen.push({ pull, verdict });
      else failed += 1;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RepositoryError)) throw error;
      failed += 1;
      ctx.log.warn({ number: pull.number, reason: error.message }, 'a pull request could not be examined');
    }
  }
  const overtaken = seen.length > 0 && (await write(options, seen));
  const isMore = overtaken || due.length > seen.length + failed;
  memory.proposals = isMore || failed > 0 ? '' : now;
  return isMore;
}

/** The heads of the branches in the repository itself, not in a copy; null where they cannot be read now. */
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
    ctx.log.warn({ reason: error.message }, 'the branches of pull requests cannot be read');
    return null;
  }
}

const isDue = (pull: PullRequestRecord, base: string, head: string | undefined): boolean =>
  head !== pull.headSha || base !== pull.baseSha || pull.mergeable === 'unknown';

/** Null where the commits are not at hand. */
async function examine(
  { binding, remote }: PassOptions,
  git: LocalGit,
  pull: PullRequestRecord,
  { base, head }: { base: string; head: string | null },
): Promise<Verdict | null> {
  await remote?.meet({ base: binding.ref, head: pull.branch });
  const last = head ?? pull.headSha;
  if (!(await hasCommits(git, [base, last]))) {
    // A new copy does not hold the last commit of a deleted branch; the server may still have it.
    if (head === null && remote) await remote.fetchCommit(last).catch(() => {});
    if (!(await hasCommits(git, [base, last]))) return head === null ? { state: 'closed' } : null;
  }
  const { mergeBase, conflicts, tree, isIn } = await observeMerge(git, { base, head: last });
  if (isIn) return { state: 'merged', headSha: last, mergeSha: base };
  const earlier =
    mergeBase !== null && (head === null || tree === null)
      ? await findMergeCommit(git, { mergeBase, base, head: last, examinedBase: pull.baseSha })
      : null;
  if (earlier) return { state: 'merged', headSha: last, mergeSha: earlier };
  if (head === null) return { state: 'closed' };
  const mergeable = tree === null ? 'conflict' : 'clean';
  return { state: 'open', headSha: head, baseSha: base, mergeable, conflicts };
}

/** Later commits of the base may have changed the merged lines again: then only a commit on the way holds all of them. */
async function findMergeCommit(
  git: LocalGit,
  {
    mergeBase,
    base,
    head,
    examinedBase,
  }: { mergeBase: string; base: string; head: string; examinedBase: string | null },
): Promise<string | null> {
  const known = examinedBase !== null && (await hasCommits(git, [examinedBase])) ? [examinedBase] : [];
  const { stdout } = await git([
    ...['rev-list', '--first-parent', '--reverse', `--max-count=${MAX_STEPS}`],
    ...[base, '--not', mergeBase, ...known],
  ]);
  for (const step of stdout.split('\n').filter((sha) => sha !== '' && sha !== base))
    if ((await hasCommits(git, [step])) && (await observeMerge(git, { base: step, head })).isIn) return step;
  return null;
}

/** True where a pull request could not be ended because its head changed meanwhile: it has to be examined again. */
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
      if (changed) await notifyPullRequest({ ...ctx, db: tx }, pull, 'branches moved');
      else if (verdict.state !== 'open') overtaken = true;
    }
    return overtaken;
  });
}
