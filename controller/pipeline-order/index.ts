export * as pipelineDependencyOperations from './dependency-operations.ts';
export * as pipelineGroupOperations from './group-operations.ts';
export { setPipelineGroup } from './group-store.ts';
export { lockOrder } from './lock-store.ts';
export { addDependencies } from './named.ts';
export { refuseCircleThrough } from './restored.ts';
