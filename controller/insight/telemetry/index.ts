export { exportMetrics, type MetricStore } from './exposition/operations.ts';
export type { MinuteStore } from './minutes/minute-store.ts';
export { postgresMinutes } from './minutes/postgres-store.ts';
export { createPrometheusMinutes } from './minutes/prometheus/prometheus-minutes.ts';
export * as telemetryOperations from './operations.ts';
export { deleteHoursBefore, deleteReadingsBefore } from './record/readings-store.ts';
export { createRecorder, type Recorder } from './record/recorder.ts';
export { maintainMetricDays } from './retention.ts';
export { deleteDeploysBefore } from './series/marks-queries.ts';
