export * as pipelineDependencyOperations from './dependency-operations.ts';
export * as pipelineGroupOperations from './group-operations.ts';
export { setPipelineGroup } from './group-store.ts';
