/** What the database holds of an environment, and what it should hold of a manifest: the two are compared as values. */
import { compile, type Definition } from '../../../../controller/pipelines/index.ts';
import type { DesiredManifest } from '../../../../reconcilers/source/index.ts';
import type { Condition } from '../../../../schemas/api/common.ts';
import type { ManifestSpec } from '../../../../schemas/manifests/index.ts';
import type { BoundEnvironment } from '../bound-environment.ts';
import { EDITED_KINDS, type EditedKind } from './world.ts';

/** An object's row, as far as every kind has it; `is` is the rest, as `SHOULD_BE` has it of a manifest. */
export interface ObjectRow {
  kind: EditedKind;
  id: string;
  name: string;
  uid: string | null;
  tombstoned: boolean;
  managedBy: string;
  is: object;
}

export interface InventoryRow {
  kind: EditedKind;
  nameKey: string;
  name: string;
  uid: string | null;
  path: string;
  line: number;
  objectId: string | null;
  appliedHash: string | null;
  seenHash: string | null;
  prunePolicy: 'auto' | 'confirm' | 'never';
  prunePending: boolean;
  conditions: Condition[];
}

export interface VersionRow {
  id: string;
  pipelineId: string;
  version: number;
  specHash: string | null;
  changelog: string | null;
  commit: string | null;
  path: string | null;
  author: string | null;
  /** A hash of the whole row. */
  digest: string;
  audited: boolean;
}

export interface Observed {
  objects: ObjectRow[];
  inventory: InventoryRow[];
  versions: VersionRow[];
  importErrors: number;
  appliedCommit: string | null;
}

/** What was deleted last comes first: of two of one name it is the one that comes back. */
const ROWS: Record<EditedKind, string> = {
  Pipeline: `SELECT p.id, p.name, p.uid, p.managed_by AS "managedBy", p.tombstoned_at IS NOT NULL AS tombstoned,
      json_build_object('labels', p.labels, 'description', p.description, 'nodeSelector', p.node_selector,
        'logLevel', p.log_level, 'nodes', p.graph_nodes, 'edges', p.graph_edges, 'global', p.global_config,
        'dependsOn', p.depends_on, 'deployed', NOT p.is_draft, 'hash', l.spec_hash, 'configYaml', l.config_yaml,
        'deployedHash', d.spec_hash, 'deployedVersion', p.deployed_version_id IS NOT DISTINCT FROM l.id) AS is
    FROM pipelines p LEFT JOIN pipeline_versions l ON l.id = p.latest_version_id
    LEFT JOIN pipeline_versions d ON d.id = p.deployed_version_id WHERE p.environment_id = ? ORDER BY p.tombstoned_at DESC NULLS FIRST`,
  AlertRule: `SELECT r.id, r.name, r.uid, r.managed_by AS "managedBy", r.tombstoned_at IS NOT NULL AS tombstoned,
      json_build_object('labels', r.labels, 'hash', r.spec_hash, 'watches', lower(p.name), 'metric', r.metric,
        'condition', r.condition, 'threshold', r.threshold, 'durationSeconds', r.duration_seconds,
        'enabled', r.enabled) AS is
    FROM alert_rules r LEFT JOIN pipelines p ON p.id = r.pipeline_id AND p.tombstoned_at IS NULL
    WHERE r.environment_id = ? ORDER BY r.tombstoned_at DESC NULLS FIRST`,
  NodeGroup: `SELECT g.id, g.name, g.uid, g.managed_by AS "managedBy", g.tombstoned_at IS NOT NULL AS tombstoned,
      json_build_object('labels', g.labels, 'hash', g.spec_hash, 'criteria', g.criteria,
        'labelTemplate', g.label_template, 'requiredLabels', g.required_labels) AS is
    FROM node_groups g WHERE g.environment_id = ? ORDER BY g.tombstoned_at DESC NULLS FIRST`,
  Silence: `SELECT s.id, s.name, s.uid, s.managed_by AS "managedBy", s.tombstoned_at IS NOT NULL AS tombstoned,
      json_build_object('labels', s.labels, 'hash', s.spec_hash, 'matchers', s.matchers, 'reason', s.reason,
        'startsAt', CASE WHEN s.starts_at <> s.created_at THEN extract(epoch FROM s.starts_at)::float8 * 1000 END,
        'endsAt', extract(epoch FROM s.ends_at)::float8 * 1000) AS is
    FROM alert_silences s WHERE s.environment_id = ? ORDER BY s.tombstoned_at DESC NULLS FIRST`,
  WebhookEndpoint: `SELECT w.id, w.name, w.uid, w.managed_by AS "managedBy", w.tombstoned_at IS NOT NULL AS tombstoned,
      json_build_object('labels', w.labels, 'hash', w.spec_hash, 'url', w.plain_url, 'format', w.format,
        'eventTypes', w.event_types, 'headers', w.header_templates, 'headerNames', w.header_names,
        'enabled', w.enabled, 'isSealed', w.sealed_url IS NOT NULL) AS is
    FROM webhook_endpoints w WHERE w.environment_id = ? ORDER BY w.tombstoned_at DESC NULLS FIRST`,
};

const SHOULD_BE: Record<EditedKind, (manifest: DesiredManifest) => object> = {
  Pipeline({ spec, hash, labels }) {
    const pipeline = spec as ManifestSpec<'Pipeline'>;
    const { nodes, edges, configYaml } = compile(pipeline as Definition);
    return {
      labels,
      description: pipeline.description ?? null,
      nodeSelector: pipeline.nodeSelector ?? null,
      logLevel: pipeline.logLevel,
      nodes,
      edges,
      global: pipeline.global,
      dependsOn: pipeline.dependsOn,
      deployed: pipeline.deployed,
      hash,
      configYaml,
      deployedHash: pipeline.deployed ? hash : null,
      deployedVersion: pipeline.deployed,
    };
  },
  AlertRule({ spec, hash, labels }) {
    const { pipelineRef, metric, condition, threshold, durationSeconds, enabled } =
      spec as ManifestSpec<'AlertRule'>;
    const watches = pipelineRef?.toLowerCase() ?? null;
    return { labels, hash, watches, metric, condition, threshold, durationSeconds, enabled };
  },
  NodeGroup({ spec, hash, labels }) {
    const { criteria, labelTemplate, requiredLabels } = spec as ManifestSpec<'NodeGroup'>;
    return { labels, hash, criteria, labelTemplate, requiredLabels };
  },
  Silence({ spec, hash, labels }) {
    const { matchers, reason, startsAt, endsAt } = spec as ManifestSpec<'Silence'>;
    const start = startsAt === undefined ? null : Date.parse(startsAt);
    return { labels, hash, matchers, reason, startsAt: start, endsAt: Date.parse(endsAt) };
  },
  WebhookEndpoint({ spec, hash, labels }) {
    const { url, format, eventTypes = [], headers, enabled } = spec as ManifestSpec<'WebhookEndpoint'>;
    const headerNames = Object.keys(headers);
    return { labels, hash, url, format, eventTypes, headers, headerNames, enabled, isSealed: false };
  },
};

export const isEdited = (manifest: DesiredManifest): manifest is DesiredManifest<EditedKind> =>
  EDITED_KINDS.some((kind) => kind === manifest.kind);

/** The row of a manifest that was applied, its id aside. */
export function shouldBe(manifest: DesiredManifest<EditedKind>): Omit<ObjectRow, 'id'> {
  const { kind, name, uid } = manifest;
  const is: object = JSON.parse(JSON.stringify(SHOULD_BE[kind](manifest)));
  return { kind, name, uid, tombstoned: false, managedBy: 'git', is };
}

export async function observe(env: BoundEnvironment): Promise<Observed> {
  const { db } = env.scene;
  const ask = async <Row>(sql: string, ...values: string[]) =>
    (await db.raw<{ rows: Row[] }>(sql, values)).rows;
  const objects: ObjectRow[] = [];
  for (const kind of EDITED_KINDS) {
    const rows = await ask<Omit<ObjectRow, 'kind'>>(ROWS[kind], env.id);
    objects.push(...rows.map((row) => ({ kind, ...row })));
  }
  const [inventory, versions, [counted], binding] = await Promise.all([
    ask<InventoryRow>(
      `SELECT kind, name_key AS "nameKey", name, uid, path, line, object_id AS "objectId", applied_hash AS "appliedHash",
         seen_hash AS "seenHash", prune_policy AS "prunePolicy", prune_pending AS "prunePending", conditions
       FROM git_manifests WHERE binding_id = ? ORDER BY kind, name_key`,
      env.bindingId,
    ),
    ask<VersionRow>(
      `SELECT v.id, v.pipeline_id AS "pipelineId", v.version, v.spec_hash AS "specHash", v.changelog,
         v.commit_sha AS commit, v.commit_path AS path, v.commit_author AS author, 
         -- When it may be deleted is no part of what was written.
         md5((to_jsonb(v) - 'deployed_until')::text) AS digest,
         EXISTS (SELECT FROM audit_log a WHERE a.environment_id = p.environment_id AND a.entity_id = p.id
           AND a.commit_sha = v.commit_sha) AS audited
       FROM pipeline_versions v JOIN pipelines p ON p.id = v.pipeline_id
       WHERE p.environment_id = ? ORDER BY v.pipeline_id, v.version`,
      env.id,
    ),
    ask<{ count: number }>(
      'SELECT count(*)::int AS count FROM git_import_errors WHERE binding_id = ?',
      env.bindingId,
    ),
    env.binding(),
  ]);
  return {
    objects,
    inventory,
    versions,
    importErrors: counted?.count ?? 0,
    appliedCommit: binding.appliedCommit?.sha ?? null,
  };
}
