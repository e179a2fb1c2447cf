export { assertNoCircles, refuseCircleThrough } from './circle-checks.ts';
export { circleText, componentsOf, isCircle, shortestCircle } from './circles.ts';
export * as pipelineDependencyOperations from './dependency-operations.ts';
export { listOrdered, listStored, type OrderedPipeline, type StoredDependency } from './dependency-store.ts';
export * as pipelineGroupOperations from './group-operations.ts';
export { setPipelineGroup } from './group-store.ts';
export { lockOrder } from './lock-store.ts';
export { addDependencies } from './named.ts';
