export * as gitSyncApprovals from './approvals.ts';
export { speakerOf } from './bound.ts';
export { dated as datedCommit } from './commit-text.ts';
export * as gitSyncDrift from './drift.ts';
export type { ForgeGateway } from './forge-gateway.ts';
export * as gitSyncForge from './forge-operations.ts';
export { openForgeToken } from './forge-secrets.ts';
export { gateEnds, type ManifestCounts, UNBOUND } from './gate-ends.ts';
export type { GitGateway, OwnedChange, PlainManifest, RolledBack, Written } from './gateway.ts';
export * as gitSyncHolds from './holds.ts';
export {
  deleteManifests,
  followNames,
  type ImportErrorWrite,
  type InventoryRecord,
  isLeftBehind,
  listFaults,
  type ManifestRecord,
  readInventory,
  readLine,
  replaceImportErrors,
  upsertManifests,
} from './inventory-store.ts';
export {
  allCounts,
  finishJobs,
  insertPendingJob,
  type JobQueue,
  type JobResult,
  readJobQueue,
  reportOfPass,
  type SkippedCommits,
} from './jobs-store.ts';
export {
  findObject,
  listObjects,
  type StoredConfig,
  type StoredObject,
  type StoredPipeline,
} from './objects-queries.ts';
export * as gitSyncOperations from './operations.ts';
export { gitSyncOrphan } from './orphan.ts';
export * as gitSyncPlanning from './planning.ts';
export { intervalOf, type ManifestPolicy, type PolicyParts, policiesOf } from './policy.ts';
export { policyWords } from './policy-words.ts';
export { pullRequestSettings, VARIABLE } from './pull-request-settings.ts';
export { gitPageUrl } from './remote.ts';
export { deleteReleasedHolds } from './retention-store.ts';
export * as gitSyncRetries from './retries.ts';
export { gitSyncProposeRollback } from './rolled-back.ts';
export {
  type Binding,
  BindingChangedError,
  environmentsBeside,
  type ForgeChoice,
  type ForgeTrouble,
  fenceBinding,
  findBinding,
  type GitMode,
  listBindings,
  setForgeTrouble,
  updateBindingStatus,
  updateRedirect,
  type WaitingPlan,
} from './store.ts';
export { readManifestStatus, readSyncStatus } from './sync-status.ts';
export * as gitSyncToGit from './to-git.ts';
export { deleteOldDeliveries } from './webhook-store.ts';
export { type Admitted, openWebhook } from './webhooks.ts';
export * as gitSyncWords from './words.ts';
export {
  beginApproved,
  deleteWords,
  dropApprovals,
  findApproval,
  type HoldRecord,
  listHolds,
  readSpoken,
  renameHolds,
  type Spoken,
  type WordRecord,
} from './words-store.ts';
