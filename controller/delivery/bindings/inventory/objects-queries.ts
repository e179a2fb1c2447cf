/** The objects that git may own, with the fields that a manifest has. */
import type { Knex } from 'knex';
import type { OwnableKind } from '../../../../schemas/api/delivery/git-policy.ts';
import type { GraphEdge, GraphNode } from '../../../../schemas/api/pipelines/graph.ts';
import type { ALERT_CONDITIONS, ALERT_METRICS } from '../../../../schemas/manifests/alert-rule.ts';
import type { ENDPOINT_FORMATS } from '../../../../schemas/manifests/webhook-endpoint.ts';

interface Common {
  id: string;
  name: string;
  uid: string | null;
  labels: Record<string, string>;
  managedBy: 'ui' | 'git';
}

/** The fields that a version and the pipeline itself share. */
export interface StoredConfig {
  nodes: GraphNode[];
  edges: GraphEdge[];
  globalConfig: Record<string, unknown>;
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  drainSeconds: number | null;
  nodeSelector: Record<string, string> | null;
}

export interface StoredPipeline extends Common, StoredConfig {
  kind: 'Pipeline';
  description: string | null;
  isDraft: boolean;
  autoRevert: boolean | null;
  /** Names of pipelines, from its manifest and from users. */
  dependsOn: string[];
  /** The deployed version; null for a draft. */
  deployed: StoredConfig | null;
}

export interface StoredRule extends Common {
  kind: 'AlertRule';
  pipelineName: string | null;
  metric: (typeof ALERT_METRICS)[number];
  condition: (typeof ALERT_CONDITIONS)[number];
  threshold: number;
  durationSeconds: number;
  enabled: boolean;
}

export interface StoredNodeGroup extends Common {
  kind: 'NodeGroup';
  criteria: Record<string, string>;
  labelTemplate: Record<string, string>;
  requiredLabels: string[];
}

export interface StoredSilence extends Common {
  kind: 'Silence';
  matchers: Record<string, string>;
  reason: string;
  /** The same as `createdAt` where the manifest says nothing of it. */
  startsAt: Date;
  endsAt: Date;
  createdAt: Date;
}

export interface StoredWebhookEndpoint extends Common {
  kind: 'WebhookEndpoint';
  /** Made by hand: its address, its secret and the values of its headers are encrypted. */
  isSealed: boolean;
  hasSecret: boolean;
  headerNames: string[];
  url: string | null;
  urlRef: string | null;
  secretRef: string | null;
  format: (typeof ENDPOINT_FORMATS)[number];
  eventTypes: (typeof ALERT_METRICS)[number][];
  headers: Record<string, string>;
  enabled: boolean;
}

export type StoredObject =
  | StoredPipeline
  | StoredRule
  | StoredNodeGroup
  | StoredSilence
  | StoredWebhookEndpoint;

const COMMON = (table: string) =>
  `${table}.id, ${table}.name, ${table}.uid, ${table}.labels, ${table}.managed_by AS "managedBy"`;

const SELECT: Record<OwnableKind, string> = {
  Pipeline: `SELECT 'Pipeline' AS kind, ${COMMON('o')}, o.description, o.is_draft AS "isDraft", o.auto_revert AS "autoRevert",
      o.graph_nodes AS nodes, o.graph_edges AS edges, o.global_config AS "globalConfig",
      o.log_level AS "logLevel", o.drain_seconds AS "drainSeconds", o.node_selector AS "nodeSelector",
      (CASE o.managed_by WHEN 'git' THEN o.depends_on ELSE '[]' END) || coalesce((SELECT jsonb_agg(u.name ORDER BY lower(u.name))
        FROM pipeline_dependencies d JOIN pipelines u ON u.id = d.upstream_id
        WHERE d.downstream_id = o.id AND u.tombstoned_at IS NULL), '[]') AS "dependsOn",
      CASE WHEN o.is_draft OR v.id IS NULL THEN NULL ELSE jsonb_build_object('nodes', v.graph_nodes, 'edges', v.graph_edges,
        'globalConfig', v.global_config, 'logLevel', v.log_level, 'drainSeconds', v.drain_seconds,
        'nodeSelector', v.node_selector) END AS deployed
    FROM pipelines o LEFT JOIN pipeline_versions v ON v.id = o.deployed_version_id`,
  AlertRule: `SELECT 'AlertRule' AS kind, ${COMMON('o')}, p.name AS "pipelineName", o.metric, o.condition, o.threshold,
      o.duration_seconds AS "durationSeconds", o.enabled
    FROM alert_rules o LEFT JOIN pipelines p ON p.id = o.pipeline_id`,
  NodeGroup: `SELECT 'NodeGroup' AS kind, ${COMMON('o')}, o.criteria, o.label_template AS "labelTemplate",
      o.required_labels AS "requiredLabels"
    FROM node_groups o`,
  Silence: `SELECT 'Silence' AS kind, ${COMMON('o')}, o.matchers, o.reason, o.starts_at AS "startsAt",
      o.ends_at AS "endsAt", o.created_at AS "createdAt"
    FROM alert_silences o`,
  WebhookEndpoint: `SELECT 'WebhookEndpoint' AS kind, ${COMMON('o')}, o.sealed_url IS NOT NULL AS "isSealed",
      o.plain_url AS url, o.url_ref AS "urlRef", o.secret_ref AS "secretRef", o.format, o.event_types AS "eventTypes",
      o.header_templates AS headers, o.enabled, o.sealed_secret IS NOT NULL OR o.secret_ref IS NOT NULL AS "hasSecret",
      o.header_names AS "headerNames"
    FROM webhook_endpoints o`,
};

/** A living object; null when there is none. */
export async function findObject(db: Knex, kind: OwnableKind, id: string): Promise<StoredObject | null> {
  const { rows } = await db.raw<{ rows: StoredObject[] }>(
    `${SELECT[kind]} WHERE o.id = ? AND o.tombstoned_at IS NULL`,
    [id],
  );
  return rows[0] ?? null;
}

/** All living objects of these kinds, ordered by name. */
export async function listObjects(
  db: Knex,
  environmentId: string,
  kinds: readonly OwnableKind[],
): Promise<StoredObject[]> {
  const all: StoredObject[] = [];
  for (const kind of kinds) {
    const { rows } = await db.raw<{ rows: StoredObject[] }>(
      `${SELECT[kind]} WHERE o.environment_id = ? AND o.tombstoned_at IS NULL ORDER BY lower(o.name) COLLATE "C", o.id`,
      [environmentId],
    );
    all.push(...rows);
  }
  return all;
}
