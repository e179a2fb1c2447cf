/** Deliveries with their events, for any number of endpoints that are sent the same notices. */
import type { Knex } from 'knex';
import { arrayLiteral, rowsOf } from '../../../database/unnest.ts';
import { newId } from '../../../platform/operation/ids.ts';
import type { AlertNotice } from '../notice.ts';
import type { NoticeGroup } from './groups.ts';
import { MAX_GROUP, type NoticeTexts } from './notice-text.ts';

export interface NewDelivery {
  endpointIds: readonly string[];
  lane: string;
  kind: 'firing' | 'resolved' | 'test';
  repeats: boolean;
  notices: readonly AlertNotice[];
  createdAt: Date;
  nextAt: Date;
}

/** One for each endpoint, without its events. Answers their ids in the order of the endpoints. */
export async function insertDeliveries(db: Knex, delivery: NewDelivery): Promise<string[]> {
  const { endpointIds, lane, kind, repeats, notices, createdAt, nextAt } = delivery;
  if (endpointIds.length === 0) return [];
  const ids = endpointIds.map(() => `msg_${newId()}`);
  await db.raw(
    `INSERT INTO notification_deliveries (id, endpoint_id, lane, state, kind, repeats, total, created_at, next_at)
     SELECT b.id, b.endpoint_id, CASE WHEN :kind = 'test' THEN b.id ELSE :lane END, 'collecting', :kind, :repeats, :total,
       :createdAt, :nextAt FROM unnest(:ids::text[], :endpointIds::text[]) b(id, endpoint_id)`,
    {
      ...{ lane, kind, repeats, createdAt, nextAt, total: notices.length },
      ...{ ids: arrayLiteral(ids), endpointIds: arrayLiteral(endpointIds) },
    },
  );
  return ids;
}

/** Behind the events that the deliveries have. The notices travel, and are parsed, once for all of them. */
export async function insertEvents(
  db: Knex,
  deliveryIds: readonly string[],
  { notices, texts }: { notices: readonly AlertNotice[]; texts: NoticeTexts },
): Promise<void> {
  const { source, names, picked, values } = rowsOf([
    ['event_id', 'text', notices.map(({ eventId }) => eventId)],
    ['position', 'integer', notices.map((_, index) => index)],
    ['status', 'text', notices.map(({ status }) => status)],
    ['notice', 'jsonb', notices.map((notice) => texts.get(notice))],
  ]);
  await db.raw(
    `WITH given AS MATERIALIZED (SELECT ${picked} FROM ${source}),
     deliveries AS MATERIALIZED (
       SELECT t.id, coalesce((SELECT max(position) + 1 FROM notification_delivery_events WHERE delivery_id = t.id), 0) AS first
       FROM unnest(?::text[]) t(id))
     INSERT INTO notification_delivery_events (delivery_id, ${names})
     SELECT d.id, g.event_id, g.position + d.first, g.status, g.notice FROM deliveries d CROSS JOIN given g
     ON CONFLICT (delivery_id, event_id) DO UPDATE SET notice = excluded.notice`,
    [...values, arrayLiteral(deliveryIds)],
  );
}

export async function recount(db: Knex, deliveryIds: readonly string[]): Promise<void> {
  if (deliveryIds.length === 0) return;
  await db.raw(
    `UPDATE notification_deliveries SET total = (SELECT count(*) FROM notification_delivery_events WHERE delivery_id = id)
     WHERE id = ANY(?)`,
    [[...deliveryIds]],
  );
}

/**
 * Of each endpoint the delivery that the notices may join, by endpoint: it was not tried yet, has room, and no later one of the
 * lane is about any of their events, which would then be sent out of order.
 */
export async function lockCollecting(db: Knex, group: NoticeGroup): Promise<Map<string, string>> {
  const { rows } = await db.raw<{ rows: { endpointId: string; id: string }[] }>(
    `SELECT w.id AS "endpointId", c.id FROM unnest(:endpointIds::text[]) WITH ORDINALITY w(id, at) CROSS JOIN LATERAL (
       SELECT d.id FROM notification_deliveries d
       WHERE d.endpoint_id = w.id AND d.lane = :lane AND d.kind = :kind AND d.state = 'collecting'
         AND NOT d.repeats AND d.total + :count <= :most
         AND NOT EXISTS (
           SELECT 1 FROM notification_deliveries l JOIN notification_delivery_events e ON e.delivery_id = l.id
           WHERE l.endpoint_id = d.endpoint_id AND l.lane = d.lane AND l.state IN ('collecting', 'waiting')
             AND l.seq > d.seq AND e.event_id = ANY(:events::text[]))
       ORDER BY d.seq DESC LIMIT 1 FOR NO KEY UPDATE OF d) c`,
    {
      ...{ endpointIds: arrayLiteral(group.endpointIds), lane: group.ruleId, kind: group.status },
      ...{ most: MAX_GROUP, count: group.notices.length },
      events: arrayLiteral(group.notices.map(({ eventId }) => eventId)),
    },
  );
  return new Map(rows.map(({ endpointId, id }) => [endpointId, id]));
}
