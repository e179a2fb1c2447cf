export { createLogIngest, type LogIngest } from './ingest.ts';
export * as logOperations from './operations.ts';
export { limitLogSize, maintainLogDays } from './retention.ts';
