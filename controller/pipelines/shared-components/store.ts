/** Stores shared components. Their uses are read from the graphs. */
import type { Knex } from 'knex';
import type { SharedComponent } from '../../../schemas/api/pipelines/shared-components.ts';
import { brokeUnique } from '../../database/errors.ts';
import { conflict } from '../../platform/operation/errors.ts';

export type StoredComponent = Omit<SharedComponent, 'usedBy'>;
type Use = SharedComponent['usedBy'][number] & { sharedComponentId: string };

const COLUMNS = {
  id: 'id',
  environmentId: 'environment_id',
  name: 'name',
  description: 'description',
  componentType: 'component_type',
  kind: 'kind',
  config: 'config',
  version: 'version',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
} as const;

export async function listSharedComponents(db: Knex, environmentId: string): Promise<StoredComponent[]> {
  return db('shared_components')
    .where({ environment_id: environmentId })
    .orderByRaw('lower(name)')
    .select(COLUMNS);
}

/** `lock` locks the row until the transaction ends. */
export async function findSharedComponent(
  db: Knex,
  environmentId: string,
  id: string,
  lock = false,
): Promise<StoredComponent | null> {
  const found = db('shared_components').where({ id, environment_id: environmentId }).first(COLUMNS);
  return (await (lock ? found.forUpdate() : found)) ?? null;
}

/** Returns which of these ids exist, and locks them until the transaction ends. */
export async function lockSharedComponents(
  tx: Knex,
  environmentId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows: { id: string }[] = await tx('shared_components')
    .where({ environment_id: environmentId })
    .whereIn('id', [...new Set(ids)])
    .orderBy('id')
    .forShare()
    .select('id');
  return new Set(rows.map(({ id }) => id));
}

export async function countSharedComponents(db: Knex, environmentId: string): Promise<number> {
  const row = await db('shared_components')
    .where({ environment_id: environmentId })
    .count({ n: '*' })
    .first();
  return Number(row?.n ?? 0);
}

const explainConflict = (error: unknown, name: string): unknown =>
  brokeUnique(error, 'shared_components_name_unique')
    ? conflict(`A shared component named "${name}" exists already in this environment; choose another name`)
    : error;

export async function insertSharedComponent(
  db: Knex,
  component: Pick<
    StoredComponent,
    'id' | 'environmentId' | 'name' | 'description' | 'componentType' | 'kind' | 'config'
  > & { createdById: string | null },
): Promise<void> {
  try {
    await db('shared_components').insert({
      id: component.id,
      environment_id: component.environmentId,
      name: component.name,
      description: component.description,
      component_type: component.componentType,
      kind: component.kind,
      config: JSON.stringify(component.config),
      created_by_id: component.createdById,
    });
  } catch (error) {
    throw explainConflict(error, component.name);
  }
}

export async function updateSharedComponent(
  db: Knex,
  id: string,
  change: Pick<StoredComponent, 'name' | 'description' | 'config' | 'version'>,
): Promise<void> {
  try {
    await db('shared_components')
      .where({ id })
      .update({ ...change, config: JSON.stringify(change.config), updated_at: db.fn.now() });
  } catch (error) {
    throw explainConflict(error, change.name);
  }
}

export async function deleteSharedComponent(db: Knex, id: string): Promise<void> {
  await db('shared_components').where({ id }).delete();
}

/** Linked components in the pipelines of an environment that are not deleted; of one shared component if `id` is given. */
export async function listUses(db: Knex, environmentId: string, id: string | null = null): Promise<Use[]> {
  const { rows } = await db.raw<{ rows: Use[] }>(
    `SELECT p.id AS "pipelineId", p.name AS "pipelineName", coalesce(n->>'id', n->>'componentKey') AS "nodeId",
       n->>'componentKey' AS "componentKey", n->>'sharedComponentId' AS "sharedComponentId",
       (n->>'sharedComponentVersion')::integer AS version
     FROM pipelines p CROSS JOIN LATERAL jsonb_array_elements(p.graph_nodes) n
     WHERE p.environment_id = ? AND p.tombstoned_at IS NULL AND n->'sharedComponentId' IS NOT NULL
       AND (?::text IS NULL OR n->>'sharedComponentId' = ?)
     ORDER BY lower(p.name), n->>'componentKey'`,
    [environmentId, id, id],
  );
  return rows;
}
