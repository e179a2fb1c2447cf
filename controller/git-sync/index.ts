export { dated as datedCommit } from './commit-text.ts';
export { gateEnds, type ManifestCounts, UNBOUND } from './gate-ends.ts';
export type { GitGateway, OwnedChange, PlainManifest } from './gateway.ts';
export {
  deleteManifests,
  followNames,
  type ImportErrorWrite,
  type InventoryRecord,
  isLeftBehind,
  type ManifestRecord,
  readInventory,
  replaceImportErrors,
  upsertManifests,
} from './inventory-store.ts';
export {
  allCounts,
  finishJobs,
  insertPendingJob,
  type JobResult,
  pendingJobs,
  recordSkipped,
  reportOfPass,
} from './jobs-store.ts';
export * as gitSyncOperations from './operations.ts';
export { intervalOf, type ManifestPolicy, type PolicyParts, policiesOf } from './policy.ts';
export {
  type Binding,
  findBinding,
  type GitMode,
  listBindings,
  updateBindingStatus,
  type WaitingPlan,
} from './store.ts';
