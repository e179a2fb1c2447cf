/** Stores component types of engines by environment and digest. */
import type { Knex } from 'knex';
import type { ComponentNames } from '../../../schemas/agent/engine-components.ts';
import type { LabelMap } from '../../../schemas/api/common.ts';

/** Different engines per environment. */
const MAX_LISTS = 200;

export async function hasComponents(db: Knex, environmentId: string, digest: string): Promise<boolean> {
  const row = await db('engine_components').where({ environment_id: environmentId, digest }).first('digest');
  return row !== undefined;
}

/** Returns false if the environment has too many lists. Deletes lists that no node has reported for a day. */
export async function storeComponents(
  db: Knex,
  environmentId: string,
  digest: string,
  components: ComponentNames,
): Promise<boolean> {
  await db.raw(
    `DELETE FROM engine_components c
     WHERE c.environment_id = :environmentId AND c.first_seen_at < now() - interval '1 day' AND NOT EXISTS (
       SELECT FROM nodes n JOIN node_reports r ON r.node_id = n.id
       WHERE n.environment_id = c.environment_id AND r.engine_components = c.digest)`,
    { environmentId },
  );
  const { rows } = await db.raw<{ rows: { found: boolean }[] }>(
    `WITH added AS (
       INSERT INTO engine_components (environment_id, digest, components)
       SELECT e.id, :digest, :components::jsonb FROM environments e WHERE e.id = :environmentId
         AND (SELECT count(*) FROM engine_components c WHERE c.environment_id = e.id) < :most
       ON CONFLICT (environment_id, digest) DO NOTHING RETURNING digest)
     SELECT EXISTS (SELECT FROM added) OR EXISTS (
       SELECT FROM engine_components WHERE environment_id = :environmentId AND digest = :digest) AS found`,
    { environmentId, digest, components: JSON.stringify(components), most: MAX_LISTS },
  );
  return rows[0]?.found ?? false;
}

export interface NodeEngineRow {
  name: string;
  agentLabels: LabelMap;
  uiLabels: LabelMap;
  engineVersion: string | null;
  digest: string | null;
}

/** Nodes that reported since `since` and are neither archived nor revoked. */
export async function listNodeEngines(
  db: Knex,
  environmentId: string,
  since: Date,
): Promise<NodeEngineRow[]> {
  const { rows } = await db.raw<{ rows: NodeEngineRow[] }>(
    `SELECT n.name, r.agent_labels AS "agentLabels", n.ui_labels AS "uiLabels", r.engine_version AS "engineVersion",
       r.engine_components AS digest
     FROM nodes n JOIN node_reports r ON r.node_id = n.id JOIN node_presence h ON h.node_id = n.id
     WHERE n.environment_id = ? AND n.archived_at IS NULL AND n.token_revoked_at IS NULL AND h.heard_at > ?
     ORDER BY n.name, n.id`,
    [environmentId, since],
  );
  return rows;
}

export async function listComponents(db: Knex, environmentId: string): Promise<Map<string, ComponentNames>> {
  const rows: { digest: string; components: ComponentNames }[] = await db('engine_components')
    .where({ environment_id: environmentId })
    .select('digest', 'components');
  return new Map(rows.map(({ digest, components }) => [digest, components]));
}

/** Number of component types of the node's engine; null if unknown. */
export async function countComponentTypes(db: Knex, nodeId: string): Promise<number | null> {
  const { rows } = await db.raw<{ rows: { components: ComponentNames }[] }>(
    `SELECT c.components FROM nodes n JOIN node_reports r ON r.node_id = n.id
     JOIN engine_components c ON c.environment_id = n.environment_id AND c.digest = r.engine_components
     WHERE n.id = ?`,
    [nodeId],
  );
  const components = rows[0]?.components;
  if (!components) return null;
  return Object.values(components).reduce((sum, names: readonly string[]) => sum + names.length, 0);
}
