/** What is sent of events. */
import type { Knex } from 'knex';
import type { AlertNotice } from '../../notifications/index.ts';

/**
 * Of the events with these ids, in the order in which they fired. Environment and team have the names with which the beginning
 * was sent: Alertmanager knows an alert by them.
 */
export async function readNotices(
  db: Knex,
  { firing, resolved }: { firing: readonly string[]; resolved: readonly string[] },
  at: Date,
): Promise<AlertNotice[]> {
  if (firing.length + resolved.length === 0) return [];
  const { rows } = await db.raw<{ rows: Omit<AlertNotice, 'at' | 'status'>[] }>(
    `SELECT e.id AS "eventId", e.opened_at AS "firedAt", e.rule_id AS "ruleId", e.rule_name AS "ruleName", e.metric, e.condition,
       e.threshold, e.duration_seconds AS "durationSeconds", e.value, e.message,
       coalesce(o.notice->'environment', jsonb_build_object('id', v.id, 'name', v.name)) AS environment,
       coalesce(o.notice->'team', jsonb_build_object('id', t.id, 'name', t.name)) AS team,
       CASE WHEN e.node_id IS NOT NULL THEN jsonb_build_object('id', e.node_id, 'name', e.node_name,
         'labels', coalesce(e.node_labels, '{}')) END AS node,
       CASE WHEN e.pipeline_id IS NOT NULL THEN jsonb_build_object('id', e.pipeline_id, 'name', e.pipeline_name) END AS pipeline
     FROM alert_events e JOIN environments v ON v.id = e.environment_id JOIN teams t ON t.id = v.team_id
       LEFT JOIN notification_open_events o ON o.event_id = e.id
     WHERE e.id = ANY(?) ORDER BY e.opened_at, e.id`,
    [[...firing, ...resolved]],
  );
  const isFiring = new Set(firing);
  return rows.map((row) => ({ ...row, at, status: isFiring.has(row.eventId) ? 'firing' : 'resolved' }));
}

export type Place = Pick<AlertNotice, 'environment' | 'team'>;

/** Null where the environment is gone. */
export async function findPlace(db: Knex, environmentId: string): Promise<Place | null> {
  const row = await db('environments as v')
    .join('teams as t', 't.id', 'v.team_id')
    .where({ 'v.id': environmentId })
    .first({ id: 'v.id', name: 'v.name', teamId: 't.id', teamName: 't.name' });
  return row
    ? { environment: { id: row.id, name: row.name }, team: { id: row.teamId, name: row.teamName } }
    : null;
}
