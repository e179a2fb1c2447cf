export * as analyticsOperations from './operations.ts';
export { costOf } from './volume.ts';
