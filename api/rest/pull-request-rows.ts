/** Pull requests against the branch that the key's environment follows, for bots. */
import {
  pullRequestChanging,
  pullRequestEnding,
  pullRequestOperations,
} from '../../controller/delivery/pull-requests/index.ts';
import { ChangedPullRequest, MergedPullRequest } from '../../schemas/api/delivery/pull-requests.ts';
import { NewMerge, NewReview, PullBody, PullsBody, PullsQuery } from '../../schemas/api/rest.ts';
import { decodeCursor, nextOf } from './paging.ts';
import { numberOf, type RestRequest, type RestRow, row } from './row.ts';

const PULLS = 'pullRequests';

const which = (request: RestRequest) => ({
  environmentId: request.environmentId,
  number: numberOf(request),
});

export const PULL_REQUEST_ROWS: readonly RestRow[] = [
  row({
    method: 'GET',
    path: '/pulls',
    operationId: 'listPullRequests',
    tag: 'Pull requests',
    summary: 'List the pull requests, newest first',
    operation: pullRequestOperations.list,
    query: PullsQuery,
    response: PullsBody,
    input: ({ environmentId, query: { cursor, ...query } }) => ({
      environmentId,
      ...query,
      ...(cursor === undefined ? {} : { before: Number(decodeCursor(PULLS, cursor)) }),
    }),
    output: (pullRequests, { query }) => ({
      pullRequests,
      ...nextOf(PULLS, pullRequests, query, { otherwise: 50, key: ({ number }) => String(number) }),
    }),
  }),
  row({
    method: 'GET',
    path: '/pulls/{number}',
    operationId: 'getPullRequest',
    tag: 'Pull requests',
    summary: 'One pull request: its check, reviews and commits, and what stands in the way of a merge',
    operation: pullRequestOperations.get,
    response: PullBody,
    input: which,
    output: (pullRequest) => ({ pullRequest }),
  }),
  row({
    method: 'POST',
    path: '/pulls/{number}/reviews',
    operationId: 'reviewPullRequest',
    tag: 'Pull requests',
    summary: 'Approve a pull request, or ask for changes',
    description:
      'Of the commit that was looked at. It is shown beside those of people, and counts neither for nor against the approvals that a merge needs: those are people’s.',
    operation: pullRequestChanging.review,
    body: NewReview,
    response: ChangedPullRequest,
    input: (request) => ({ ...request.body, ...which(request) }),
    output: (changed) => changed,
  }),
  row({
    method: 'POST',
    path: '/pulls/{number}/merge',
    operationId: 'mergePullRequest',
    tag: 'Pull requests',
    summary: 'Merge a pull request at the commit that was looked at',
    description:
      '412 where approvals are missing or it lives on a forge, 403 where other environments follow the branch too, 409 where the branch moved or conflicts.',
    operation: pullRequestEnding.merge,
    body: NewMerge,
    response: MergedPullRequest,
    input: (request) => ({ ...request.body, ...which(request) }),
    output: (merged) => merged,
  }),
];
