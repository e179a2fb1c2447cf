/** Stores groups of pipelines. Callers that change the tree hold `lockOrder`. */
import type { Knex } from 'knex';
import { brokeUnique } from '../../database/errors.ts';
import { conflict, notFound } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';

export interface StoredGroup {
  id: string;
  environmentId: string;
  name: string;
  color: string | null;
  parentId: string | null;
  pipelineCount: number;
  createdAt: Date;
  updatedAt: Date;
}

export async function listGroups(db: Knex, environmentId: string): Promise<StoredGroup[]> {
  const { rows } = await db.raw<{ rows: StoredGroup[] }>(
    `SELECT g.id, g.environment_id AS "environmentId", g.name, g.color, g.parent_id AS "parentId",
       g.created_at AS "createdAt", g.updated_at AS "updatedAt", count(p.id) AS "pipelineCount"
     FROM pipeline_groups g LEFT JOIN pipeline_group_members m ON m.group_id = g.id
       LEFT JOIN pipelines p ON p.id = m.pipeline_id AND p.tombstoned_at IS NULL
     WHERE g.environment_id = ? GROUP BY g.id ORDER BY lower(g.name), g.id`,
    [environmentId],
  );
  return rows;
}

export interface GroupContent {
  name: string;
  color: string | null;
  parentId: string | null;
}

export async function insertGroup(tx: Knex, environmentId: string, content: GroupContent): Promise<string> {
  const id = newId();
  await tx('pipeline_groups')
    .insert({ id, environment_id: environmentId, ...columns(content) })
    .catch((error: unknown) => {
      throw explainConflict(error, content.name);
    });
  return id;
}

export async function updateGroup(tx: Knex, id: string, content: GroupContent): Promise<void> {
  await tx('pipeline_groups')
    .where({ id })
    .update({ ...columns(content), updated_at: tx.fn.now() })
    .catch((error: unknown) => {
      throw explainConflict(error, content.name);
    });
}

/** Deletes a group. Its children first move to the root, with these names. */
export async function deleteGroup(
  tx: Knex,
  id: string,
  children: readonly { id: string; name: string }[],
): Promise<void> {
  // A child may take the name of the deleted group.
  await tx('pipeline_groups')
    .where({ id })
    .update({ name: tx.ref('id') });
  for (const child of children) {
    await tx('pipeline_groups')
      .where({ id: child.id })
      .update({ name: child.name, parent_id: null, updated_at: tx.fn.now() })
      .catch((error: unknown) => {
        throw explainConflict(error, child.name);
      });
  }
  await tx('pipeline_groups').where({ id }).delete();
}

/** Puts a pipeline into a group of its environment; null removes it from its group. The caller has locked the pipeline. */
export async function setPipelineGroup(
  tx: Knex,
  pipelineId: string,
  environmentId: string,
  groupId: string | null,
): Promise<void> {
  if (groupId === null) {
    await tx('pipeline_group_members').where({ pipeline_id: pipelineId }).delete();
    return;
  }
  const group = await tx('pipeline_groups')
    .where({ id: groupId, environment_id: environmentId })
    .forKeyShare()
    .first('id');
  if (!group) throw notFound('Pipeline group');
  await tx('pipeline_group_members')
    .insert({ pipeline_id: pipelineId, group_id: groupId })
    .onConflict('pipeline_id')
    .merge();
}

const columns = ({ name, color, parentId }: GroupContent) => ({ name, color, parent_id: parentId });

function explainConflict(error: unknown, name: string): unknown {
  return brokeUnique(error, 'pipeline_groups_name_unique')
    ? conflict(`A group named "${name}" exists already within the same parent; choose another name`)
    : error;
}
