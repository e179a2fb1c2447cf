export { createLogIngest, type LogIngest } from './ingest.ts';
export * as logOperations from './operations.ts';
export { keepLogDays, limitLogSize } from './retention.ts';
