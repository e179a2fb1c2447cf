export { addDependencies } from './add-dependencies.ts';
export { assertNoCycles, assertNoCycleThrough } from './cycle-checks.ts';
export { circleText, componentsOf, isCircle, shortestCircle } from './cycles.ts';
export * as pipelineDependencyOperations from './dependency-operations.ts';
export {
  listOrdered,
  listUiDependencies,
  type OrderedPipeline,
  type StoredDependency,
} from './dependency-store.ts';
export * as pipelineGroupOperations from './group-operations.ts';
export { setPipelineGroup } from './group-store.ts';
export { lockOrder } from './lock-store.ts';
