export { Converged, convergeInput, convergeOperation, outcomeOf } from './converge.ts';
export { lockHolding, ROLLED_BACK_JOB } from './holds-store.ts';
export {
  assertEditable,
  describedInGit,
  type EditableRow,
  lockEditable,
  lockHandmade,
} from './lock-editable.ts';
export { PURGE_JOB, pruneOperation, TOMBSTONE_HOURS } from './prune.ts';
export { purgeOldTombstones, thinObjectChanges } from './retention-store.ts';
export {
  type ColumnTypes,
  deleteObjectChanges,
  hasObjectChanges,
  lockClaimed,
  lockRow,
  namesOwnedByUi,
  OWNED_TABLES,
  type OwnedRow,
  type OwnedTable,
  type OwnedWrite,
  purgeTombstone,
  releaseFromGit,
  writeAsReconciler,
  writeOwned,
} from './store.ts';
export { giveToUi, listOwnedByUi, TABLE_OF, type UiOwned } from './ui-objects-store.ts';
