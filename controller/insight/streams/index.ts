export { type Delivery, deliverNext } from './deliver.ts';
export * as streamOperations from './operations.ts';
export { STREAMS_LOOP } from './operations.ts';
export { listEnabledIds as listEnabledStreams } from './store.ts';
