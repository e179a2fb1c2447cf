/** Stores pipelines and their versions. Versions are immutable; a pipeline points to its newest and to its deployed one. */
import type { Knex } from 'knex';
import type { LabelMap } from '../../../schemas/api/common.ts';
import type { GraphEdge, GraphNode, Version, VersionSummary } from '../../../schemas/api/pipelines.ts';
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import { brokeUnique } from '../../database/errors.ts';
import type { ColumnTypes } from '../../delivery/ownership/index.ts';
import { ACTIVE_ROLLOUT, SERVED_VERSIONS } from '../../delivery/rollouts/index.ts';
import { conflict } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import type { StoredComponent } from '../graph/component-operations.ts';

export type LogLevelName = 'trace' | 'debug' | 'info' | 'warn' | 'error';

export interface PipelineRecord {
  id: string;
  environmentId: string;
  name: string;
  uid: string | null;
  description: string | null;
  managedBy: 'ui' | 'git';
  isDraft: boolean;
  nodeSelector: LabelMap | null;
  logLevel: LogLevelName;
  /** Null for the agent's default. */
  drainSeconds: number | null;
  nodes: GraphNode[];
  edges: GraphEdge[];
  globalConfig: Record<string, unknown>;
  /** Incremented by every change of the graph. */
  graphRevision: number;
  labels: LabelMap;
  /** Null for the setting of the environment. */
  autoRevert: boolean | null;
  latestVersionId: string | null;
  deployedVersionId: string | null;
  tombstonedAt: Date | null;
}

const COLUMNS = {
  id: 'id',
  environmentId: 'environment_id',
  name: 'name',
  uid: 'uid',
  description: 'description',
  managedBy: 'managed_by',
  isDraft: 'is_draft',
  nodeSelector: 'node_selector',
  logLevel: 'log_level',
  drainSeconds: 'drain_seconds',
  nodes: 'graph_nodes',
  edges: 'graph_edges',
  globalConfig: 'global_config',
  graphRevision: 'graph_revision',
  labels: 'labels',
  autoRevert: 'auto_revert',
  latestVersionId: 'latest_version_id',
  deployedVersionId: 'deployed_version_id',
  tombstonedAt: 'tombstoned_at',
} as const;

export async function findPipeline(db: Knex, id: string): Promise<PipelineRecord | null> {
  return (await db('pipelines').where({ id }).first(COLUMNS)) ?? null;
}

/** Columns of pipelines, in addition to those of every owned row. */
export interface PipelineContent {
  description: string | null;
  nodeSelector: LabelMap | null;
  logLevel: LogLevelName;
  drainSeconds: number | null;
  nodes: GraphNode[];
  edges: GraphEdge[];
  globalConfig: Record<string, unknown>;
  dependsOn: string[];
}

/** For `writeOwned`. */
export const PIPELINE_COLUMNS: ColumnTypes = {
  description: 'text',
  node_selector: 'jsonb',
  log_level: 'text',
  drain_seconds: 'integer',
  graph_nodes: 'jsonb',
  graph_edges: 'jsonb',
  global_config: 'jsonb',
  depends_on: 'jsonb',
  auto_revert: 'boolean',
  is_draft: 'boolean',
  latest_version_id: 'text',
  deployed_version_id: 'text',
  deployed_at: 'timestamptz',
};

export const pipelineColumns = (content: PipelineContent) => ({
  description: content.description,
  node_selector: content.nodeSelector,
  log_level: content.logLevel,
  drain_seconds: content.drainSeconds,
  graph_nodes: content.nodes,
  graph_edges: content.edges,
  global_config: content.globalConfig,
  depends_on: content.dependsOn,
});

/** Serializes JSON columns. */
const toColumns = (columns: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(columns).map(([column, value]) => [
      column,
      typeof value === 'object' && value !== null && !(value instanceof Date) ? JSON.stringify(value) : value,
    ]),
  );

/** Inserts a draft that the UI owns; null if the name is taken. */
export async function insertPipeline(
  db: Knex,
  environmentId: string,
  pipeline: PipelineContent & { name: string; labels: LabelMap },
): Promise<string | null> {
  const rows = await db('pipelines')
    .insert({
      id: newId(),
      environment_id: environmentId,
      name: pipeline.name,
      ...toColumns({ ...pipelineColumns(pipeline), labels: pipeline.labels }),
    })
    .onConflict()
    .ignore()
    .returning('id');
  return rows[0]?.id ?? null;
}

/** Normalized names of the pipelines of an environment that are not deleted. */
export async function listNameKeys(db: Knex, environmentId: string): Promise<string[]> {
  const names: string[] = await db('pipelines')
    .where({ environment_id: environmentId, tombstoned_at: null })
    .pluck('name');
  return names.map(nameKeyOf);
}

/** @throws CONFLICT if the name was taken meanwhile */
export async function undeletePipeline(tx: Knex, id: string): Promise<void> {
  try {
    await tx('pipelines')
      .where({ id })
      .whereNotNull('tombstoned_at')
      .update({ tombstoned_at: null, updated_at: tx.fn.now() });
  } catch (error) {
    if (!brokeUnique(error, 'pipelines_name_unique')) throw error;
    throw conflict('Another pipeline has this name now; rename that one first');
  }
}

export const nameConflict = (name: string) =>
  conflict(`A pipeline named "${name}" exists already in this environment; choose another name`);

/** Updates a pipeline that the UI owns. The row must be locked by `lockEditable`. */
export async function updatePipeline(
  tx: Knex,
  id: string,
  change: Partial<Omit<PipelineContent, 'dependsOn'>> & {
    name?: string;
    labels?: LabelMap;
    autoRevert?: boolean | null;
    isDraft?: boolean;
    latestVersionId?: string;
    deployedVersionId?: string | null;
    deployedAt?: Date | null;
    tombstonedAt?: Date | null;
  },
): Promise<void> {
  const { nodes, edges, globalConfig, ...rest } = change;
  const graph = nodes !== undefined || edges !== undefined || globalConfig !== undefined;
  const columns = Object.fromEntries(
    Object.entries({ ...rest, nodes, edges, globalConfig })
      .filter(([, value]) => value !== undefined)
      .map(([field, value]) => [UPDATE_COLUMNS[field as keyof typeof UPDATE_COLUMNS], value]),
  );
  try {
    await tx('pipelines')
      .where({ id })
      .update({
        ...toColumns(columns),
        updated_at: tx.fn.now(),
        ...(graph ? { graph_revision: tx.raw('graph_revision + 1') } : {}),
      });
  } catch (error) {
    if (brokeUnique(error, 'pipelines_name_unique')) throw nameConflict(change.name ?? 'this one');
    throw error;
  }
}

const UPDATE_COLUMNS = {
  name: 'name',
  labels: 'labels',
  autoRevert: 'auto_revert',
  description: 'description',
  nodeSelector: 'node_selector',
  logLevel: 'log_level',
  drainSeconds: 'drain_seconds',
  nodes: 'graph_nodes',
  edges: 'graph_edges',
  globalConfig: 'global_config',
  isDraft: 'is_draft',
  latestVersionId: 'latest_version_id',
  deployedVersionId: 'deployed_version_id',
  deployedAt: 'deployed_at',
  tombstonedAt: 'tombstoned_at',
} as const;

export interface NewVersion {
  id: string;
  pipelineId: string;
  version: number;
  configYaml: string;
  logLevel: LogLevelName;
  drainSeconds: number | null;
  nodeSelector: LabelMap | null;
  nodes: GraphNode[];
  edges: GraphEdge[];
  globalConfig: Record<string, unknown>;
  specHash: string | null;
  changelog: string | null;
  source: VersionSummary['source'];
  /** Id of the user. */
  createdById: string | null;
  /** The service account that created it, of source `api`. */
  createdByAccount?: { id: string; name: string };
  commit: { sha: string; author: string; message: string; path: string } | null;
}

/** Numbers must be consecutive: the caller holds locks on the pipelines' rows. */
export async function insertVersions(tx: Knex, versions: readonly NewVersion[]): Promise<void> {
  const rows = versions.map((version) => ({
    id: version.id,
    pipeline_id: version.pipelineId,
    version: version.version,
    config_yaml: version.configYaml,
    log_level: version.logLevel,
    drain_seconds: version.drainSeconds,
    node_selector: version.nodeSelector,
    graph_nodes: version.nodes,
    graph_edges: version.edges,
    global_config: version.globalConfig,
    spec_hash: version.specHash,
    changelog: version.changelog,
    source: version.source,
    created_by_id: version.createdById,
    created_by_account_id: version.createdByAccount?.id ?? null,
    created_by_account_name: version.createdByAccount?.name ?? null,
    commit_sha: version.commit?.sha ?? null,
    commit_author: version.commit?.author ?? null,
    commit_message: version.commit?.message ?? null,
    commit_path: version.commit?.path ?? null,
  }));
  const names = Object.keys(VERSION_COLUMNS).join(', ');
  const types = Object.entries(VERSION_COLUMNS).map(([column, type]) => `${column} ${type}`);
  await tx.raw(
    `INSERT INTO pipeline_versions (${names}) SELECT ${names} FROM jsonb_to_recordset(?::jsonb) AS r(${types.join(', ')})`,
    [JSON.stringify(rows)],
  );
}

const VERSION_COLUMNS: ColumnTypes = {
  id: 'text',
  pipeline_id: 'text',
  version: 'integer',
  config_yaml: 'text',
  log_level: 'text',
  drain_seconds: 'integer',
  node_selector: 'jsonb',
  graph_nodes: 'jsonb',
  graph_edges: 'jsonb',
  global_config: 'jsonb',
  spec_hash: 'text',
  changelog: 'text',
  source: 'text',
  created_by_id: 'text',
  created_by_account_id: 'text',
  created_by_account_name: 'text',
  commit_sha: 'text',
  commit_author: 'text',
  commit_message: 'text',
  commit_path: 'text',
};

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

/** Marks a version that was created by hand as equal to a manifest. */
export async function stampVersion(tx: Knex, versionId: string, specHash: string): Promise<void> {
  await tx('pipeline_versions').where({ id: versionId }).update({ spec_hash: specHash });
}

export async function findLatestVersion(
  db: Knex,
  pipelineId: string,
): Promise<{ id: string; version: number; specHash: string | null } | null> {
  const row = await db('pipelines as p')
    .join('pipeline_versions as v', 'v.id', 'p.latest_version_id')
    .where('p.id', pipelineId)
    .first({ id: 'v.id', version: 'v.version', specHash: 'v.spec_hash' });
  return row ?? null;
}

const VERSION_SUMMARY = `v.id, v.pipeline_id AS "pipelineId", v.version, v.changelog, v.source,
  coalesce(v.created_by_id, v.created_by_account_id) AS "createdById",
  coalesce(u.name, v.created_by_account_name, v.commit_author) AS "createdByName", v.created_at AS "createdAt",
  v.commit_sha AS commit, v.commit_author AS "commitAuthor", v.commit_message AS "commitMessage", v.commit_path AS path,
  coalesce(p.deployed_version_id = v.id, false) AS "isDeployed"`;
const VERSION_FROM = `FROM pipeline_versions v JOIN pipelines p ON p.id = v.pipeline_id LEFT JOIN users u ON u.id = v.created_by_id`;
const MAX_VERSIONS_LISTED = 500;

/** Newest first. */
export async function listVersions(db: Knex, pipelineId: string): Promise<VersionSummary[]> {
  const { rows } = await db.raw<{ rows: VersionSummary[] }>(
    `SELECT ${VERSION_SUMMARY} ${VERSION_FROM} WHERE v.pipeline_id = ? ORDER BY v.version DESC LIMIT ${MAX_VERSIONS_LISTED}`,
    [pipelineId],
  );
  return rows;
}

type VersionContent = Omit<PipelineContent, 'description' | 'dependsOn'> & {
  pipelineId: string;
  version: number;
  configYaml: string;
};

/** The full content of a version, for a rollback. */
export async function findVersionContent(db: Knex, id: string): Promise<VersionContent | null> {
  const row = await db('pipeline_versions').where({ id }).first({
    pipelineId: 'pipeline_id',
    version: 'version',
    configYaml: 'config_yaml',
    nodeSelector: 'node_selector',
    logLevel: 'log_level',
    drainSeconds: 'drain_seconds',
    nodes: 'graph_nodes',
    edges: 'graph_edges',
    globalConfig: 'global_config',
  });
  return (row as VersionContent | undefined) ?? null;
}

/** The next version number. The pipeline's row must be locked. */
export async function nextVersionNumber(tx: Knex, pipelineId: string): Promise<number> {
  const row = await tx('pipeline_versions')
    .where({ pipeline_id: pipelineId })
    .max({ last: 'version' })
    .first();
  return Number(row?.last ?? 0) + 1;
}

export async function findVersion(db: Knex, id: string): Promise<Version | null> {
  const { rows } = await db.raw<{ rows: Version[] }>(
    `SELECT ${VERSION_SUMMARY}, v.config_yaml AS "configYaml", v.log_level AS "logLevel", v.drain_seconds AS "drainSeconds",
       v.node_selector AS "nodeSelector"
     ${VERSION_FROM} WHERE v.id = ?`,
    [id],
  );
  return rows[0] ?? null;
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
