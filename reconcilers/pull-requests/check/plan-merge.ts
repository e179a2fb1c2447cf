/** What one open pull request would do to one environment: the plan of its merge, or the reason why there is none. */
import { createHash } from 'node:crypto';
import type { Binding } from '../../../controller/delivery/bindings/index.ts';
import type { PullRequestRecord } from '../../../controller/delivery/pull-requests/index.ts';
import { RepositoryError, type RepositoryHandle } from '../../../controller/delivery/repository/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { DomainError, messageOf } from '../../../controller/platform/operation/errors.ts';
import type { GitPlan } from '../../../schemas/api/delivery/git-plan.ts';
import { ForgeError } from '../../forges/forge.ts';
import { mergeResult } from '../../merge/merge-result.ts';
import type { Planner } from '../../plan-view/index.ts';
import { GitRepositoryError, type Repository, readCommit, type SourceCache } from '../../source/index.ts';
import { conflictVerdict, oneLine, type Verdict, verdictOfPlan } from './check-messages.ts';
import { checkFork } from './fork-check.ts';

export interface Planning {
  ctx: Context;
  binding: Binding;
  handle: RepositoryHandle;
  repository: Repository;
  cache: SourceCache;
  planner: Pick<Planner, 'planOfCommit'>;
  /** The head of the bound branch. */
  baseSha: string;
  /** Names of the environment's secrets and certificates. */
  secrets: ReadonlySet<string>;
  /** Faults that the bound branch already has, by `faultKey`. */
  faultsBefore: ReadonlySet<string>;
  /** The ref of a fork's head; null where the forge offers none. */
  forkRef(pull: PullRequestRecord): string | null;
  /** For work that waits for servers. */
  aside<T>(work: () => Promise<T>): Promise<T>;
}

export interface Planned extends Verdict {
  plan: GitPlan | null;
  reason: string | null;
  /** Null where they are not known. */
  conflicts: string[] | null;
}

/** A digest of everything that the plan depends on: it is planned again when the digest changes. */
export function inputsOf(
  { binding, baseSha, secrets, faultsBefore }: Planning,
  pull: PullRequestRecord,
): string {
  const { revision, path, sharedPaths, manifestPolicy, begunAt, rewrittenCommit, appliedCommit } = binding;
  const of = pull.isFork
    ? ['fork', pull.headSha, path, sharedPaths]
    : [
        ...['merge', pull.headSha, baseSha, revision, sorted(manifestPolicy), begunAt !== null],
        ...[rewrittenCommit, appliedCommit?.sha ?? null, [...secrets].sort(), [...faultsBefore].sort()],
      ];
  return createHash('sha256').update(JSON.stringify(of)).digest('hex');
}

/** jsonb returns keys in its own order. */
const sorted = (value: object): string =>
  JSON.stringify(value, (_, part) =>
    part && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/** Throws only where it was aborted. */
export async function planned(planning: Planning, pull: PullRequestRecord): Promise<Planned> {
  const { ctx } = planning;
  try {
    return pull.isFork ? await ofFork(planning, pull) : await ofMerge(planning, pull);
  } catch (error) {
    ctx.signal.throwIfAborted();
    const known = [DomainError, RepositoryError, GitRepositoryError, ForgeError].some(
      (type) => error instanceof type,
    );
    ctx.log.warn(
      { environment: planning.binding.environmentName, number: pull.number, reason: messageOf(error) },
      'a pull request could not be planned',
    );
    const why = known ? messageOf(error) : "of a fault of the controller's; its log says which";
    return {
      ...{ state: 'error', summary: oneLine(`no plan: ${why}`), plan: null, conflicts: null },
      reason: `It could not be planned: ${why}\nIt is tried again by itself.`,
    };
  }
}

async function ofMerge(planning: Planning, pull: PullRequestRecord): Promise<Planned> {
  const { ctx, binding, handle, repository, planner, aside } = planning;
  if (handle.kind === 'remote' && !(await holds(repository, pull.headSha)))
    await aside(() => handle.meet({ base: binding.ref, head: pull.branch }, ctx.signal));
  await assertHolds(repository, pull);
  const ends = { base: planning.baseSha, head: pull.headSha };
  let merge = await mergeResult(handle.gitdir, ends, ctx.signal);
  if (handle.kind === 'remote' && merge.mergeBase === null) {
    // The copy held both commits, but not their common history.
    await aside(() => handle.meet({ base: binding.ref, head: pull.branch }, ctx.signal));
    merge = await mergeResult(handle.gitdir, ends, ctx.signal);
  }
  const { mergeBase, conflicts, commit } = merge;
  const without = (verdict: Verdict, reason: string): Planned => ({
    ...{ ...verdict, reason, plan: null, conflicts },
  });
  if (mergeBase === null)
    return without(
      { state: 'failure', summary: oneLine(`has no history in common with ${binding.ref}`) },
      `The branch was not made from ${binding.ref}; create it from there again.`,
    );
  if (commit === null)
    return without(
      conflictVerdict(binding.ref, conflicts),
      `Both ${binding.ref} and ${pull.branch} changed these files in ways that do not go together; bring ${binding.ref} into the branch, and settle them there:\n${conflicts.slice(0, 50).join('\n')}`,
    );
  if (merge.isIn)
    return without(
      { state: 'success', summary: oneLine(`all of it is in ${binding.ref} already`) },
      `Nothing is left to merge: ${binding.ref} holds all of it.`,
    );
  const plan = await planner.planOfCommit(ctx, binding, { repository, commit });
  return { ...verdictOfPlan(plan, planning.faultsBefore), plan, reason: null, conflicts };
}

async function ofFork(planning: Planning, pull: PullRequestRecord): Promise<Planned> {
  const { ctx, binding, handle, repository, cache, aside } = planning;
  if (handle.kind === 'remote' && !(await holds(repository, pull.headSha))) {
    if (planning.forkRef(pull) === null)
      return {
        ...{ state: 'error', summary: 'not checked: the forge hands out no head of a fork' },
        ...{ plan: null, conflicts: null },
        reason:
          'The forge hands out no head of a pull request from another repository. A user who trusts it can push it to a branch of this one.',
      };
    await aside(() => handle.fetch(ctx.signal, pull.headSha));
  }
  await assertHolds(repository, pull);
  const checked = await checkFork(repository, pull.headSha, binding, cache);
  return { ...checked, plan: null, conflicts: null };
}

async function holds(repository: Repository, sha: string): Promise<boolean> {
  try {
    await readCommit(repository, sha);
    return true;
  } catch (error) {
    if (error instanceof GitRepositoryError) return false;
    throw error;
  }
}

async function assertHolds(repository: Repository, { headSha, branch }: PullRequestRecord): Promise<void> {
  if (await holds(repository, headSha)) return;
  throw new RepositoryError(
    'not-found',
    `the repository has no commit ${headSha.slice(0, 7)} on "${oneLine(branch, 100)}"; it was pushed to meanwhile, or is gone`,
  );
}
