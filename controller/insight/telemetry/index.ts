export { deleteHoursBefore, deleteReadingsBefore } from './record/readings-store.ts';
export { createRecorder, type Recorder } from './record/recorder.ts';
export { maintainMetricDays } from './retention.ts';
