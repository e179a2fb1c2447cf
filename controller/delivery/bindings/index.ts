export { datedCommit } from './commit-text.ts';
export * as gitSyncDrift from './drift/drift.ts';
export { operatorOf } from './environment-binding.ts';
export * as gitSyncToGit from './export-operation.ts';
export * as gitSyncForge from './forge/check-forge.ts';
export type { ForgeGateway } from './forge/forge-gateway.ts';
export { openForgeToken } from './forge/forge-secrets.ts';
export type {
  GitGateway,
  NewManifest,
  OwnedChange,
  PlainManifest,
  RolledBack,
  Written,
  WrittenProposal,
} from './gateway.ts';
export { gateEnds, type ManifestCounts, UNBOUND } from './inventory/gate-ends.ts';
export {
  deleteManifests,
  type ImportErrorWrite,
  type InventoryRecord,
  isUnrecordedRename,
  listFaults,
  type ManifestRecord,
  readInventory,
  readLine,
  recordRenames,
  replaceImportErrors,
  upsertManifests,
} from './inventory/inventory-store.ts';
export {
  findObject,
  listObjects,
  type StoredConfig,
  type StoredObject,
  type StoredPipeline,
  type StoredSilence,
  type StoredWebhookEndpoint,
} from './inventory/objects-queries.ts';
export { readManifestStatus, readSyncStatus } from './inventory/sync-status.ts';
export {
  allCounts,
  finishJobs,
  insertPendingJob,
  type JobQueue,
  type JobResult,
  readJobQueue,
  reportOfPass,
  type SkippedCommits,
} from './jobs/jobs-store.ts';
export * as gitSyncRetries from './jobs/retry-operations.ts';
export * as gitSyncOperations from './operations.ts';
export * as gitSyncApprovals from './overrides/approve-plan.ts';
export * as gitSyncHolds from './overrides/hold-operations.ts';
export { deleteReleasedHolds } from './overrides/hold-retention-store.ts';
export { gitSyncOrphan } from './overrides/orphan-job.ts';
export * as gitSyncOverrides from './overrides/override-operations.ts';
export {
  beginApproved,
  deleteOverrides,
  dropApprovals,
  findApproval,
  type HoldRecord,
  listHolds,
  type OverrideRecord,
  readStoredOperatorInput,
  renameHolds,
  type StoredOperatorInput,
} from './overrides/overrides-store.ts';
export { BindingChangedError, fenceBinding } from './pass-locks-store.ts';
export * as gitSyncPlanning from './plan-operation.ts';
export { intervalOf, type ManifestPolicy, type PolicyParts, policiesOf } from './policy/policy.ts';
export { describePolicy } from './policy/policy-text.ts';
export { pullRequestSettings, VARIABLE } from './policy/pull-request-settings.ts';
export { gitPageUrl } from './remote-setting.ts';
export { gitSyncProposeRollback } from './rollback-job.ts';
export { setForgeError, updateBindingStatus, updateRedirect, type WaitingPlan } from './status-store.ts';
export {
  type Binding,
  environmentsBeside,
  type ForgeChoice,
  type ForgeError,
  findBinding,
  type GitMode,
  listBindings,
} from './store.ts';
export { type Admitted, openWebhook } from './webhooks/open-webhook.ts';
export { deleteOldDeliveries } from './webhooks/webhook-store.ts';
