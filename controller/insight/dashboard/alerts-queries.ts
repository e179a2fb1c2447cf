/** Open, unmuted alerts of many environments in one statement. */
import type { Knex } from 'knex';
import { MAX_PROBLEMS } from '../../../schemas/api/insight/dashboard.ts';
import { ACKNOWLEDGED_HARM, ALERT_HARM, type OpenAlerts } from './alert-problems.ts';

const HARM = `CASE metric ${Object.entries(ALERT_HARM)
  .map(([metric, harm]) => `WHEN '${metric}' THEN ${harm}`)
  .join(' ')} ELSE 0 END + CASE status WHEN 'acknowledged' THEN ${ACKNOWLEDGED_HARM} ELSE 0 END`;

/**
 * By environment; one without alerts has no entry. A pipeline that crashes on many nodes by one rule is one problem. A rule
 * may ask for the opposite, a node that answers: its value is 0, and it covers nothing.
 */
export async function readOpenAlerts(
  db: Knex,
  environmentIds: readonly string[],
): Promise<Map<string, OpenAlerts>> {
  const { rows } = await db.raw<{ rows: (OpenAlerts & { environmentId: string })[] }>(
    `WITH open AS (
       SELECT e.*, row_number() OVER same AS place, (count(*) OVER (PARTITION BY e.environment_id, e.subject_key))::int - 1 AS others
       FROM (SELECT *, CASE metric WHEN 'pipeline_crashed' THEN rule_id || ' ' || pipeline_id ELSE id END AS subject_key
         FROM alert_events WHERE environment_id = ANY(?) AND status <> 'resolved' AND muted_by IS NULL) e
       WINDOW same AS (PARTITION BY e.environment_id, e.subject_key
         ORDER BY e.status = 'acknowledged', e.opened_at DESC, e.id)
     ), ranked AS (
       SELECT *, row_number() OVER (PARTITION BY environment_id ORDER BY ${HARM} DESC, opened_at DESC, id) AS rank
       FROM open WHERE place = 1
     )
     SELECT environment_id AS "environmentId", count(*)::int AS total,
       coalesce(jsonb_agg(jsonb_build_object('id', id, 'metric', metric, 'ruleName', rule_name, 'message', message,
         'status', status, 'acknowledgedBy', acknowledged_by, 'openedAt', opened_at, 'others', others) ORDER BY rank)
         FILTER (WHERE rank <= ${MAX_PROBLEMS}), '[]') AS listed,
       coalesce(array_agg(DISTINCT node_id) FILTER (WHERE metric = 'node_unreachable' AND value = 1), '{}') AS "nodeIds",
       coalesce(array_agg(DISTINCT pipeline_id) FILTER (WHERE metric = 'pipeline_crashed' AND value = 1), '{}') AS "pipelineIds"
     FROM ranked GROUP BY environment_id`,
    [[...environmentIds]],
  );
  return new Map(
    rows.map(({ environmentId, listed, ...rest }) => [
      environmentId,
      { ...rest, listed: listed.map((alert) => ({ ...alert, openedAt: new Date(alert.openedAt) })) },
    ]),
  );
}
