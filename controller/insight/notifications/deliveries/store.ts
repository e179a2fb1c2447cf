import type { Knex } from 'knex';
import type { NotificationFormat } from '../../../../schemas/api/insight/notifications.ts';
import type { Rendered } from '../formats/message.ts';
import { type AlertNotice, restoreNotice, type StoredNotice } from '../notice.ts';

export interface DeliveryRow {
  id: string;
  endpointId: string;
  lane: string;
  kind: 'firing' | 'resolved' | 'test';
  repeats: boolean;
  state: 'collecting' | 'waiting' | 'delivered' | 'failed';
  total: number;
  attempts: number;
  nextAt: Date;
  /** JSON of what is sent; null until the first try. */
  body: string | null;
  /** Of the body. */
  format: NotificationFormat | null;
}

const COLUMNS = `d.id, d.endpoint_id AS "endpointId", d.lane, d.kind, d.repeats, d.state, d.total, d.attempts,
  d.next_at AS "nextAt", d.body, d.format`;

/** Endpoints that have something to send. */
export async function listBusyEndpoints(db: Knex): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `SELECT id FROM webhook_endpoints w WHERE w.tombstoned_at IS NULL AND EXISTS (
       SELECT 1 FROM notification_deliveries d WHERE d.endpoint_id = w.id AND d.state IN ('collecting', 'waiting'))`,
  );
  return rows.map(({ id }) => id);
}

/** Of each lane the oldest that is not finished, the one that waits longest first: nothing behind it may be sent. */
export async function listHeads(db: Knex, endpointId: string): Promise<DeliveryRow[]> {
  const { rows } = await db.raw<{ rows: DeliveryRow[] }>(
    `SELECT * FROM (
       SELECT DISTINCT ON (d.lane) ${COLUMNS} FROM notification_deliveries d
       WHERE d.endpoint_id = ? AND d.state IN ('collecting', 'waiting') ORDER BY d.lane, d.seq) heads
     ORDER BY "nextAt"`,
    [endpointId],
  );
  return rows;
}

/** Null where it was finished or deleted meanwhile. */
export async function lockUnfinished(tx: Knex, id: string): Promise<DeliveryRow | null> {
  const { rows } = await tx.raw<{ rows: DeliveryRow[] }>(
    `SELECT ${COLUMNS} FROM notification_deliveries d WHERE d.id = ? AND d.state IN ('collecting', 'waiting')
     FOR NO KEY UPDATE`,
    [id],
  );
  return rows[0] ?? null;
}

export async function lockDelivery(tx: Knex, id: string): Promise<DeliveryRow | null> {
  const { rows } = await tx.raw<{ rows: DeliveryRow[] }>(
    `SELECT ${COLUMNS} FROM notification_deliveries d WHERE d.id = ? FOR NO KEY UPDATE`,
    [id],
  );
  return rows[0] ?? null;
}

/** In the order in which they were queued. `onlyOpen` leaves out alerts that are resolved by now. */
export async function listNotices(
  db: Knex,
  deliveryId: string,
  { limit, onlyOpen }: { limit: number; onlyOpen: boolean },
): Promise<AlertNotice[]> {
  const open = onlyOpen ? 'JOIN notification_open_events o ON o.event_id = e.event_id' : '';
  const { rows } = await db.raw<{ rows: { notice: StoredNotice }[] }>(
    `SELECT e.notice FROM notification_delivery_events e ${open} WHERE e.delivery_id = ? ORDER BY e.position LIMIT ?`,
    [deliveryId, limit],
  );
  return rows.map(({ notice }) => restoreNotice(notice));
}

export async function countOpen(db: Knex, ruleId: string): Promise<number> {
  const row = await db('notification_open_events').where({ rule_id: ruleId }).count({ count: '*' }).first();
  return Number(row?.count ?? 0);
}

/** The alerts of a delivery, and those of them that are open. */
export async function countEvents(db: Knex, deliveryId: string): Promise<{ total: number; open: number }> {
  const { rows } = await db.raw<{ rows: { total: number; open: number }[] }>(
    `SELECT count(*)::int AS total, count(o.event_id)::int AS open
     FROM notification_delivery_events e LEFT JOIN notification_open_events o ON o.event_id = e.event_id
     WHERE e.delivery_id = ?`,
    [deliveryId],
  );
  return rows[0] ?? { total: 0, open: 0 };
}

/** From here on no notice joins, and every try sends the same. */
export async function setBody(
  tx: Knex,
  id: string,
  { format, rendered }: { format: NotificationFormat; rendered: Rendered },
): Promise<string> {
  const body = JSON.stringify(rendered);
  await tx('notification_deliveries').where({ id }).update({ state: 'waiting', body, format });
  return body;
}

export interface Attempt {
  at: Date;
  status: number | null;
  error: string | null;
  durationMs: number;
  outcome: { state: 'delivered' | 'failed' } | { state: 'waiting'; nextAt: Date };
}

/** False where the delivery is gone, or finished. What did arrive counts even where it was given up meanwhile. */
export async function recordAttempt(tx: Knex, id: string, attempt: Attempt): Promise<boolean> {
  const { at, outcome } = attempt;
  const changed = await tx('notification_deliveries')
    .where({ id })
    .modify((rows) => {
      if (outcome.state !== 'delivered') rows.whereIn('state', ['collecting', 'waiting']);
    })
    .update({
      state: outcome.state,
      attempts: tx.raw('attempts + 1'),
      last_attempt_at: at,
      last_status: attempt.status,
      last_error: attempt.error,
      last_duration_ms: Math.round(attempt.durationMs),
      next_at: outcome.state === 'waiting' ? outcome.nextAt : null,
      finished_at: outcome.state === 'waiting' ? null : at,
    });
  return changed > 0;
}

/** What was not sent is not sent any more, but for tests. Nothing is dropped where the endpoint is enabled by now. */
export async function dropUnfinished(tx: Knex, endpointId: string, at: Date, reason: string): Promise<void> {
  await tx('notification_deliveries')
    .where({ endpoint_id: endpointId })
    .whereIn('state', ['collecting', 'waiting'])
    .whereNot({ kind: 'test' })
    .whereExists(tx('webhook_endpoints').where({ id: endpointId, enabled: false }))
    .update({ state: 'failed', next_at: null, finished_at: at, last_error: reason });
}

/** Of all endpoints: those that are to be sent, and those that were given up since. */
export async function countNotifications(
  db: Knex,
  since: Date,
): Promise<{ waiting: number; failed: number }> {
  const { rows } = await db.raw<{ rows: { waiting: number; failed: number }[] }>(
    `SELECT (SELECT count(*) FROM notification_deliveries WHERE state IN ('collecting', 'waiting')) AS waiting,
       (SELECT count(*) FROM notification_deliveries
        WHERE state IN ('delivered', 'failed') AND finished_at > ? AND state = 'failed') AS failed`,
    [since],
  );
  return rows[0] ?? { waiting: 0, failed: 0 };
}

export async function deleteDelivery(tx: Knex, id: string): Promise<void> {
  await tx('notification_deliveries').where({ id }).delete();
}

/** Queues it once more with the tries of a new one. What was never tried may still be joined. `again`: rendered once more. */
export async function requeue(
  tx: Knex,
  id: string,
  { at, again }: { at: Date; again: boolean },
): Promise<void> {
  await tx('notification_deliveries')
    .where({ id })
    .update({
      state: tx.raw(`CASE WHEN body IS NULL THEN 'collecting' ELSE 'waiting' END`),
      attempts: 0,
      next_at: at,
      finished_at: null,
      last_error: null,
      ...(again ? { body: null, format: null } : {}),
    });
}

/** Answers how many were deleted. */
export async function deleteOldNotifications(tx: Knex, finishedBefore: Date, limit: number): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `DELETE FROM notification_deliveries WHERE id IN (
       SELECT id FROM notification_deliveries WHERE state IN ('delivered', 'failed') AND finished_at < ? LIMIT ?)`,
    [finishedBefore, limit],
  );
  return rowCount;
}
