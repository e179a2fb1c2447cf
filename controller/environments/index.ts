export * as environmentOperations from './operations.ts';
export { bumpConfigRevision, findEnvironment, lockEnvironment, visibleEnvironments } from './store.ts';
