/** Pipelines and their versions. Versions are immutable; a pipeline points at its newest and at its deployed one. */
import type { Knex } from 'knex';
import type { LabelMap } from '../../schemas/api/common.ts';
import type { GraphEdge, GraphNode, Version, VersionSummary } from '../../schemas/api/pipelines.ts';
import { brokeUnique } from '../database/errors.ts';
import { conflict } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { StoredComponent } from './components.ts';

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
  nodes: GraphNode[];
  edges: GraphEdge[];
  globalConfig: Record<string, unknown>;
  labels: LabelMap;
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
  nodes: 'graph_nodes',
  edges: 'graph_edges',
  globalConfig: 'global_config',
  labels: 'labels',
  latestVersionId: 'latest_version_id',
  deployedVersionId: 'deployed_version_id',
  tombstonedAt: 'tombstoned_at',
} as const;

export async function findPipeline(db: Knex, id: string): Promise<PipelineRecord | null> {
  return (await db('pipelines').where({ id }).first(COLUMNS)) ?? null;
}

/** Locks the row until the transaction ends. */
export async function lockPipeline(tx: Knex, id: string): Promise<PipelineRecord | null> {
  return (await tx('pipelines').where({ id }).forUpdate().first(COLUMNS)) ?? null;
}

export async function findPipelineByName(
  db: Knex,
  environmentId: string,
  name: string,
): Promise<PipelineRecord | null> {
  const row = await db('pipelines')
    .where({ environment_id: environmentId, tombstoned_at: null })
    .whereRaw('lower(name) = lower(?)', [name])
    .first(COLUMNS);
  return row ?? null;
}

/** A pruned pipeline that a manifest brings back: by its id, where git knew it, else by uid or name. */
export async function findTombstone(
  db: Knex,
  environmentId: string,
  of: { name: string; uid: string | null },
): Promise<PipelineRecord | null> {
  const row = await db('pipelines')
    .where({ environment_id: environmentId })
    .whereNotNull('tombstoned_at')
    .where((q) => {
      q.whereRaw('lower(name) = lower(?)', [of.name]);
      if (of.uid !== null) q.orWhere({ uid: of.uid });
    })
    .orderBy('tombstoned_at', 'desc')
    .first(COLUMNS);
  return row ?? null;
}

export interface PipelineWrite {
  name: string;
  uid: string | null;
  description: string | null;
  managedBy: 'ui' | 'git';
  nodeSelector: LabelMap | null;
  logLevel: LogLevelName;
  nodes: GraphNode[];
  edges: GraphEdge[];
  globalConfig: Record<string, unknown>;
  labels: LabelMap;
  dependsOn: string[];
}

function columnsOf(write: PipelineWrite) {
  return {
    name: write.name,
    uid: write.uid,
    description: write.description,
    managed_by: write.managedBy,
    node_selector: write.nodeSelector && JSON.stringify(write.nodeSelector),
    log_level: write.logLevel,
    graph_nodes: JSON.stringify(write.nodes),
    graph_edges: JSON.stringify(write.edges),
    global_config: JSON.stringify(write.globalConfig),
    labels: JSON.stringify(write.labels),
    depends_on: JSON.stringify(write.dependsOn),
  };
}

const nameTaken = (error: unknown, name: string): never => {
  if (brokeUnique(error, 'pipelines_name_unique'))
    throw conflict(`A pipeline named "${name}" exists already in this environment`);
  if (brokeUnique(error, 'pipelines_uid_unique'))
    throw conflict('Another pipeline of this environment has the same uid');
  throw error;
};

export async function insertPipeline(db: Knex, environmentId: string, write: PipelineWrite): Promise<string> {
  const id = newId();
  await db('pipelines')
    .insert({ id, environment_id: environmentId, ...columnsOf(write) })
    .catch((error: unknown) => nameTaken(error, write.name));
  return id;
}

/** Also brings a tombstoned pipeline back to life. */
export async function updatePipeline(db: Knex, id: string, write: PipelineWrite): Promise<void> {
  await db('pipelines')
    .where({ id })
    .update({ ...columnsOf(write), tombstoned_at: null, updated_at: db.fn.now() })
    .catch((error: unknown) => nameTaken(error, write.name));
}

export interface NewVersion {
  pipelineId: string;
  configYaml: string;
  logLevel: LogLevelName;
  nodeSelector: LabelMap | null;
  nodes: GraphNode[];
  edges: GraphEdge[];
  globalConfig: Record<string, unknown>;
  specHash: string | null;
  changelog: string | null;
  source: 'ui' | 'git';
  createdById: string | null;
  commit: { sha: string; author: string; message: string; path: string } | null;
}

/** Numbers follow one another without a gap: the pipeline's row must be locked. */
export async function insertVersion(tx: Knex, version: NewVersion): Promise<{ id: string; version: number }> {
  const id = newId();
  const { rows } = await tx.raw<{ rows: { version: number }[] }>(
    `INSERT INTO pipeline_versions (id, pipeline_id, version, config_yaml, log_level, node_selector, graph_nodes, graph_edges,
       global_config, spec_hash, changelog, source, created_by_id, commit_sha, commit_author, commit_message, commit_path)
     VALUES (:id, :pipelineId, (SELECT coalesce(max(version), 0) + 1 FROM pipeline_versions WHERE pipeline_id = :pipelineId),
       :configYaml, :logLevel, :nodeSelector, :nodes, :edges, :globalConfig, :specHash, :changelog, :source, :createdById,
       :sha, :author, :message, :path)
     RETURNING version`,
    {
      id,
      pipelineId: version.pipelineId,
      configYaml: version.configYaml,
      logLevel: version.logLevel,
      nodeSelector: version.nodeSelector && JSON.stringify(version.nodeSelector),
      nodes: JSON.stringify(version.nodes),
      edges: JSON.stringify(version.edges),
      globalConfig: JSON.stringify(version.globalConfig),
      specHash: version.specHash,
      changelog: version.changelog,
      source: version.source,
      createdById: version.createdById,
      sha: version.commit?.sha ?? null,
      author: version.commit?.author ?? null,
      message: version.commit?.message ?? null,
      path: version.commit?.path ?? null,
    },
  );
  await tx('pipelines')
    .where({ id: version.pipelineId })
    .update({ latest_version_id: id, updated_at: tx.fn.now() });
  return { id, version: rows[0]?.version ?? 1 };
}

export async function latestVersion(
  db: Knex,
  pipelineId: string,
): Promise<{ id: string; version: number; specHash: string | null } | null> {
  const row = await db('pipelines as p')
    .join('pipeline_versions as v', 'v.id', 'p.latest_version_id')
    .where('p.id', pipelineId)
    .first({ id: 'v.id', version: 'v.version', specHash: 'v.spec_hash' });
  return row ?? null;
}

export async function markDeployed(db: Knex, pipelineId: string, versionId: string): Promise<void> {
  await db('pipelines').where({ id: pipelineId }).update({
    is_draft: false,
    deployed_version_id: versionId,
    deployed_at: db.fn.now(),
    updated_at: db.fn.now(),
  });
}

export async function markDraft(db: Knex, pipelineId: string): Promise<void> {
  await db('pipelines')
    .where({ id: pipelineId })
    .update({ is_draft: true, deployed_version_id: null, deployed_at: null, updated_at: db.fn.now() });
}

/** Undeployed and hidden; the row stays for its day. */
export async function tombstonePipeline(db: Knex, id: string): Promise<void> {
  await db('pipelines').where({ id }).update({
    is_draft: true,
    deployed_version_id: null,
    deployed_at: null,
    tombstoned_at: db.fn.now(),
    updated_at: db.fn.now(),
  });
}

/** Unbinding: what git owned in an environment belongs to the UI from now on. */
export async function releasePipelinesFromGit(db: Knex, environmentId: string): Promise<void> {
  await db('pipelines')
    .where({ environment_id: environmentId, managed_by: 'git' })
    .update({ managed_by: 'ui' });
}

/** Deletes for good, if nothing has brought it back in the meantime. */
export async function purgeTombstone(db: Knex, id: string): Promise<boolean> {
  const gone = await db('pipelines').where({ id }).whereNotNull('tombstoned_at').delete();
  return gone > 0;
}

const VERSION_SUMMARY = `v.id, v.pipeline_id AS "pipelineId", v.version, v.changelog, v.source,
  v.created_by_id AS "createdById", coalesce(u.name, v.commit_author) AS "createdByName", v.created_at AS "createdAt",
  v.commit_sha AS commit, v.commit_author AS "commitAuthor", v.commit_message AS "commitMessage", v.commit_path AS path,
  coalesce(p.deployed_version_id = v.id, false) AS "isDeployed"`;
const VERSION_FROM = `FROM pipeline_versions v JOIN pipelines p ON p.id = v.pipeline_id LEFT JOIN users u ON u.id = v.created_by_id`;
const VERSIONS_LISTED = 500;

/** Newest first. */
export async function listVersions(db: Knex, pipelineId: string): Promise<VersionSummary[]> {
  const { rows } = await db.raw<{ rows: VersionSummary[] }>(
    `SELECT ${VERSION_SUMMARY} ${VERSION_FROM} WHERE v.pipeline_id = ? ORDER BY v.version DESC LIMIT ${VERSIONS_LISTED}`,
    [pipelineId],
  );
  return rows;
}

export async function findVersion(db: Knex, id: string): Promise<Version | null> {
  const { rows } = await db.raw<{ rows: Version[] }>(
    `SELECT ${VERSION_SUMMARY}, v.config_yaml AS "configYaml", v.log_level AS "logLevel", v.node_selector AS "nodeSelector"
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
  nodeSelector: LabelMap | null;
}

/** Everything that is deployed in an environment, with its config. */
export async function listDeployed(db: Knex, environmentId: string): Promise<DeployedConfig[]> {
  return db('pipelines as p')
    .join('pipeline_versions as v', 'v.id', 'p.deployed_version_id')
    .where({ 'p.environment_id': environmentId, 'p.is_draft': false })
    .whereNull('p.tombstoned_at')
    .orderBy('p.id')
    .select({
      pipelineId: 'p.id',
      pipelineName: 'p.name',
      versionId: 'v.id',
      version: 'v.version',
      configYaml: 'v.config_yaml',
      logLevel: 'v.log_level',
      nodeSelector: 'v.node_selector',
    });
}

/** Component counters of a pipeline as its nodes last reported them. */
export async function listComponentReports(
  db: Knex,
  pipelineId: string,
): Promise<{ nodeId: string; components: StoredComponent[] }[]> {
  return db('node_pipelines')
    .where({ pipeline_id: pipelineId })
    .select({ nodeId: 'node_id', components: 'components' });
}
