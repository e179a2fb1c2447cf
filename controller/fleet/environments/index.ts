export * as environmentOperations from './operations.ts';
export { SOURCE_DELETED_JOB } from './operations.ts';
export { effectiveRedactKeys } from './redact-keys.ts';
export {
  bumpConfigRevision,
  findEnvironment,
  findEnvironmentsNamed,
  lockEnvironment,
  visibleEnvironments,
} from './store.ts';
export { deleteOldEnrollmentTokens } from './token-retention-store.ts';
