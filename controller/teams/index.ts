export * as teamOperations from './operations.ts';
