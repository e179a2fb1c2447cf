export * as templateOperations from './operations.ts';
