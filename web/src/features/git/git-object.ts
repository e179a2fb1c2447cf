/** An object that git may own, as people and the loop call it. */
import type { OwnableKind } from '../../../../schemas/api/delivery/git-policy.ts';

export const KIND_LABELS: Record<OwnableKind, { one: string; many: string }> = {
  Pipeline: { one: 'pipeline', many: 'Pipelines' },
  AlertRule: { one: 'alert rule', many: 'Alert rules' },
  NodeGroup: { one: 'node group', many: 'Node groups' },
  Silence: { one: 'silence', many: 'Silences' },
  WebhookEndpoint: { one: 'webhook endpoint', many: 'Webhook endpoints' },
};

export const isOwnable = (kind: string): kind is OwnableKind => kind in KIND_LABELS;

export interface GitObject {
  kind: OwnableKind;
  name: string;
}

export const nameOfObject = ({ kind, name }: GitObject): string => `${KIND_LABELS[kind].one} ${name}`;
