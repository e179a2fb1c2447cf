/** Node groups. */
import type { Knex } from 'knex';
import type { NodeGroup } from '../../schemas/api/node-groups.ts';
import type { NodeGroupSpec } from '../../schemas/manifests/node-group.ts';
import type { ColumnTypes } from '../ownership/index.ts';
import type { GroupRule } from './membership.ts';

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

/** In the order of their names, which decides where two of them give one label. */
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

export async function listGroups(db: Knex, environmentId: string): Promise<StoredGroup[]> {
  const { rows } = await db.raw<{ rows: StoredGroup[] }>(
    `SELECT g.id, g.environment_id AS "environmentId", g.name, g.criteria, g.label_template AS "labelTemplate",
       g.required_labels AS "requiredLabels", g.labels, g.managed_by AS "managedBy", g.created_at AS "createdAt",
       g.updated_at AS "updatedAt", CASE WHEN m.name_key IS NULL THEN NULL ELSE jsonb_build_object('path', m.path,
         'line', m.line, 'commit', m.applied_commit, 'conditions', m.conditions) END AS git
     FROM node_groups g LEFT JOIN git_manifests m ON m.object_id = g.id AND m.kind = 'NodeGroup'
     WHERE g.environment_id = ? AND g.tombstoned_at IS NULL ORDER BY lower(g.name) COLLATE "C", g.id`,
    [environmentId],
  );
  return rows;
}
