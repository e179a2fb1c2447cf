export { createSampleIngest, type SampleIngest } from './ingest.ts';
export { latestSample } from './latest-sample.ts';
export { maintainSamples, maintainTaps } from './maintain-samples.ts';
export * as sampleOperations from './operations.ts';
export { createRedactor, type Redactor } from './redact.ts';
export * as tapOperations from './tap-operations.ts';
export { findTap, type TapRecord } from './tap-store.ts';
export { createTaps, type Taps } from './taps.ts';
