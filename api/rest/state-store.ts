/** What people and programs set of an object, as text: two that differ are two states. */
import type { Knex } from 'knex';

export type StateKind = 'pipeline' | 'alertRule' | 'secrets';

interface Of {
  id: string;
  environmentId: string;
}

/** Counters, reports and versions are no part of it. */
const STATES: Record<StateKind, (of: Of) => [sql: string, bindings: string[]]> = {
  pipeline: ({ id, environmentId }) => [
    `SELECT to_jsonb(r)::text AS state FROM (
       SELECT id, name, description, node_selector, log_level, drain_seconds, auto_revert, labels, graph_revision,
         graph_nodes, graph_edges, global_config,
         (SELECT group_id FROM pipeline_group_members m WHERE m.pipeline_id = pipelines.id) AS group_id
       FROM pipelines WHERE id = ? AND environment_id = ? AND tombstoned_at IS NULL`,
    [id, environmentId],
  ],
  alertRule: ({ id, environmentId }) => [
    `SELECT to_jsonb(r)::text AS state FROM (
       SELECT id, name, pipeline_id, metric, condition, threshold, duration_seconds, enabled, labels
       FROM alert_rules WHERE id = ? AND environment_id = ? AND tombstoned_at IS NULL`,
    [id, environmentId],
  ],
  secrets: ({ environmentId }) => [
    `SELECT to_jsonb(r)::text AS state FROM (
       SELECT id, name, updated_at FROM secrets WHERE environment_id = ? ORDER BY id`,
    [environmentId],
  ],
};

/** Null where there is no such object; of secrets the text is empty where there are none. */
export async function readState(db: Knex, kind: StateKind, of: Of, lock: boolean): Promise<string | null> {
  const [sql, bindings] = STATES[kind](of);
  const { rows } = await db.raw<{ rows: { state: string }[] }>(
    `${sql}${lock ? ' FOR UPDATE' : ''}) r`,
    bindings,
  );
  if (rows.length === 0) return kind === 'secrets' ? '' : null;
  return rows.map(({ state }) => state).join('\n');
}
