/**
 * Sends what is due at one endpoint. Of each lane the oldest delivery goes first and alone, so each event is reported in the
 * order of its states; lanes do not wait for each other. A delivery is sent again until its outcome is stored: a controller
 * that dies in between sends it twice, with the same id.
 */
import type { Knex } from 'knex';
import type { Context } from '../../../platform/operation/context.ts';
import { type EndpointRow, findEndpoint } from '../endpoints/store.ts';
import { MAX_LISTED, type Message, type Rendered } from '../formats/message.ts';
import { renderMessage } from '../formats/render-message.ts';
import { delayAfter } from './retries.ts';
import { type SendOutcome, sendMessage } from './send-message.ts';
import {
  countOpen,
  type DeliveryRow,
  deleteDelivery,
  dropUnfinished,
  listHeads,
  listNotices,
  lockUnfinished,
  recordAttempt,
  setBody,
} from './store.ts';

/** Lanes that are sent at once. */
const LANES = 8;
/** Of a pass, before others get its place. */
const ROUNDS = 50;
/** Alertmanager gets each alert of a delivery, of which there are at most so many. */
const ALL = 1_000;

export const DISABLED = 'not sent: the endpoint was disabled';

interface Prepared {
  delivery: DeliveryRow;
  rendered: Rendered;
}

export interface DeliverPass {
  /** For the requests, which may be slow. */
  aside<T>(work: () => Promise<T>): Promise<T>;
  random?: () => number;
}

/** Milliseconds until something is due again; null where nothing is left to send. */
export async function deliverDue(
  ctx: Context,
  endpointId: string,
  pass: DeliverPass,
): Promise<number | null> {
  for (let round = 1; ; round += 1) {
    const endpoint = await findEndpoint(ctx.db, endpointId);
    if (!endpoint) return null;
    if (!endpoint.enabled) await fenced(ctx, (tx) => dropQueued({ ...ctx, db: tx }, endpointId));
    const heads = await listHeads(ctx.db, endpointId);
    const now = ctx.clock.now();
    const due = heads.filter(({ nextAt }) => nextAt.getTime() <= now);
    if (due.length === 0 || round > ROUNDS) {
      const [next] = heads;
      return next ? Math.max(0, next.nextAt.getTime() - now) : null;
    }
    await deliverSome(ctx, endpoint, due.slice(0, LANES), pass);
  }
}

async function deliverSome(
  ctx: Context,
  endpoint: EndpointRow,
  due: readonly DeliveryRow[],
  { aside, random }: DeliverPass,
): Promise<void> {
  const messages: Prepared[] = [];
  for (const { id } of due) {
    const message = await prepareMessage(ctx, endpoint, id);
    if (message) messages.push(message);
  }
  if (messages.length === 0) return;
  const deliver = async ({ delivery, rendered }: Prepared) => {
    const message = { deliveryId: delivery.id, format: endpoint.format, rendered };
    const outcome = await sendMessage(ctx, endpoint, message);
    await fenced(ctx, (tx) => storeOutcome(ctx, tx, delivery, outcome, random));
  };
  // All of them end before the pass does, whatever becomes of one.
  const results = await aside(() => Promise.allSettled(messages.map(deliver)));
  const failure = results.find(({ status }) => status === 'rejected');
  if (failure?.status === 'rejected') throw failure.reason;
}

/** Every write of a reconciler fails where another controller leads by now. */
const fenced = <T>(ctx: Context, work: (tx: Knex) => Promise<T>): Promise<T> =>
  ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    return work(tx);
  });

/** For an endpoint that is disabled. */
export const dropQueued = ({ db, clock }: Pick<Context, 'db' | 'clock'>, endpointId: string): Promise<void> =>
  dropUnfinished(db, endpointId, new Date(clock.now()), DISABLED);

/** Renders the message at its first try, or again where the endpoint has another format by now. Null where nothing is to be sent. */
function prepareMessage(ctx: Context, { format }: EndpointRow, deliveryId: string): Promise<Prepared | null> {
  return fenced(ctx, async (tx) => {
    const delivery = await lockUnfinished(tx, deliveryId);
    if (!delivery) return null;
    if (delivery.body !== null && delivery.format === format)
      return { delivery, rendered: JSON.parse(delivery.body) as Rendered };
    const message = await readMessage(ctx, tx, format, delivery);
    if (!message) {
      await deleteDelivery(tx, deliveryId);
      return null;
    }
    const rendered = renderMessage(format, message);
    await setBody(tx, deliveryId, { format, rendered });
    return { delivery, rendered };
  });
}

/** Null where all that was to be repeated is resolved by now. */
async function readMessage(
  { clock, services }: Context,
  tx: Knex,
  format: EndpointRow['format'],
  { id, kind, lane, total, repeats }: DeliveryRow,
): Promise<Message | null> {
  const limit = format === 'alertmanager' ? ALL : MAX_LISTED;
  const notices = await listNotices(tx, id, { limit, onlyOpen: repeats });
  if (notices.length === 0) return null;
  return {
    ...{ id, kind, notices, baseUrl: services.baseUrl },
    total: repeats ? notices.length : total,
    open: kind === 'test' ? 0 : await countOpen(tx, lane),
    renderedAt: new Date(clock.now()),
  };
}

async function storeOutcome(
  ctx: Pick<Context, 'clock' | 'log'>,
  tx: Knex,
  delivery: DeliveryRow,
  outcome: SendOutcome,
  random?: () => number,
): Promise<void> {
  const { at, status, error, durationMs, isDelivered, isFinal, retryAfterMs } = outcome;
  // A user who tests an endpoint sees the outcome and repeats the test by hand.
  const delayMs =
    isDelivered || isFinal || delivery.kind === 'test'
      ? null
      : delayAfter(delivery.attempts + 1, retryAfterMs, random);
  const { id, endpointId, kind } = delivery;
  if (!isDelivered)
    ctx.log[delayMs === null ? 'warn' : 'debug'](
      { endpointId, deliveryId: id, kind, status, reason: error, retryInMs: delayMs && Math.round(delayMs) },
      delayMs === null ? 'a notification is given up' : 'a notification is not delivered yet',
    );
  await recordAttempt(tx, id, {
    ...{ at, status, error, durationMs },
    outcome: isDelivered
      ? { state: 'delivered' }
      : delayMs === null
        ? { state: 'failed' }
        : { state: 'waiting', nextAt: new Date(ctx.clock.now() + delayMs) },
  });
}

/** Sends one delivery at once, for a caller who waits for it. */
export async function deliverNow(ctx: Context, endpoint: EndpointRow, deliveryId: string): Promise<void> {
  const prepared = await prepareMessage(ctx, endpoint, deliveryId);
  if (!prepared) return;
  const { delivery, rendered } = prepared;
  const outcome = await sendMessage(ctx, endpoint, { deliveryId, format: endpoint.format, rendered });
  await fenced(ctx, (tx) => storeOutcome(ctx, tx, delivery, outcome));
}
