/**
 * Queues what endpoints are to be sent. Notices of one rule and one status that come within the group wait become one
 * message: a rack of 40 nodes that dies is one alert for its readers.
 */
import type { Knex } from 'knex';
import { rowsOf } from '../../../database/unnest.ts';
import type { Context, Services } from '../../../platform/operation/context.ts';
import { newId } from '../../../platform/operation/ids.ts';
import { type AlertNotice, restoreNotice, type StoredNotice } from '../notice.ts';
import { groupNotices, type NoticeGroup, runsOf, type Subscriber } from './groups.ts';
import { NOTIFICATIONS_LOOP } from './loop-name.ts';

/** From the first notice of a message to its first try. */
export const GROUP_WAIT_MS = 15_000;
/** Notices of one message: its rendering stays small. */
const MAX_GROUP = 1_000;

export type EnqueueContext = Pick<Context, 'db' | 'clock'> & { services: Pick<Services, 'bus'> };

export const newDeliveryId = (): string => `msg_${newId()}`;

/**
 * Queues a delivery for each endpoint that wants the notices, grouped. Runs in the transaction that records them; of one
 * event the notices come in the order of its states.
 */
export async function enqueueNotices(ctx: EnqueueContext, notices: readonly AlertNotice[]): Promise<void> {
  if (notices.length === 0) return;
  await recordOpen(ctx.db, notices);
  const subscribers = await lockSubscribers(ctx.db, notices);
  if (subscribers.length === 0) return;
  const woken = new Set<string>();
  // In one order, so that two transactions that lock the same deliveries wait for each other only one way.
  for (const run of runsOf(notices))
    for (const group of groupNotices(run, subscribers).sort(byLane)) {
      await enqueueGroup(ctx, group);
      woken.add(group.endpointId);
    }
  await wakeEndpoints(ctx, woken, 'queued');
}

const byLane = (a: NoticeGroup, b: NoticeGroup): number =>
  `${a.endpointId} ${a.ruleId} ${a.status}` < `${b.endpointId} ${b.ruleId} ${b.status}` ? -1 : 1;

export async function wakeEndpoints(
  { db, services }: Pick<EnqueueContext, 'db' | 'services'>,
  endpointIds: Iterable<string>,
  trigger: string,
): Promise<void> {
  const signals = [...endpointIds].map(
    (key) => ({ type: 'wake', loop: NOTIFICATIONS_LOOP, key, trigger }) as const,
  );
  if (signals.length > 0) await services.bus.publish(db, signals);
}

/** PostgreSQL takes no NUL and no half of a surrogate pair in jsonb. */
const storable = (notice: AlertNotice): string =>
  JSON.stringify(notice, (_, value) =>
    typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '') : value,
  );

async function recordOpen(db: Knex, notices: readonly AlertNotice[]): Promise<void> {
  const latest = [...new Map(notices.map((notice) => [notice.eventId, notice])).values()];
  const firing = latest.filter(({ status }) => status === 'firing');
  const resolved = latest.filter(({ status }) => status === 'resolved');
  if (resolved.length > 0)
    await db('notification_open_events')
      .whereIn(
        'event_id',
        resolved.map(({ eventId }) => eventId),
      )
      .delete();
  if (firing.length === 0) return;
  const { source, names, picked, values } = rowsOf([
    ['event_id', 'text', firing.map(({ eventId }) => eventId)],
    ['rule_id', 'text', firing.map(({ ruleId }) => ruleId)],
    ['environment_id', 'text', firing.map(({ environment }) => environment.id)],
    ['metric', 'text', firing.map(({ metric }) => metric)],
    ['fired_at', 'timestamptz', firing.map(({ firedAt }) => firedAt)],
    ['notice', 'jsonb', firing.map(storable)],
  ]);
  await db.raw(
    `INSERT INTO notification_open_events (${names}) SELECT ${picked} FROM ${source}
     ON CONFLICT (event_id) DO UPDATE SET notice = excluded.notice`,
    values,
  );
}

/** Locked against deletion until the transaction ends. */
async function lockSubscribers(db: Knex, notices: readonly AlertNotice[]): Promise<Subscriber[]> {
  const { rows } = await db.raw<{ rows: Subscriber[] }>(
    `SELECT id, team_id AS "teamId", environment_id AS "environmentId", event_types AS "eventTypes" FROM webhook_endpoints
     WHERE enabled AND tombstoned_at IS NULL AND (team_id = ANY(?) OR environment_id = ANY(?)) ORDER BY id FOR KEY SHARE`,
    [
      [...new Set(notices.map(({ team }) => team.id))],
      [...new Set(notices.map(({ environment }) => environment.id))],
    ],
  );
  return rows;
}

async function enqueueGroup({ db, clock }: EnqueueContext, group: NoticeGroup): Promise<void> {
  const { endpointId, ruleId, status } = group;
  const at = clock.now();
  for (let from = 0; from < group.notices.length; from += MAX_GROUP) {
    const notices = group.notices.slice(from, from + MAX_GROUP);
    const joined = await lockCollecting(db, { ...group, notices });
    if (joined !== null) {
      await insertEvents(db, joined, notices);
      await recount(db, joined);
      continue;
    }
    await insertDelivery(db, {
      ...{ endpointId, lane: ruleId, kind: status, notices, repeats: false },
      createdAt: new Date(at),
      nextAt: new Date(at + GROUP_WAIT_MS),
    });
  }
}

/**
 * A delivery that these notices may join: it was not tried yet, has room, and no later one of the lane is about any of their
 * events, which would then be sent out of order.
 */
async function lockCollecting(db: Knex, group: NoticeGroup): Promise<string | null> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `SELECT d.id FROM notification_deliveries d
     WHERE d.endpoint_id = :endpointId AND d.lane = :lane AND d.kind = :kind AND d.state = 'collecting'
       AND NOT d.repeats AND d.total + :count <= :most
       AND NOT EXISTS (
         SELECT 1 FROM notification_deliveries l JOIN notification_delivery_events e ON e.delivery_id = l.id
         WHERE l.endpoint_id = d.endpoint_id AND l.lane = d.lane AND l.state IN ('collecting', 'waiting')
           AND l.seq > d.seq AND e.event_id = ANY(:events))
     ORDER BY d.seq DESC LIMIT 1 FOR NO KEY UPDATE OF d`,
    {
      ...{ endpointId: group.endpointId, lane: group.ruleId, kind: group.status, most: MAX_GROUP },
      count: group.notices.length,
      events: group.notices.map(({ eventId }) => eventId),
    },
  );
  return rows[0]?.id ?? null;
}

export interface NewDelivery {
  endpointId: string;
  lane: string;
  kind: 'firing' | 'resolved' | 'test';
  repeats: boolean;
  notices: readonly AlertNotice[];
  createdAt: Date;
  nextAt: Date;
}

/** Answers its id. */
export async function insertDelivery(db: Knex, delivery: NewDelivery): Promise<string> {
  const id = newDeliveryId();
  await db('notification_deliveries').insert({
    ...{ id, state: 'collecting', kind: delivery.kind, repeats: delivery.repeats },
    endpoint_id: delivery.endpointId,
    lane: delivery.kind === 'test' ? id : delivery.lane,
    total: delivery.notices.length,
    created_at: delivery.createdAt,
    next_at: delivery.nextAt,
  });
  await insertEvents(db, id, delivery.notices);
  return id;
}

async function insertEvents(db: Knex, deliveryId: string, notices: readonly AlertNotice[]): Promise<void> {
  const { source, names, picked, values } = rowsOf([
    ['event_id', 'text', notices.map(({ eventId }) => eventId)],
    ['position', 'integer', notices.map((_, index) => index)],
    ['status', 'text', notices.map(({ status }) => status)],
    ['notice', 'jsonb', notices.map(storable)],
  ]);
  await db.raw(
    `INSERT INTO notification_delivery_events (delivery_id, ${names})
     SELECT ?, ${picked.replace('b.position', 'b.position + d.total')} FROM ${source}, (SELECT coalesce(max(position) + 1, 0) AS total
       FROM notification_delivery_events WHERE delivery_id = ?) d
     ON CONFLICT (delivery_id, event_id) DO UPDATE SET notice = excluded.notice`,
    [deliveryId, ...values, deliveryId],
  );
}

async function recount(db: Knex, deliveryId: string): Promise<void> {
  await db.raw(
    `UPDATE notification_deliveries SET total = (SELECT count(*) FROM notification_delivery_events WHERE delivery_id = id)
     WHERE id = ?`,
    [deliveryId],
  );
}

/** How long an alert may go without being repeated to a receiver that forgets it. */
const REPEAT_MS = 3_600_000;

/**
 * Queues open alerts again for Alertmanager, which takes an alert that is not repeated for resolved. Answers the endpoints
 * that got some.
 */
export async function enqueueRepeats(ctx: EnqueueContext): Promise<Set<string>> {
  const { db, clock } = ctx;
  const now = clock.now();
  const { rows } = await db.raw<{ rows: { endpointId: string; ruleId: string; notices: StoredNotice[] }[] }>(
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
  for (const { endpointId, ruleId, notices } of rows)
    for (let from = 0; from < notices.length; from += MAX_GROUP)
      await insertDelivery(db, {
        ...{ endpointId, lane: ruleId, kind: 'firing', repeats: true },
        notices: notices.slice(from, from + MAX_GROUP).map(restoreNotice),
        createdAt: new Date(now),
        nextAt: new Date(now),
      });
  const endpointIds = new Set(rows.map(({ endpointId }) => endpointId));
  await wakeEndpoints(ctx, endpointIds, 'repeated');
  return endpointIds;
}
