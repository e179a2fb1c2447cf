export * as dashboardOperations from './operations.ts';
