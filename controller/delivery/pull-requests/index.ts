export { notifyPullRequest } from './access.ts';
export {
  AlreadyOpenError,
  closePullRequest,
  endPullRequest,
  insertPullRequest,
  type MirroredPullRequest,
  mirrorPullRequest,
  type NewPullRequest,
  notePullRequest,
  updatePullRequest,
} from './changes-store.ts';
export {
  type Check,
  type CheckRecord,
  databaseTime,
  type KnownCheck,
  knownChecks,
  listChecks,
  markPending,
  markPublished,
  type NewCheck,
  readCheck,
  saveCheck,
} from './checks-store.ts';
export { insertComment } from './comments-store.ts';
export {
  type CommitStatus,
  commitStatusOf,
  type KnownCommitStatus,
  listCommitStatuses,
  markCommitStatusPublished,
  saveCommitStatus,
  sweepCommitStatuses,
} from './commit-statuses-store.ts';
export * as pullRequestChanging from './edit-operations.ts';
export type { Merge, Merged, MergeState, PullRequestGateway } from './gateway.ts';
export * as pullRequestEnding from './merge-operations.ts';
export * as pullRequestOperations from './operations.ts';
export { forgeOf, projectOf, pullRequestsOf, pullRequestUrl } from './repository-of-binding.ts';
export {
  type BoundBranch,
  isProtectedByOthers,
  listBoundBranches,
  protectedBranches,
  teamsOf,
} from './repository-queries.ts';
export { clearOldPlans, deleteOldMirrored } from './retention-store.ts';
export { conflictRefusal } from './rules.ts';
export {
  addContributor,
  claimBranch,
  findByNumber,
  findOpen,
  findOwnProposal,
  findPullRequest,
  isBranchInUse,
  listPullRequests,
  listUnsettledBranches,
  lockPullRequest,
  type PullRequestRecord,
  type PullRequestState,
  type PullRequestsOf,
  releaseBranch,
} from './store.ts';
