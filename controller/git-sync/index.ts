export * as gitSyncOperations from './operations.ts';
export {
  type Binding,
  deleteManifests,
  findBinding,
  finishJobs,
  type GitMode,
  hasPendingJobs,
  type ImportErrorWrite,
  type InventoryRecord,
  insertPendingJob,
  type JobResult,
  listBindings,
  type ManifestRecord,
  readInventory,
  replaceImportErrors,
  updateBindingStatus,
  upsertManifests,
} from './store.ts';
