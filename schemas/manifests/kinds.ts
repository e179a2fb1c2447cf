/** The table of kinds: schema and type of each. */
import { AlertRuleManifest, type AlertRuleSpec } from './alert-rule.ts';
import type { ManifestKind } from './common.ts';
import { EnvironmentManifest, type EnvironmentSpec } from './environment.ts';
import { NodeGroupManifest, type NodeGroupSpec } from './node-group.ts';
import { PipelineManifest, type PipelineSpec } from './pipeline.ts';
import { RepositoryManifest, type RepositorySpec } from './repository.ts';
import { SilenceManifest, type SilenceSpec } from './silence.ts';
import { WebhookEndpointManifest, type WebhookEndpointSpec } from './webhook-endpoint.ts';

export const MANIFESTS = {
  Pipeline: PipelineManifest,
  AlertRule: AlertRuleManifest,
  NodeGroup: NodeGroupManifest,
  Silence: SilenceManifest,
  WebhookEndpoint: WebhookEndpointManifest,
  Environment: EnvironmentManifest,
  Repository: RepositoryManifest,
} as const satisfies Record<ManifestKind, object>;

interface Specs {
  Pipeline: PipelineSpec;
  AlertRule: AlertRuleSpec;
  NodeGroup: NodeGroupSpec;
  Silence: SilenceSpec;
  WebhookEndpoint: WebhookEndpointSpec;
  Environment: EnvironmentSpec;
  Repository: RepositorySpec;
}
/** The spec of a kind as it is read: `$file` and `${value.x}` resolved, defaults filled in. */
export type ManifestSpec<K extends ManifestKind = ManifestKind> = Specs[K];
