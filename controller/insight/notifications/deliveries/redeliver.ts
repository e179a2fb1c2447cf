/** Sends a delivery once more, by hand. */
import type { MutationContext } from '../../../platform/operation/context.ts';
import { notFound, preconditionFailed } from '../../../platform/operation/errors.ts';
import { type EndpointRow, lockEndpoint } from '../endpoints/store.ts';
import { isIncidentService } from '../endpoints/target.ts';
import { wakeEndpoints } from './enqueue-store.ts';
import { countEvents, countOpen, type DeliveryRow, lockDelivery, requeue } from './store.ts';

export async function redeliver(ctx: MutationContext, deliveryId: string): Promise<EndpointRow> {
  const delivery = await lockDelivery(ctx.db, deliveryId);
  const endpoint = delivery && (await lockEndpoint(ctx.db, delivery.endpointId));
  if (!endpoint) throw notFound('Delivery');
  if (delivery.state === 'collecting' || delivery.state === 'waiting')
    throw preconditionFailed('This delivery is still to be sent; wait for its next try');
  if (!endpoint.enabled)
    throw preconditionFailed('The endpoint is disabled and is sent nothing; enable it first');
  await assertCurrent(ctx, endpoint, delivery);
  // Alerts at Alertmanager end some hours after their message is rendered.
  const again = endpoint.format === 'alertmanager';
  await requeue(ctx.db, deliveryId, { at: new Date(ctx.clock.now()), again });
  await wakeEndpoints(ctx, [endpoint.id], 'redelivered');
  return endpoint;
}

/** Services that keep a state would get one of the past, and nothing would correct it. */
async function assertCurrent(
  { db }: MutationContext,
  { format }: EndpointRow,
  { id, kind, lane }: DeliveryRow,
): Promise<void> {
  if (kind === 'test') return;
  if (format === 'alertmanager') {
    const { total, open } = await countEvents(db, id);
    if (kind === 'firing' && open < total)
      throw preconditionFailed(
        'An alert of this delivery is not open any more: Alertmanager would keep it, and nothing would resolve it',
      );
    if (kind === 'resolved' && open > 0)
      throw preconditionFailed(
        'An alert of this delivery is open again: Alertmanager would end one that goes on',
      );
  }
  if (!isIncidentService(format)) return;
  const open = await countOpen(db, lane);
  if (kind === 'firing' && open === 0)
    throw preconditionFailed(
      `No alert of this rule is open any more: ${format} would keep an alert that nothing resolves`,
    );
  if (kind === 'resolved' && open > 0)
    throw preconditionFailed(
      `Alerts of this rule are open again: ${format} would close an incident that goes on`,
    );
}
