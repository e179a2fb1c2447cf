export { forgeOf, pullRequestsOf, pullRequestUrl } from './bound.ts';
export type { Merge, PullRequestGateway, Standing } from './gateway.ts';
export * as pullRequestOperations from './operations.ts';
export {
  closePullRequest,
  findByNumber,
  findOwnProposal,
  findPullRequest,
  insertPullRequest,
  listPullRequests,
  lockPullRequest,
  type MirroredPullRequest,
  mirrorPullRequest,
  type NewPullRequest,
  type PullRequestRecord,
  type PullRequestState,
  type PullRequestsOf,
  updatePullRequest,
} from './store.ts';
