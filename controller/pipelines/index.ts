export { type CheckReport, checkGraph, checkPipeline, type Finding } from './definition/checks.ts';
export { compile } from './definition/compile.ts';
export type { Definition } from './definition/definition.ts';
export { maskSensitive, maskYaml } from './definition/mask.ts';
export { stripCredentials } from './definition/strip-credentials.ts';
export { runTests, type TransformTest } from './definition/transform-tests.ts';
export * as pipelineDeployments from './deploy/deployment-status.ts';
export * as pipelineDeploying from './deploy/operations.ts';
export {
  assertShippable,
  findLivePipeline,
  missingVariables,
  type Shipped,
  type ShippedContent,
  shipPipeline,
  storedConfig,
  withOwnCredentials,
  withoutWrittenCredentials,
} from './deploy/ship-pipeline.ts';
export * as stagedRollouts from './deploy/staged-rollout-operations.ts';
export * as rolloutViews from './deploy/staged-rollout-queries.ts';
export { startHealthCheck } from './deploy/start-health-check.ts';
export { undeployPipeline } from './deploy/undeploy-pipeline.ts';
export type { StoredComponent } from './graph/component-operations.ts';
export * as pipelineConfigs from './graph/config-operations.ts';
export { assertGraphSize, copyGraph, definitionOf, type Graph, normaliseGraph } from './graph/graph.ts';
export * as pipelineGraphs from './graph/graph-operations.ts';
export { checkNodeTypes } from './graph/validate-graph.ts';
export { convergePipelines, prunePipeline } from './lifecycle/converge.ts';
export * as pipelineEditing from './lifecycle/edit-operations.ts';
export { lockHandmadePipeline } from './lifecycle/lock-pipeline.ts';
export * as pipelineOperations from './lifecycle/operations.ts';
export { type DeployedConfig, listComponentReports, listDeployed } from './lifecycle/store.ts';
export {
  createWatchedPipelines,
  type WatchedPipelines,
  watchPipeline,
  watchRollout,
} from './lifecycle/watched-pipelines.ts';
export * as sharedComponentOperations from './shared-components/operations.ts';
export { saveVersion } from './versions/create-version.ts';
export { servedYaml } from './versions/served-yaml.ts';
export { unifiedDiff } from './versions/unified-diff.ts';
export { pruneVersions } from './versions/version-retention.ts';
