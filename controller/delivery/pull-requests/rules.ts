/** Identity may review and merge a pull request that Headgate keeps itself, and what blocks that. Pure. */
import {
  conflict,
  type DomainError,
  forbidden,
  preconditionFailed,
} from '../../platform/operation/errors.ts';
import type { ReviewRecord } from './comments-store.ts';
import type { MergeState } from './gateway.ts';
import type { PullRequestRecord } from './store.ts';

export interface Identity {
  id: string | null;
  name: string;
}

type Written = Pick<PullRequestRecord, 'author' | 'authorId' | 'contributorIds' | 'headSha'>;
type Pull = Written &
  Pick<
    PullRequestRecord,
    'number' | 'forge' | 'url' | 'state' | 'isDraft' | 'base' | 'mergeable' | 'conflicts'
  >;
type Review = Pick<ReviewRecord, 'reviewer' | 'reviewerId' | 'verdict' | 'headSha' | 'isEditor'>;

/** Names are compared only without ids: the account is gone, or the actor is not a user. */
const isSame = (one: Identity, other: Identity): boolean =>
  one.id !== null && other.id !== null ? one.id === other.id : one.id === other.id && one.name === other.name;

const authorOf = ({ author, authorId }: Written): Identity => ({ id: authorId, name: author });
const reviewerOf = ({ reviewer, reviewerId }: Review): Identity => ({ id: reviewerId, name: reviewer });

/** Whether the branch holds work of this user, besides the author's. */
const isContributor = ({ contributorIds }: Written, { id }: Identity): boolean =>
  id !== null && contributorIds.includes(id);

/**
 * The last review of each reviewer, if it is for the present head. Reviews by those who wrote the changes do not count, nor by
 * those who may not review them any more.
 */
export function latestReviews<R extends Review>(pull: Written, reviews: readonly R[]): R[] {
  const last: R[] = [];
  for (const review of reviews) {
    const reviewer = reviewerOf(review);
    if (!review.isEditor || isSame(reviewer, authorOf(pull)) || isContributor(pull, reviewer)) continue;
    const at = last.findIndex((review) => isSame(reviewerOf(review), reviewer));
    if (at < 0) last.push(review);
    else last[at] = review;
  }
  return last.filter(({ headSha }) => headSha === pull.headSha);
}

export const approvalsOf = (pull: Written, reviews: readonly Review[]): number =>
  latestReviews(pull, reviews).filter(({ verdict }) => verdict === 'approve').length;

/** The refusal when the pull request lives on a forge; null when Headgate keeps it itself. */
export function forgeRefusal({ forge, url, number }: Pull): DomainError | null {
  if (forge === 'headgate') return null;
  return preconditionFailed(url ? `Do it at ${url}` : `Do it on ${forge}, where #${number} lives`);
}

function notOpen({ number, state }: Pull): DomainError | null {
  if (state === 'open') return null;
  return preconditionFailed(
    state === 'merged' ? `#${number} is merged already` : `#${number} is closed; reopen it first`,
  );
}

export const notEditor = (): DomainError =>
  forbidden('This needs the role EDITOR in every team with an environment bound to this repository');

export const notAlone = (base: string): DomainError =>
  forbidden(`Other environments follow "${base}" too, and this key works in one; somebody has to merge it`);

export function reviewRefusal(
  pull: Pull,
  { who, isEditor }: { who: Identity; isEditor: boolean },
): DomainError | null {
  return (
    forgeRefusal(pull) ??
    notOpen(pull) ??
    (isEditor ? null : forbidden('This needs the role EDITOR in the team')) ??
    (isSame(who, authorOf(pull))
      ? forbidden('You opened it, so somebody else has to review it; write a comment instead')
      : isContributor(pull, who)
        ? forbidden('Some of it is your own work, so somebody else has to review it; write a comment instead')
        : null)
  );
}

export interface MergeFacts {
  reviews: readonly Review[];
  requiredApprovals: number;
  /** EDITOR in every team of the repository. */
  mayPush: boolean;
}

export function mergeRefusal(
  pull: Pull,
  { reviews, requiredApprovals, mayPush }: MergeFacts,
): DomainError | null {
  const first = forgeRefusal(pull) ?? notOpen(pull) ?? (mayPush ? null : notEditor());
  if (first) return first;
  if (pull.isDraft) return preconditionFailed('It is a draft; its author has to mark it as ready');
  const latest = latestReviews(pull, reviews);
  const rejection = latest.find(({ verdict }) => verdict === 'request-changes');
  if (rejection)
    return preconditionFailed(
      `${rejection.reviewer} has asked for changes; push them to the branch, or ask ${rejection.reviewer} to approve it`,
    );
  const approvals = latest.length;
  if (approvals < requiredApprovals)
    return preconditionFailed(
      `It has ${approvals} of ${requiredApprovals} approvals at this commit; ask others than its author to review it`,
    );
  return pull.mergeable === 'conflict' ? conflictRefusal(pull) : null;
}

const MAX_FILES = 5;

/** The refusal of a merge with conflicts, the same for every kind of merge. */
export function conflictRefusal({ base, conflicts }: Pick<Pull, 'base' | 'conflicts'>): DomainError {
  const more = conflicts.length > MAX_FILES ? ` and ${conflicts.length - MAX_FILES} more` : '';
  const files = conflicts.length === 0 ? '' : ` in ${conflicts.slice(0, MAX_FILES).join(', ')}${more}`;
  return conflict(
    `It conflicts with ${base}${files}; merge ${base} into the branch, resolve the conflicts and push`,
  );
}

/** @throws PRECONDITION_FAILED when there is nothing to merge */
export function mergeable(state: MergeState | null, branch: string, base: string): MergeState {
  if (!state) throw preconditionFailed(`The repository has no branch "${branch}"; push it first`);
  if (state.mergeBase === null)
    throw preconditionFailed(`"${branch}" and "${base}" have no history in common; begin it at "${base}"`);
  if (state.isIn) throw preconditionFailed(`Everything of "${branch}" is in "${base}" already`);
  if (state.changesNothing) throw preconditionFailed(`"${branch}" changes no file; push a commit that does`);
  return state;
}
