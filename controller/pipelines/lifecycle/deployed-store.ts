/** What is deployed and served, and what engines report of it. */
import type { Knex } from 'knex';
import type { LabelMap } from '../../../schemas/api/common.ts';
import { ACTIVE_ROLLOUT, SERVED_VERSIONS } from '../../delivery/rollouts/index.ts';
import type { StoredComponent } from '../graph/component-operations.ts';

/** The newest and the deployed version of a pipeline. */
export interface DeployedVersions {
  latest: {
    id: string;
    version: number;
    specHash: string | null;
    /** Only for pipelines that the UI owns; otherwise null. */
    configYaml: string | null;
    logLevel: string;
    drainSeconds: number | null;
    nodeSelector: LabelMap | null;
  } | null;
  deployedVersionId: string | null;
  deployedAt: Date | null;
  /** The version of the active rollout; null if there is none. */
  canary: { versionId: string; version: number } | null;
}

export async function readDeployedVersions(
  db: Knex,
  pipelineIds: readonly string[],
): Promise<ReadonlyMap<string, DeployedVersions>> {
  if (pipelineIds.length === 0) return new Map();
  const { rows } = await db.raw<{ rows: (DeployedVersions & { id: string })[] }>(
    `SELECT p.id, p.deployed_version_id AS "deployedVersionId", p.deployed_at AS "deployedAt",
       CASE WHEN v.id IS NULL THEN NULL
         ELSE json_build_object('id', v.id, 'version', v.version, 'specHash', v.spec_hash, 'configYaml', CASE WHEN p.managed_by = 'ui' THEN v.config_yaml END,
           'logLevel', v.log_level, 'drainSeconds', v.drain_seconds, 'nodeSelector', v.node_selector) END AS latest,
       CASE WHEN c.id IS NULL THEN NULL ELSE json_build_object('versionId', c.id, 'version', c.version) END AS canary
     FROM pipelines p LEFT JOIN rollouts r ON r.pipeline_id = p.id AND r.${ACTIVE_ROLLOUT}
     LEFT JOIN pipeline_versions c ON c.id = r.canary_version_id LEFT JOIN LATERAL
       (SELECT * FROM pipeline_versions v WHERE v.pipeline_id = p.id ORDER BY v.version DESC LIMIT 1) v ON true
     WHERE p.id = ANY(?)`,
    [[...pipelineIds]],
  );
  return new Map(rows.map(({ id, ...versions }) => [id, versions]));
}

/** The part of a version that nodes are served. */
export interface ServedVersion {
  configYaml: string;
  logLevel: string;
  drainSeconds: number | null;
  nodeSelector: LabelMap | null;
}

/** Reads served versions by version id. */
export async function readServedVersions(
  db: Knex,
  versionIds: readonly string[],
): Promise<ReadonlyMap<string, ServedVersion>> {
  if (versionIds.length === 0) return new Map();
  const rows: (ServedVersion & { id: string })[] = await db('pipeline_versions')
    .whereIn('id', versionIds)
    .select('id', {
      configYaml: 'config_yaml',
      logLevel: 'log_level',
      drainSeconds: 'drain_seconds',
      nodeSelector: 'node_selector',
    });
  return new Map(rows.map(({ id, ...served }) => [id, served]));
}

export interface DeployedConfig {
  pipelineId: string;
  pipelineName: string;
  versionId: string;
  version: number;
  configYaml: string;
  logLevel: string;
  drainSeconds: number | null;
  /** Selector of the version. */
  nodeSelector: LabelMap | null;
  /** Canary nodes of the active rollout; null without one. */
  canarySelector: LabelMap | null;
  /** Whether this is the canary version. The other nodes get the version without the flag, if there is one. */
  isCanary: boolean;
}

/**
 * All versions that nodes of an environment are served, with their configs: one per pipeline, or two during a rollout. Ordered
 * by pipeline.
 */
export async function listDeployed(db: Knex, environmentId: string): Promise<DeployedConfig[]> {
  const { rows } = await db.raw<{ rows: DeployedConfig[] }>(
    `SELECT p.id AS "pipelineId", p.name AS "pipelineName", v.id AS "versionId", v.version,
       v.config_yaml AS "configYaml", v.log_level AS "logLevel", v.drain_seconds AS "drainSeconds",
       v.node_selector AS "nodeSelector", r.canary_selector AS "canarySelector", served.is_canary AS "isCanary"
     FROM pipelines p ${SERVED_VERSIONS} JOIN pipeline_versions v ON v.id = served.version_id
     WHERE p.environment_id = ? AND NOT p.is_draft AND p.tombstoned_at IS NULL
     ORDER BY p.id, served.is_canary`,
    [environmentId],
  );
  return rows;
}

/** The component counters that the nodes of a pipeline reported last. */
export async function listComponentReports(
  db: Knex,
  pipelineId: string,
): Promise<{ nodeId: string; components: StoredComponent[] }[]> {
  return db('node_pipelines')
    .where({ pipeline_id: pipelineId })
    .select({ nodeId: 'node_id', components: 'components' });
}
