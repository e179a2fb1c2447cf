export * as snippetOperations from './operations.ts';
