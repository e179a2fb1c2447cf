/** Alerts that are open, each with the notice by which it fired. */
import type { Knex } from 'knex';
import { rowsOf } from '../../../database/unnest.ts';
import type { AlertNotice, StoredNotice } from '../notice.ts';
import type { Subscriber } from './groups.ts';
import { type NoticeTexts, partsOf } from './notice-text.ts';

export async function recordOpen(
  db: Knex,
  notices: readonly AlertNotice[],
  texts: NoticeTexts,
): Promise<void> {
  const latest = [...new Map(notices.map((notice) => [notice.eventId, notice])).values()];
  const resolved = latest.filter(({ status }) => status === 'resolved').map(({ eventId }) => eventId);
  if (resolved.length > 0) await db('notification_open_events').whereIn('event_id', resolved).delete();
  for (const part of partsOf(latest.filter(({ status }) => status === 'firing'))) {
    const { source, names, picked, values } = rowsOf([
      ['event_id', 'text', part.map(({ eventId }) => eventId)],
      ['rule_id', 'text', part.map(({ ruleId }) => ruleId)],
      ['environment_id', 'text', part.map(({ environment }) => environment.id)],
      ['metric', 'text', part.map(({ metric }) => metric)],
      ['fired_at', 'timestamptz', part.map(({ firedAt }) => firedAt)],
      ['notice', 'jsonb', part.map((notice) => texts.get(notice))],
    ]);
    await db.raw(
      `INSERT INTO notification_open_events (${names}) SELECT ${picked} FROM ${source}
       ON CONFLICT (event_id) DO UPDATE SET notice = excluded.notice`,
      values,
    );
  }
}

export interface OpenOfRule {
  endpointId: string;
  ruleId: string;
  notices: StoredNotice[];
}

/**
 * Open alerts that the endpoint wants and was not sent the beginning of, by rule. Muted and acknowledged ones are left out:
 * nobody is called for what is known already.
 */
export async function listUnsentOpen(db: Knex, subscriber: Subscriber): Promise<OpenOfRule[]> {
  const { id, teamId, environmentId, eventTypes } = subscriber;
  const { rows } = await db.raw<{ rows: OpenOfRule[] }>(
    `SELECT :id AS "endpointId", o.rule_id AS "ruleId", jsonb_agg(o.notice ORDER BY o.fired_at, o.event_id) AS notices
     FROM notification_open_events o JOIN environments v ON v.id = o.environment_id
     WHERE (v.id = :environmentId OR v.team_id = :teamId)
       AND (:environmentId::text IS NOT NULL AND :eventTypes::text[] = '{}' OR o.metric = ANY(:eventTypes::text[]))
       AND NOT EXISTS (SELECT 1 FROM alert_events e WHERE e.id = o.event_id
         AND (e.status <> 'firing' OR e.muted_by IS NOT NULL))
       AND NOT EXISTS (SELECT 1 FROM notification_deliveries d JOIN notification_delivery_events n ON n.delivery_id = d.id
         WHERE d.endpoint_id = :id AND d.kind = 'firing' AND d.state = 'delivered' AND n.event_id = o.event_id
           AND (n.notice->>'firedAt')::timestamptz >= o.fired_at)
     GROUP BY o.rule_id ORDER BY o.rule_id`,
    { id, teamId, environmentId, eventTypes: [...eventTypes] },
  );
  return rows;
}

/** How long an alert may go without being repeated to a receiver that forgets it. */
const REPEAT_MS = 3_600_000;

/** Open alerts that Alertmanager has to be sent again, by endpoint and rule. */
export async function listDueRepeats(db: Knex, now: number): Promise<OpenOfRule[]> {
  const { rows } = await db.raw<{ rows: OpenOfRule[] }>(
    `SELECT w.id AS "endpointId", o.rule_id AS "ruleId", jsonb_agg(o.notice ORDER BY o.fired_at, o.event_id) AS notices
     FROM webhook_endpoints w
     JOIN environments e ON e.id = w.environment_id OR e.team_id = w.team_id
     JOIN notification_open_events o ON o.environment_id = e.id
     WHERE w.format = 'alertmanager' AND w.enabled AND w.tombstoned_at IS NULL AND (w.team_id IS NULL AND w.event_types = '{}' OR o.metric = ANY(w.event_types))
       AND NOT EXISTS (
         SELECT 1 FROM notification_deliveries d WHERE d.endpoint_id = w.id AND d.lane = o.rule_id AND d.repeats
           AND (d.state IN ('collecting', 'waiting') OR d.created_at > :since))
     GROUP BY w.id, o.rule_id HAVING min(o.fired_at) <= :since`,
    { since: new Date(now - REPEAT_MS) },
  );
  return rows;
}
