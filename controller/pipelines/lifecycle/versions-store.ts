/** Rows of `pipeline_versions`. */
import type { Knex } from 'knex';
import type { LabelMap } from '../../../schemas/api/common.ts';
import type { GraphEdge, GraphNode } from '../../../schemas/api/pipelines/graph.ts';
import type { Version, VersionSummary } from '../../../schemas/api/pipelines/versions.ts';
import type { ColumnTypes } from '../../delivery/ownership/index.ts';
import type { LogLevelName, PipelineContent } from './store.ts';

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
