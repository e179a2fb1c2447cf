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
} from './inventory.ts';
export {
  finishJobs,
  insertPendingJob,
  type JobResult,
  pendingJobs,
  recordSkipped,
  reportOfPass,
} from './jobs.ts';
export * as gitSyncOperations from './operations.ts';
export { type Binding, findBinding, type GitMode, listBindings, updateBindingStatus } from './store.ts';
