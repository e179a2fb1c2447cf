export { type CheckReport, checkPipeline, type Finding } from './checks.ts';
export { compile } from './compile.ts';
export type { StoredComponent } from './components.ts';
export {
  type Converged,
  type ConvergePipeline,
  convergePipeline,
  PURGE_JOB,
  prunePipeline,
  TOMBSTONE_HOURS,
} from './converge.ts';
export type { Definition } from './definition.ts';
export * as pipelineOperations from './operations.ts';
export { type DeployedConfig, listDeployed, purgeTombstone, releasePipelinesFromGit } from './store.ts';
