/** Stores pipelines and their versions. Versions are immutable; a pipeline points to its newest and to its deployed one. */
import type { Knex } from 'knex';
import type { LabelMap } from '../../../schemas/api/common.ts';
import type { GraphEdge, GraphNode } from '../../../schemas/api/pipelines/graph.ts';
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import { brokeUnique } from '../../database/errors.ts';
import type { ColumnTypes } from '../../delivery/ownership/index.ts';
import { conflict } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';

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
