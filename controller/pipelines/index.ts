export { type CheckReport, checkPipeline, type Finding } from './checks.ts';
export { compile } from './compile.ts';
export type { StoredComponent } from './components.ts';
export { convergePipelines, prunePipeline } from './converge.ts';
export type { Definition } from './definition.ts';
export * as pipelineOperations from './operations.ts';
export { type DeployedConfig, listDeployed } from './store.ts';
