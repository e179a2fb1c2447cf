export { enroll } from './enroll.ts';
export * as nodeGroupOperations from './group-operations.ts';
export { createNodeDirectory, type KnownNode, type NodeDirectory } from './node-directory.ts';
export * as fleetOperations from './operations.ts';
export { createPushHub, type PushHub, type PushStream } from './push-hub.ts';
export { createHeartbeatIngest, type HeartbeatIngest } from './reports/ingest.ts';
export { type ConfigServer, createConfigServer } from './served-config.ts';
