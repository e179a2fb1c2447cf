/** Stores dependencies between pipelines: those of users in a table of their own, those of manifests in the pipeline's row. */
import type { Knex } from 'knex';
import { brokeUnique } from '../../database/errors.ts';
import { conflict } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';

export interface OrderedPipeline {
  id: string;
  name: string;
  isDraft: boolean;
  managedBy: 'ui' | 'git';
  /** Names from its manifest; empty for a pipeline that git does not own. */
  dependsOn: string[];
}

export interface StoredDependency {
  id: string;
  upstreamId: string;
  downstreamId: string;
  description: string | null;
  createdAt: Date;
}

/** Pipelines that are not deleted, ordered by name. */
export async function listOrdered(db: Knex, environmentId: string): Promise<OrderedPipeline[]> {
  const { rows } = await db.raw<{ rows: OrderedPipeline[] }>(
    `SELECT id, name, is_draft AS "isDraft", managed_by AS "managedBy",
       CASE managed_by WHEN 'git' THEN depends_on ELSE '[]' END AS "dependsOn"
     FROM pipelines WHERE environment_id = ? AND tombstoned_at IS NULL ORDER BY lower(name), id`,
    [environmentId],
  );
  return rows;
}

/** The dependencies that users added in an environment. */
export async function listUiDependencies(db: Knex, environmentId: string): Promise<StoredDependency[]> {
  const { rows } = await db.raw<{ rows: StoredDependency[] }>(
    `SELECT d.id, d.upstream_id AS "upstreamId", d.downstream_id AS "downstreamId", d.description,
       d.created_at AS "createdAt"
     FROM pipeline_dependencies d JOIN pipelines p ON p.id = d.downstream_id
     WHERE p.environment_id = ? ORDER BY d.id`,
    [environmentId],
  );
  return rows;
}

export async function insertDependency(
  tx: Knex,
  dependency: Pick<StoredDependency, 'upstreamId' | 'downstreamId' | 'description'> & {
    createdById: string | null;
  },
): Promise<Pick<StoredDependency, 'id' | 'createdAt'>> {
  const [row] = await tx('pipeline_dependencies')
    .insert({
      id: newId(),
      upstream_id: dependency.upstreamId,
      downstream_id: dependency.downstreamId,
      description: dependency.description,
      created_by_id: dependency.createdById,
    })
    .returning(['id', 'created_at'])
    .catch((error: unknown) => {
      throw brokeUnique(error, 'pipeline_dependencies_unique')
        ? conflict('This dependency exists already')
        : error;
    });
  if (!row) throw new Error('nothing was inserted');
  return { id: row.id, createdAt: row.created_at };
}

/** Returns the deleted dependency; null if there is none. */
export async function deleteDependency(
  tx: Knex,
  id: string,
): Promise<{ upstream: string; downstream: string } | null> {
  const { rows } = await tx.raw<{ rows: { upstream: string; downstream: string }[] }>(
    `DELETE FROM pipeline_dependencies d USING pipelines u, pipelines p
     WHERE d.id = ? AND u.id = d.upstream_id AND p.id = d.downstream_id
     RETURNING u.name AS upstream, p.name AS downstream`,
    [id],
  );
  return rows[0] ?? null;
}
