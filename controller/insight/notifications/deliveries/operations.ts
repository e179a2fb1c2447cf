/** What was delivered to the endpoints of a team, tests of them, and deliveries that are sent once more. */
import {
  ListEndpointDeliveries,
  NotificationDelivery,
  NotificationDeliveryList,
  NotificationPreview,
  PreviewNotification,
  RedeliverToEndpoint,
  WebhookEndpointId,
} from '../../../../schemas/api/insight/notifications.ts';
import { teamScope } from '../../../identity/access/index.ts';
import { notFound } from '../../../platform/operation/errors.ts';
import { mutation, query } from '../../../platform/operation/operation.ts';
import { endpointScope } from '../endpoints/endpoint-scope.ts';
import { lockEndpoint } from '../endpoints/store.ts';
import { deliveryScope } from './delivery-scope.ts';
import { listDeliveries as readDeliveries } from './list-queries.ts';
import { renderPreview } from './preview.ts';
import { redeliver as requeueDelivery } from './redeliver.ts';
import { enqueueTest, getDelivery, sendTest } from './test-endpoint.ts';

export const listDeliveries = query({
  name: 'webhookEndpoint.listDeliveries',
  summary: 'Deliveries to a webhook endpoint of the last 30 days, the newest first',
  role: 'VIEWER',
  input: ListEndpointDeliveries,
  output: NotificationDeliveryList,
  scope: (ctx, { teamId, webhookEndpointId }) => endpointScope(ctx, teamId, webhookEndpointId),
  run: (ctx, { webhookEndpointId, take = 20, skip = 0 }) =>
    readDeliveries(ctx.db, webhookEndpointId, { take, skip }),
});

export const testDelivery = mutation({
  name: 'webhookEndpoint.testDelivery',
  summary: 'Send a test to a webhook endpoint; answers its outcome',
  role: 'ADMIN',
  audit: 'webhookEndpoint.tested',
  input: WebhookEndpointId,
  output: NotificationDelivery,
  scope: (ctx, { id, teamId }) => endpointScope(ctx, teamId, id),
  async run(ctx, { id }) {
    const endpoint = await lockEndpoint(ctx.db, id);
    if (!endpoint) throw notFound('Webhook endpoint');
    const deliveryId = await enqueueTest(ctx, endpoint);
    ctx.audit({ entityType: 'WebhookEndpoint', entityId: id, metadata: { name: endpoint.name } });
    return getDelivery(ctx, deliveryId);
  },
  async finish(ctx, { id }, { output }) {
    await sendTest(ctx, id, output.id);
    return getDelivery(ctx, output.id);
  },
});

export const redeliver = mutation({
  name: 'webhookEndpoint.redeliver',
  summary: 'Send a delivery once more, with the same id and the same body',
  role: 'ADMIN',
  audit: 'webhookEndpoint.redelivered',
  input: RedeliverToEndpoint,
  output: NotificationDelivery,
  scope: (ctx, { teamId, deliveryId }) => deliveryScope(ctx, teamId, deliveryId),
  async run(ctx, { deliveryId }) {
    const { id, name } = await requeueDelivery(ctx, deliveryId);
    ctx.audit({ entityType: 'WebhookEndpoint', entityId: id, metadata: { name, deliveryId } });
    return getDelivery(ctx, deliveryId);
  },
});

export const preview = query({
  name: 'webhookEndpoint.preview',
  summary: 'An example of a message in a format',
  role: 'VIEWER',
  input: PreviewNotification,
  output: NotificationPreview,
  scope: (ctx, { teamId }) => teamScope(ctx, teamId),
  run: (ctx, { teamId, format }) => renderPreview(ctx, teamId, format),
});
