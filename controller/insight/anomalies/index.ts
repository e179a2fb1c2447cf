export { deleteAnomaliesBefore } from './anomalies-store.ts';
export * as anomalySettings from './config-operations.ts';
export { readAnomalyConfig } from './config-store.ts';
export * as anomalyOperations from './operations.ts';
export { createAnomalyPass } from './pass.ts';
