/** Deliveries as users read them. */
import type { Knex } from 'knex';
import type {
  NotificationDelivery,
  NotificationDeliveryList,
} from '../../../../schemas/api/insight/notifications.ts';

const SELECT = `SELECT d.id, d.kind, d.repeats, d.state, d.total, d.attempts, d.last_status AS "responseStatus",
    d.last_error AS error, d.last_duration_ms AS "durationMs", d.created_at AS "createdAt",
    d.last_attempt_at AS "lastAttemptAt", d.next_at AS "nextAttemptAt", d.finished_at AS "finishedAt",
    CASE WHEN d.kind <> 'test' THEN e.names[1] END AS "ruleName",
    CASE WHEN d.kind <> 'test' THEN e.names[2] END AS "environmentName",
    coalesce(e.ids, '{}') AS "eventIds"
  FROM notification_deliveries d
  LEFT JOIN LATERAL (
    SELECT array_agg(l.event_id ORDER BY l.position) AS ids,
      ARRAY[(array_agg(l.notice ->> 'ruleName' ORDER BY l.position))[1],
        (array_agg(l.notice #>> '{environment,name}' ORDER BY l.position))[1]] AS names
    FROM (SELECT * FROM notification_delivery_events WHERE delivery_id = d.id ORDER BY position LIMIT 100) l) e ON true`;

/** The newest first. */
export async function listDeliveries(
  db: Knex,
  endpointId: string,
  { take, skip }: { take: number; skip: number },
): Promise<NotificationDeliveryList> {
  const { rows } = await db.raw<{ rows: NotificationDelivery[] }>(
    `${SELECT} WHERE d.endpoint_id = ? ORDER BY d.seq DESC LIMIT ? OFFSET ?`,
    [endpointId, take, skip],
  );
  const counted = await db('notification_deliveries')
    .where({ endpoint_id: endpointId })
    .count({ count: '*' })
    .first();
  return { deliveries: rows, total: Number(counted?.count ?? 0) };
}

export async function findDelivery(db: Knex, id: string): Promise<NotificationDelivery | null> {
  const { rows } = await db.raw<{ rows: NotificationDelivery[] }>(`${SELECT} WHERE d.id = ?`, [id]);
  return rows[0] ?? null;
}
