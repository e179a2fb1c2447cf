/** Events as readers see them. */
import type { Knex } from 'knex';
import type {
  AlertEvent,
  AlertEventChange,
  AlertEventPage,
  OpenAlertEvents,
} from '../../../../schemas/api/insight/alerts.ts';
import { MAX_OPEN_EVENTS } from '../../../../schemas/api/insight/alerts.ts';

const COLUMNS = `e.id, e.environment_id AS "environmentId", e.rule_id AS "ruleId", e.rule_name AS "ruleName", e.metric, e.condition,
  e.threshold, e.duration_seconds AS "durationSeconds", e.node_id AS "nodeId", e.node_name AS "nodeName",
  e.pipeline_id AS "pipelineId", e.pipeline_name AS "pipelineName", e.status, e.message, e.value, e.peak, e.times,
  e.fired_at AS "firedAt", e.opened_at AS "openedAt", e.resolved_at AS "resolvedAt", e.resolved_reason AS "resolvedReason",
  e.acknowledged_at AS "acknowledgedAt", e.acknowledged_by AS "acknowledgedBy", e.muted_by AS "mutedBy"`;

export interface EventFilter {
  environmentId: string;
  status?: AlertEvent['status'] | 'open' | undefined;
  ruleId?: string | undefined;
  nodeId?: string | undefined;
  pipelineId?: string | undefined;
}

/** Where a page ends. */
export interface EventCursor {
  openedAt: Date;
  id: string;
}

/** The newest first. */
export async function listEvents(
  db: Knex,
  filter: EventFilter,
  { limit, cursor }: { limit: number; cursor: EventCursor | null },
): Promise<AlertEventPage['events']> {
  const { rows } = await db.raw<{ rows: AlertEvent[] }>(
    `SELECT ${COLUMNS} FROM alert_events e
     WHERE e.environment_id = :environmentId
       AND (:status::text IS NULL OR CASE :status WHEN 'open' THEN e.status <> 'resolved' ELSE e.status = :status END)
       AND (:ruleId::text IS NULL OR e.rule_id = :ruleId) AND (:nodeId::text IS NULL OR e.node_id = :nodeId)
       AND (:pipelineId::text IS NULL OR e.pipeline_id = :pipelineId)
       AND (:openedAt::timestamptz IS NULL OR (e.opened_at, e.id) < (:openedAt, :id))
     ORDER BY e.opened_at DESC, e.id DESC LIMIT :limit`,
    {
      environmentId: filter.environmentId,
      status: filter.status ?? null,
      ruleId: filter.ruleId ?? null,
      nodeId: filter.nodeId ?? null,
      pipelineId: filter.pipelineId ?? null,
      openedAt: cursor?.openedAt ?? null,
      id: cursor?.id ?? null,
      limit,
    },
  );
  return rows;
}

export async function findEvent(db: Knex, id: string): Promise<AlertEvent | null> {
  const { rows } = await db.raw<{ rows: AlertEvent[] }>(
    `SELECT ${COLUMNS} FROM alert_events e WHERE e.id = ?`,
    [id],
  );
  return rows[0] ?? null;
}

/** A long-lived event that flaps has many. */
const MAX_CHANGES = 500;

/** The newest 500, the oldest of them first. */
export async function listChanges(db: Knex, eventId: string): Promise<AlertEventChange[]> {
  const { rows } = await db.raw<{ rows: AlertEventChange[] }>(
    `SELECT * FROM (SELECT id::text, at, kind, value, note, user_email AS "userEmail", id AS number
       FROM alert_event_changes WHERE event_id = ? ORDER BY id DESC LIMIT ${MAX_CHANGES}) newest ORDER BY number`,
    [eventId],
  );
  return rows.map(({ id, at, kind, value, note, userEmail }) => ({ id, at, kind, value, note, userEmail }));
}

export interface FollowedChange extends AlertEventChange {
  /** Ascending in the order of commits. */
  position: number;
  event: AlertEvent & { environmentName: string; teamId: string; teamName: string };
}

/** Of all environments, after a position and up to `through`; the events are as they are now. */
export async function readChanges(
  db: Knex,
  after: number,
  limit: number,
  through: number | null,
): Promise<FollowedChange[]> {
  type Row = FollowedChange['event'] & {
    position: number;
    change: Omit<AlertEventChange, 'at'> & { at: string };
  };
  const { rows } = await db.raw<{ rows: Row[] }>(
    `SELECT c.id::float8 AS position, ${COLUMNS}, v.name AS "environmentName", t.id AS "teamId", t.name AS "teamName",
       jsonb_build_object('id', c.id::text, 'at', c.at, 'kind', c.kind, 'value', c.value, 'note', c.note,
         'userEmail', c.user_email) AS change
     FROM alert_event_changes c JOIN alert_events e ON e.id = c.event_id
       JOIN environments v ON v.id = e.environment_id JOIN teams t ON t.id = v.team_id
     WHERE c.id > :after AND (:through::bigint IS NULL OR c.id <= :through) ORDER BY c.id LIMIT :limit`,
    { after, limit, through },
  );
  return rows.map(({ position, change, ...event }) => ({
    ...change,
    at: new Date(change.at),
    position,
    event,
  }));
}

export async function newestChange(db: Knex): Promise<number> {
  const row = await db('alert_event_changes').max({ id: 'id' }).first();
  return Number(row?.id ?? 0);
}

/** `teamIds` null: of all teams. */
export async function listOpenEvents(db: Knex, teamIds: readonly string[] | null): Promise<OpenAlertEvents> {
  type Row = OpenAlertEvents['events'][number] & { isFiring: number; isAcknowledged: number };
  const { rows } = await db.raw<{ rows: Row[] }>(
    `SELECT ${COLUMNS}, v.name AS "environmentName", t.name AS "teamName",
       count(*) FILTER (WHERE e.status = 'firing' AND e.muted_by IS NULL) OVER ()::int AS "isFiring",
       count(*) FILTER (WHERE e.status = 'acknowledged') OVER ()::int AS "isAcknowledged"
     FROM alert_events e JOIN environments v ON v.id = e.environment_id JOIN teams t ON t.id = v.team_id
     WHERE e.status <> 'resolved' AND (:all OR v.team_id = ANY(:teamIds))
     ORDER BY e.muted_by IS NOT NULL, e.status = 'acknowledged', e.opened_at DESC, e.id DESC LIMIT ${MAX_OPEN_EVENTS}`,
    { all: teamIds === null, teamIds: [...(teamIds ?? [])] },
  );
  return {
    firing: rows[0]?.isFiring ?? 0,
    acknowledged: rows[0]?.isAcknowledged ?? 0,
    events: rows.map(({ isFiring, isAcknowledged, ...event }) => event),
  };
}
