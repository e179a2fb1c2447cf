/** The values that the filters of the audit log offer: those in the part of the log that the user may see. */
import type { Knex } from 'knex';
import type { AuditViewer } from './queries.ts';

type Column = 'action' | 'entity_type' | 'user_id';

export const MAX_FILTER_VALUES = 1_000;
/** Of events without a team, only so many of the newest are read for each environment and for the user. */
const NEWEST = 500;

/**
 * Skips through each index from one value to the next, not event by event: the number of steps is the number of different
 * values, however long the log is.
 */
export async function listFilterValues(db: Knex, viewer: AuditViewer, column: Column): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { value: string }[] }>(
    `${distinctValues(viewer, column)} SELECT value FROM filter_values ORDER BY value LIMIT ${MAX_FILTER_VALUES}`,
    bindings(viewer),
  );
  return rows.map(({ value }) => value);
}

/** Users and service accounts; deleted ones have the name of their last event. */
export async function listActors(
  db: Knex,
  viewer: AuditViewer,
): Promise<{ id: string; name: string | null; email: string | null }[]> {
  const { rows } = await db.raw<{ rows: { id: string; name: string | null; email: string | null }[] }>(
    `${distinctValues(viewer, 'user_id')}
     SELECT w.value AS id, nullif(CASE WHEN u.id IS NULL AND l.actor_type = 'service_account' THEN l.user_email ELSE u.name END, '') AS name,
       coalesce(u.email, CASE WHEN l.actor_type = 'user' THEN l.user_email END) AS email
     FROM (SELECT value FROM filter_values ORDER BY value LIMIT ${MAX_FILTER_VALUES}) w
       LEFT JOIN users u ON u.id = w.value
       LEFT JOIN LATERAL (SELECT actor_type, user_email FROM audit_log WHERE user_id = w.value AND seq IS NOT NULL
         ORDER BY seq DESC LIMIT 1) l ON true
     ORDER BY lower(coalesce(u.name, l.user_email)), w.value`,
    bindings(viewer),
  );
  return rows;
}

const bindings = ({ userId, teamIds }: AuditViewer) =>
  teamIds === null ? {} : { viewerId: userId, teamIds: [...teamIds] };

function distinctValues({ teamIds }: AuditViewer, column: Column): string {
  const next = (where: string) => `(SELECT min(${column}) FROM audit_log WHERE ${where} AND seq IS NOT NULL)`;
  if (teamIds === null)
    return `WITH RECURSIVE steps AS (
      SELECT ${next('true')} AS value
      UNION ALL SELECT ${next(`${column} > s.value`)} FROM steps s WHERE s.value IS NOT NULL
    ), filter_values AS (SELECT value FROM steps WHERE value IS NOT NULL)`;
  const newest = (where: string) =>
    `(SELECT ${column} AS value FROM audit_log WHERE ${where} AND team_id IS NULL AND seq IS NOT NULL ORDER BY seq DESC LIMIT ${NEWEST}) n`;
  return `WITH RECURSIVE steps AS (
      SELECT team.id, ${next('team_id = team.id')} AS value FROM unnest(:teamIds::text[]) AS team (id)
      UNION ALL SELECT s.id, ${next(`team_id = s.id AND ${column} > s.value`)} FROM steps s WHERE s.value IS NOT NULL
    ), filter_values AS (
      SELECT value FROM steps WHERE value IS NOT NULL
      UNION SELECT n.value FROM environments e, LATERAL ${newest('environment_id = e.id')}
        WHERE e.team_id = ANY(:teamIds::text[]) AND n.value IS NOT NULL
      UNION SELECT n.value FROM ${newest('user_id = :viewerId AND environment_id IS NULL')} WHERE n.value IS NOT NULL
    )`;
}
