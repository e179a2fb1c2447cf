export { dated as datedCommit } from './commit-text.ts';
export { gateEnds, type ManifestCounts, UNBOUND } from './gate-ends.ts';
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
export { type Binding, findBinding, type GitMode, listBindings, updateBindingStatus } from './store.ts';
