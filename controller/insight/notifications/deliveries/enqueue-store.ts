/**
 * Queues what endpoints are to be sent. Notices of one rule and one status that come within the group wait become one
 * message: a rack of 40 nodes that dies is one alert for its readers.
 */
import type { Knex } from 'knex';
import type { Context, Services } from '../../../platform/operation/context.ts';
import { type AlertNotice, restoreNotice } from '../notice.ts';
import { groupNotices, type NoticeGroup, runsOf, type Subscriber } from './groups.ts';
import {
  insertDeliveries,
  insertEvents,
  lockCollecting,
  type NewDelivery,
  recount,
} from './insert-deliveries-store.ts';
import { NOTIFICATIONS_LOOP } from './loop-name.ts';
import { type NoticeTexts, partsOf, textsOf } from './notice-text.ts';
import { listDueRepeats, listUnsentOpen, type OpenOfRule, recordOpen } from './open-events-store.ts';

/** From the first notice of a message to its first try. */
export const GROUP_WAIT_MS = 15_000;

export type EnqueueContext = Pick<Context, 'db' | 'clock'> & { services: Pick<Services, 'bus'> };

/**
 * Queues a delivery for each endpoint that wants the notices, grouped. Runs in the transaction that records them; of one
 * event the notices come in the order of its states.
 */
export async function enqueueNotices(ctx: EnqueueContext, notices: readonly AlertNotice[]): Promise<void> {
  if (notices.length === 0) return;
  const texts = await textsOf(notices);
  await recordOpen(ctx.db, notices, texts);
  const subscribers = await lockSubscribers(ctx.db, notices);
  if (subscribers.length === 0) return;
  const woken = new Set<string>();
  for (const run of runsOf(notices))
    for (const group of groupNotices(run, subscribers).sort(byLane)) {
      for (const part of partsOf(group.notices)) await enqueueGroup(ctx, { ...group, notices: part }, texts);
      for (const id of group.endpointIds) woken.add(id);
    }
  await wakeEndpoints(ctx, woken, 'queued');
}

/** In one order, so that two transactions that lock the same deliveries wait for each other only one way. */
const byLane = (a: NoticeGroup, b: NoticeGroup): number =>
  `${a.ruleId} ${a.status} ${a.endpointIds.join()}` < `${b.ruleId} ${b.status} ${b.endpointIds.join()}`
    ? -1
    : 1;

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

/**
 * Locked against deletion until the transaction ends. Disabled ones too: one that is enabled meanwhile gets the alerts either
 * here or from `enqueueOpen`, which waits for this lock.
 */
async function lockSubscribers(db: Knex, notices: readonly AlertNotice[]): Promise<Subscriber[]> {
  const { rows } = await db.raw<{ rows: (Subscriber & { enabled: boolean })[] }>(
    `SELECT id, team_id AS "teamId", environment_id AS "environmentId", event_types AS "eventTypes", enabled
     FROM webhook_endpoints
     WHERE tombstoned_at IS NULL AND (team_id = ANY(?) OR environment_id = ANY(?)) ORDER BY id FOR KEY SHARE`,
    [
      [...new Set(notices.map(({ team }) => team.id))],
      [...new Set(notices.map(({ environment }) => environment.id))],
    ],
  );
  return rows.filter(({ enabled }) => enabled);
}

async function enqueueGroup(
  { db, clock }: EnqueueContext,
  group: NoticeGroup,
  texts: NoticeTexts,
): Promise<void> {
  const { endpointIds, ruleId, status, notices } = group;
  const at = clock.now();
  const joined = await lockCollecting(db, group);
  const made = await insertDeliveries(db, {
    endpointIds: endpointIds.filter((id) => !joined.has(id)),
    ...{ lane: ruleId, kind: status, notices, repeats: false },
    ...{ createdAt: new Date(at), nextAt: new Date(at + GROUP_WAIT_MS) },
  });
  await insertEvents(db, [...joined.values(), ...made], { notices, texts });
  await recount(db, [...joined.values()]);
}

/** Answers its id. */
export async function insertDelivery(
  db: Knex,
  { endpointId, ...delivery }: Omit<NewDelivery, 'endpointIds'> & { endpointId: string },
): Promise<string> {
  const [id = ''] = await insertDeliveries(db, { ...delivery, endpointIds: [endpointId] });
  const { notices } = delivery;
  await insertEvents(db, [id], { notices, texts: await textsOf(notices) });
  return id;
}

async function enqueueStored(
  ctx: EnqueueContext,
  open: readonly OpenOfRule[],
  repeats: boolean,
): Promise<void> {
  const now = new Date(ctx.clock.now());
  for (const { endpointId, ruleId, notices } of open)
    for (const part of partsOf(notices))
      await insertDelivery(ctx.db, {
        ...{ endpointId, lane: ruleId, kind: 'firing', repeats },
        notices: part.map(restoreNotice),
        ...{ createdAt: now, nextAt: now },
      });
}

/** For an endpoint that is enabled again, whose row is locked `FOR UPDATE`: alerts that began while it was sent nothing. */
export async function enqueueOpen(ctx: EnqueueContext, subscriber: Subscriber): Promise<void> {
  await enqueueStored(ctx, await listUnsentOpen(ctx.db, subscriber), false);
  await wakeEndpoints(ctx, [subscriber.id], 'enabled');
}

/**
 * Queues open alerts again for Alertmanager, which takes an alert that is not repeated for resolved. Answers the endpoints
 * that got some.
 */
export async function enqueueRepeats(ctx: EnqueueContext): Promise<Set<string>> {
  const due = await listDueRepeats(ctx.db, ctx.clock.now());
  await enqueueStored(ctx, due, true);
  const endpointIds = new Set(due.map(({ endpointId }) => endpointId));
  await wakeEndpoints(ctx, endpointIds, 'repeated');
  return endpointIds;
}
