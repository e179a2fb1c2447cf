import type { Knex } from 'knex';
import type { NodeGroup } from '../../../schemas/api/fleet/node-groups.ts';
import type { NodeGroupSpec } from '../../../schemas/manifests/node-group.ts';
import type { GroupRule } from '../../../schemas/node-groups/membership.ts';
import { brokeUnique } from '../../database/errors.ts';
import type { ColumnTypes } from '../../delivery/ownership/index.ts';
import { conflict } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';

/** For `writeOwned`. */
export const GROUP_COLUMNS: ColumnTypes = {
  criteria: 'jsonb',
  label_template: 'jsonb',
  required_labels: 'jsonb',
};

export const groupColumns = (spec: NodeGroupSpec) => ({
  criteria: spec.criteria,
  label_template: spec.labelTemplate,
  required_labels: spec.requiredLabels,
});

/** Ordered by name: where two groups give the same label, the order decides. */
export async function listGroupRules(
  db: Knex,
  environmentIds: readonly string[],
): Promise<(GroupRule & { environmentId: string })[]> {
  return db('node_groups')
    .whereIn('environment_id', environmentIds)
    .whereNull('tombstoned_at')
    .orderByRaw('lower(name) COLLATE "C", id')
    .select('id', 'name', 'criteria', {
      environmentId: 'environment_id',
      labelTemplate: 'label_template',
      requiredLabels: 'required_labels',
    });
}

export type StoredGroup = Omit<NodeGroup, 'nodeCount'>;

const GROUP = `g.id, g.environment_id AS "environmentId", g.name, g.criteria, g.label_template AS "labelTemplate",
  g.required_labels AS "requiredLabels", g.labels, g.managed_by AS "managedBy", g.created_at AS "createdAt",
  g.updated_at AS "updatedAt", CASE WHEN m.name_key IS NULL THEN NULL ELSE jsonb_build_object('path', m.path,
    'line', m.line, 'commit', m.applied_commit, 'conditions', m.conditions) END AS git`;
const FROM = `FROM node_groups g LEFT JOIN git_manifests m ON m.object_id = g.id AND m.kind = 'NodeGroup'
  WHERE g.tombstoned_at IS NULL`;

export async function listGroups(db: Knex, environmentId: string): Promise<StoredGroup[]> {
  const { rows } = await db.raw<{ rows: StoredGroup[] }>(
    `SELECT ${GROUP} ${FROM} AND g.environment_id = ? ORDER BY lower(g.name) COLLATE "C", g.id`,
    [environmentId],
  );
  return rows;
}

/** Finds one group with its node count, without the join of the whole environment that lists need anyway. */
export async function findGroup(db: Knex, id: string): Promise<NodeGroup | null> {
  const { rows } = await db.raw<{ rows: NodeGroup[] }>(
    `SELECT ${GROUP}, (SELECT count(*) FROM nodes n LEFT JOIN node_reports r ON r.node_id = n.id
       WHERE n.environment_id = g.environment_id AND n.archived_at IS NULL
         AND coalesce(r.agent_labels, '{}') || n.ui_labels @> g.criteria) AS "nodeCount"
     ${FROM} AND g.id = ?`,
    [id],
  );
  return rows[0] ?? null;
}

export async function countGroups(db: Knex, environmentId: string): Promise<number> {
  const row = await db('node_groups')
    .where({ environment_id: environmentId, tombstoned_at: null })
    .count({ count: '*' })
    .first();
  return Number(row?.count ?? 0);
}

export type GroupDefinition = Pick<NodeGroup, 'name' | 'criteria' | 'labelTemplate' | 'requiredLabels'>;

const columnsOf = (group: GroupDefinition) => ({
  name: group.name,
  criteria: JSON.stringify(group.criteria),
  label_template: JSON.stringify(group.labelTemplate),
  required_labels: JSON.stringify(group.requiredLabels),
});

/** Inserts a group that the UI owns. */
export async function insertGroup(tx: Knex, environmentId: string, group: GroupDefinition): Promise<string> {
  const id = newId();
  await tx('node_groups')
    .insert({ id, environment_id: environmentId, ...columnsOf(group) })
    .catch((error: unknown) => {
      throw explainConflict(error, group.name);
    });
  return id;
}

export async function updateGroup(tx: Knex, id: string, group: GroupDefinition): Promise<void> {
  await tx('node_groups')
    .where({ id })
    .update({ ...columnsOf(group), updated_at: tx.fn.now() })
    .catch((error: unknown) => {
      throw explainConflict(error, group.name);
    });
}

export async function deleteGroup(tx: Knex, id: string): Promise<void> {
  await tx('node_groups').where({ id }).delete();
}

function explainConflict(error: unknown, name: string): unknown {
  return brokeUnique(error, 'node_groups_name_unique')
    ? conflict(`A node group named "${name}" exists already in this environment; choose another name`)
    : error;
}
