/** The words that occur in the part of the audit log that somebody sees: what its filters offer. */
import type { Knex } from 'knex';
import type { AuditViewer } from './queries.ts';

type Column = 'action' | 'entity_type' | 'user_id';

export const MAX_FILTER_VALUES = 1_000;
/** What no team has is looked at for so many events of each environment, and of one's own. */
const NEWEST = 500;

/**
 * Each index is read from one word to the next, not event by event: as many steps as there are different words, however long
 * the log is.
 */
export async function listFilterValues(db: Knex, viewer: AuditViewer, column: Column): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { word: string }[] }>(
    `${wordsOf(viewer, column)} SELECT word FROM words ORDER BY word LIMIT ${MAX_FILTER_VALUES}`,
    bindings(viewer),
  );
  return rows.map(({ word }) => word);
}

/** People and service accounts, those that are gone too: as they were called in their last event. */
export async function listActors(
  db: Knex,
  viewer: AuditViewer,
): Promise<{ id: string; name: string | null; email: string | null }[]> {
  const { rows } = await db.raw<{ rows: { id: string; name: string | null; email: string | null }[] }>(
    `${wordsOf(viewer, 'user_id')}
     SELECT w.word AS id, nullif(CASE WHEN u.id IS NULL AND l.actor_type = 'service_account' THEN l.user_email ELSE u.name END, '') AS name,
       coalesce(u.email, CASE WHEN l.actor_type = 'user' THEN l.user_email END) AS email
     FROM (SELECT word FROM words ORDER BY word LIMIT ${MAX_FILTER_VALUES}) w
       LEFT JOIN users u ON u.id = w.word
       LEFT JOIN LATERAL (SELECT actor_type, user_email FROM audit_log WHERE user_id = w.word AND seq IS NOT NULL
         ORDER BY seq DESC LIMIT 1) l ON true
     ORDER BY lower(coalesce(u.name, l.user_email)), w.word`,
    bindings(viewer),
  );
  return rows;
}

const bindings = ({ userId, teamIds }: AuditViewer) =>
  teamIds === null ? {} : { viewerId: userId, teamIds: [...teamIds] };

function wordsOf({ teamIds }: AuditViewer, column: Column): string {
  const next = (where: string) => `(SELECT min(${column}) FROM audit_log WHERE ${where} AND seq IS NOT NULL)`;
  if (teamIds === null)
    return `WITH RECURSIVE steps AS (
      SELECT ${next('true')} AS word
      UNION ALL SELECT ${next(`${column} > s.word`)} FROM steps s WHERE s.word IS NOT NULL
    ), words AS (SELECT word FROM steps WHERE word IS NOT NULL)`;
  const newest = (where: string) =>
    `(SELECT ${column} AS word FROM audit_log WHERE ${where} AND team_id IS NULL AND seq IS NOT NULL ORDER BY seq DESC LIMIT ${NEWEST}) n`;
  return `WITH RECURSIVE steps AS (
      SELECT team.id, ${next('team_id = team.id')} AS word FROM unnest(:teamIds::text[]) AS team (id)
      UNION ALL SELECT s.id, ${next(`team_id = s.id AND ${column} > s.word`)} FROM steps s WHERE s.word IS NOT NULL
    ), words AS (
      SELECT word FROM steps WHERE word IS NOT NULL
      UNION SELECT n.word FROM environments e, LATERAL ${newest('environment_id = e.id')}
        WHERE e.team_id = ANY(:teamIds::text[]) AND n.word IS NOT NULL
      UNION SELECT n.word FROM ${newest('user_id = :viewerId AND environment_id IS NULL')} WHERE n.word IS NOT NULL
    )`;
}
