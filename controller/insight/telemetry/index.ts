export { exportMetrics, type MetricStore } from './exposition/operations.ts';
export * as telemetryOperations from './operations.ts';
export { deleteHoursBefore, deleteReadingsBefore } from './record/readings-store.ts';
export { createRecorder, type Recorder } from './record/recorder.ts';
export { maintainMetricDays } from './retention.ts';
export { deleteDeploysBefore } from './series/marks-queries.ts';
