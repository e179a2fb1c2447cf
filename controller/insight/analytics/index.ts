export * as analyticsOperations from './operations.ts';
