export { checkGraph } from './definition/checks/check-graph.ts';
export { checkPipeline } from './definition/checks/check-pipeline.ts';
export type { CheckReport, Finding } from './definition/checks/finding.ts';
export { compile } from './definition/compile.ts';
export type { Definition } from './definition/definition.ts';
export { isSensitive, MASK, maskSensitive, maskSensitiveIn, maskYaml } from './definition/mask.ts';
export { stripCredentials } from './definition/strip-credentials.ts';
export { runTests, type TransformTest } from './definition/transform-tests.ts';
export * as pipelineDeployments from './deploy/deployment-status.ts';
export { missingVariables } from './deploy/missing-variables.ts';
export * as pipelineDeploying from './deploy/operations.ts';
export {
  assertShippable,
  findLivePipeline,
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
export {
  checkNodeTypes,
  type Validity,
  validateGraph,
  validationError,
  variablesNamedIn,
} from './graph/validate-graph.ts';
export { convergePipelines, prunePipeline } from './lifecycle/converge.ts';
export { type DeployedConfig, listComponentReports, listDeployed } from './lifecycle/deployed-store.ts';
export * as pipelineEditing from './lifecycle/edit-operations.ts';
export { getPipeline, lockHandmadePipeline } from './lifecycle/lock-pipeline.ts';
export * as pipelineOperations from './lifecycle/read-operations.ts';
export type { PipelineRecord } from './lifecycle/store.ts';
export {
  createWatchedPipelines,
  type WatchedPipelines,
  watchPipeline,
  watchRollout,
} from './lifecycle/watched-pipelines.ts';
export * as sharedComponentLinkOperations from './shared-components/link-operations.ts';
export * as sharedComponentOperations from './shared-components/operations.ts';
export { saveVersion } from './versions/create-version.ts';
export { servedYaml } from './versions/served-yaml.ts';
export { unifiedDiff } from './versions/unified-diff.ts';
export { pruneVersions } from './versions/version-retention.ts';
