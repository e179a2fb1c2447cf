import type { ManifestKind } from '../../schemas/manifests/index.ts';
import { alertRuleKind } from './alert-rule.ts';
import type { Kind } from './kind.ts';
import { nodeGroupKind } from './node-group.ts';
import { pipelineKind } from './pipeline.ts';
import { silenceKind } from './silence.ts';
import { webhookEndpointKind } from './webhook-endpoint.ts';

export type { ApplyResult, CheckContext, CheckResult, Kind, Reference } from './kind.ts';

/** The kinds that have objects. Environment and Repository set the policy instead. */
export const KINDS: ReadonlyMap<ManifestKind, Kind> = new Map(
  [nodeGroupKind, pipelineKind, silenceKind, webhookEndpointKind, alertRuleKind].map((kind) => [
    kind.kind,
    kind,
  ]),
);
