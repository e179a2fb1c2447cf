/** A test of an endpoint: a real delivery, whose outcome the caller waits for. */
import type { NotificationDelivery } from '../../../../schemas/api/insight/notifications.ts';
import type { Context, MutationContext } from '../../../platform/operation/context.ts';
import { notFound } from '../../../platform/operation/errors.ts';
import { newId } from '../../../platform/operation/ids.ts';
import { type EndpointRow, findEndpoint } from '../endpoints/store.ts';
import { exampleNotice } from '../formats/example-notice.ts';
import { deliverNow } from './deliver.ts';
import { insertDelivery, wakeEndpoints } from './enqueue-store.ts';
import { findDelivery } from './list-queries.ts';
import { readPlace } from './place-queries.ts';

/** Whatever keeps the caller's controller from sending it, the loop sends it then. */
const TAKE_OVER_MS = 60_000;

/** Answers the id of the delivery. */
export async function enqueueTest(ctx: MutationContext, endpoint: EndpointRow): Promise<string> {
  const now = ctx.clock.now();
  const notice = exampleNotice({
    ...(await readPlace(ctx.db, endpoint)),
    eventId: `test-${newId()}`,
    at: new Date(now),
    message: 'This is a test of a webhook endpoint of Headgate; nothing has happened',
  });
  const deliveryId = await insertDelivery(ctx.db, {
    ...{ endpointId: endpoint.id, lane: '', kind: 'test', repeats: false, notices: [notice] },
    createdAt: new Date(now),
    nextAt: new Date(now + TAKE_OVER_MS),
  });
  await wakeEndpoints(ctx, [endpoint.id], 'test');
  return deliveryId;
}

export async function sendTest(ctx: Context, endpointId: string, deliveryId: string): Promise<void> {
  const endpoint = await findEndpoint(ctx.db, endpointId);
  if (endpoint) await deliverNow(ctx, endpoint, deliveryId);
}

export async function getDelivery(ctx: Context, id: string): Promise<NotificationDelivery> {
  const delivery = await findDelivery(ctx.db, id);
  if (!delivery) throw notFound('Delivery');
  return delivery;
}
