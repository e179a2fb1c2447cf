/** The manifests that git holds: their schemas, their types, and the published form for editors. */
export type { AlertRuleSpec } from './alert-rule.ts';
export {
  API_VERSION,
  COMPONENT_KEY,
  MANIFEST_KINDS,
  type ManifestKind,
  type ManifestMetadata,
  nameKeyOf,
} from './common.ts';
export type { EnvironmentSpec } from './environment.ts';
export { MANIFESTS, type ManifestSpec } from './kinds.ts';
export type { NodeGroupSpec } from './node-group.ts';
export type { PipelineSpec, SinkConfig, SourceConfig, TransformConfig } from './pipeline.ts';
export { publishedSchemas } from './published.ts';
export type { RepositorySpec } from './repository.ts';
export type { SilenceSpec } from './silence.ts';
export type { WebhookEndpointSpec } from './webhook-endpoint.ts';
