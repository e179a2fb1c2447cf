/** Who may review and merge a pull request that is kept here, and what stands in the way. Pure. */
import {
  conflict,
  type DomainError,
  forbidden,
  preconditionFailed,
} from '../../platform/operation/errors.ts';
import type { ReviewRecord } from './comments-store.ts';
import type { MergeState } from './gateway.ts';
import type { PullRequestRecord } from './store.ts';

export interface Who {
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

/** Names are compared only where an id is missing: of an account that is gone, or that is no user's. */
const isSame = (one: Who, other: Who): boolean =>
  one.id !== null && other.id !== null ? one.id === other.id : one.id === other.id && one.name === other.name;

const authorOf = ({ author, authorId }: Written): Who => ({ id: authorId, name: author });
const reviewerOf = ({ reviewer, reviewerId }: Review): Who => ({ id: reviewerId, name: reviewer });

/** Whose work it holds, besides the author's. */
const hasAddedTo = ({ contributorIds }: Written, { id }: Who): boolean =>
  id !== null && contributorIds.includes(id);

/**
 * The last word of each reviewer, where it is about the head as it is now. What those say who wrote it counts nothing, nor
 * what somebody said who may not review it any more.
 */
export function latestReviews<R extends Review>(pull: Written, reviews: readonly R[]): R[] {
  const last: R[] = [];
  for (const review of reviews) {
    const reviewer = reviewerOf(review);
    if (!review.isEditor || isSame(reviewer, authorOf(pull)) || hasAddedTo(pull, reviewer)) continue;
    const at = last.findIndex((one) => isSame(reviewerOf(one), reviewer));
    if (at < 0) last.push(review);
    else last[at] = review;
  }
  return last.filter(({ headSha }) => headSha === pull.headSha);
}

export const approvalsOf = (pull: Written, reviews: readonly Review[]): number =>
  latestReviews(pull, reviews).filter(({ verdict }) => verdict === 'approve').length;

/** Why nothing of it can be changed here; null where it can. */
export function elsewhere({ forge, url, number }: Pull): DomainError | null {
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
  { who, isEditor }: { who: Who; isEditor: boolean },
): DomainError | null {
  return (
    elsewhere(pull) ??
    notOpen(pull) ??
    (isEditor ? null : forbidden('This needs the role EDITOR in the team')) ??
    (isSame(who, authorOf(pull))
      ? forbidden('You opened it, so somebody else has to review it; write a comment instead')
      : hasAddedTo(pull, who)
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
  const first = elsewhere(pull) ?? notOpen(pull) ?? (mayPush ? null : notEditor());
  if (first) return first;
  if (pull.isDraft) return preconditionFailed('It is a draft; its author has to say that it is ready');
  const standing = latestReviews(pull, reviews);
  const against = standing.find(({ verdict }) => verdict === 'request-changes');
  if (against)
    return preconditionFailed(
      `${against.reviewer} has asked for changes; push them to the branch, or ask ${against.reviewer} to approve it`,
    );
  const approvals = standing.length;
  if (approvals < requiredApprovals)
    return preconditionFailed(
      `It has ${approvals} of ${requiredApprovals} approvals at this commit; ask others than its author to review it`,
    );
  return pull.mergeable === 'conflict' ? conflictRefusal(pull) : null;
}

const NAMED = 5;

/** The same sentence wherever a merge is tried. */
export function conflictRefusal({ base, conflicts }: Pick<Pull, 'base' | 'conflicts'>): DomainError {
  const more = conflicts.length > NAMED ? ` and ${conflicts.length - NAMED} more` : '';
  const files = conflicts.length === 0 ? '' : ` in ${conflicts.slice(0, NAMED).join(', ')}${more}`;
  return conflict(
    `It conflicts with ${base}${files}; merge ${base} into the branch, resolve the conflicts and push`,
  );
}

/** @throws PRECONDITION_FAILED where there is nothing to merge. */
export function mergeable(standing: MergeState | null, branch: string, base: string): MergeState {
  if (!standing) throw preconditionFailed(`The repository has no branch "${branch}"; push it first`);
  if (standing.mergeBase === null)
    throw preconditionFailed(`"${branch}" and "${base}" have no history in common; begin it at "${base}"`);
  if (standing.isIn) throw preconditionFailed(`Everything of "${branch}" is in "${base}" already`);
  if (standing.changesNothing)
    throw preconditionFailed(`"${branch}" changes no file; push a commit that does`);
  return standing;
}
