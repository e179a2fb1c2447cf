export { type CheckReport, checkGraph, checkPipeline, type Finding } from './checks.ts';
export { compile } from './compile.ts';
export type { StoredComponent } from './components.ts';
export * as pipelineConfigs from './config-operations.ts';
export { convergePipelines, prunePipeline } from './converge.ts';
export { stripCredentials } from './credentials.ts';
export type { Definition } from './definition.ts';
export * as pipelineDeploying from './deploying.ts';
export * as pipelineDeployments from './deployments.ts';
export * as pipelineEditing from './editing.ts';
export { copyGraph, definitionOf, type Graph, normaliseGraph, refuseOversized } from './graph.ts';
export * as pipelineGraphs from './graph-operations.ts';
export { startHealthCheck } from './health-check.ts';
export { maskSensitive, maskYaml } from './mask.ts';
export * as pipelineOperations from './operations.ts';
export * as rolloutViews from './rollout-views.ts';
export { servedYaml } from './served-yaml.ts';
export * as sharedComponentOperations from './shared-components/operations.ts';
export {
  checkShipped,
  missingVariables,
  type Shipped,
  type ShippedContent,
  shipPipeline,
  shippedOnto,
  storedConfig,
  withOwnCredentials,
  withoutWrittenCredentials,
} from './shipping.ts';
export * as stagedRollouts from './staged-rollouts.ts';
export { type DeployedConfig, listDeployed } from './store.ts';
export { runTests, type TransformTest } from './transform-tests.ts';
export { unifiedDiff } from './unified-diff.ts';
export { checkNodeTypes } from './validation.ts';
export { pruneVersions } from './version-retention.ts';
