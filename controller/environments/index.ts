export * as environmentOperations from './operations.ts';
export { bumpConfigRevision, findEnvironment, visibleEnvironments } from './store.ts';
