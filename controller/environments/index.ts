export * as environmentOperations from './operations.ts';
export { effectiveRedactKeys } from './redact-keys.ts';
export { bumpConfigRevision, findEnvironment, lockEnvironment, visibleEnvironments } from './store.ts';
