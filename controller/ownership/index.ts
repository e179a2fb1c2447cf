export { Converged, convergeInput, convergeOperation, outcomeOf } from './converge.ts';
export { describedInGit, type EditableRow, lockEditable } from './editing.ts';
export { PURGE_JOB, pruneOperation, TOMBSTONE_HOURS } from './prune.ts';
export {
  type ColumnTypes,
  lockClaimed,
  lockRow,
  namesOwnedByUi,
  OWNED_TABLES,
  type OwnedRow,
  type OwnedTable,
  type OwnedWrite,
  purgeTombstone,
  releaseFromGit,
  takeObjectChanges,
  writeAsReconciler,
  writeOwned,
} from './store.ts';
