/** What was delivered to the webhooks of an environment, tests of them, and deliveries that are sent once more. */
import {
  AlertWebhookId,
  ListAlertDeliveries,
  NotificationDelivery,
  NotificationDeliveryList,
  RedeliverAlert,
} from '../../../../schemas/api/insight/notifications.ts';
import { objectScope } from '../../../identity/access/index.ts';
import { notFound } from '../../../platform/operation/errors.ts';
import { mutation, query } from '../../../platform/operation/operation.ts';
import { lockEndpoint } from '../endpoints/store.ts';
import { environmentDeliveryScope } from './delivery-scope.ts';
import { listDeliveries as readDeliveries } from './list-queries.ts';
import { redeliver as requeueDelivery } from './redeliver.ts';
import { enqueueTest, getDelivery, sendTest } from './test-endpoint.ts';

export const listDeliveries = query({
  name: 'alert.listDeliveries',
  summary: 'Deliveries to a webhook of an environment of the last 30 days, the newest first',
  role: 'VIEWER',
  input: ListAlertDeliveries,
  output: NotificationDeliveryList,
  scope: (ctx, { webhookId }) => objectScope(ctx, 'Alert webhook', webhookId),
  run: (ctx, { webhookId, take = 20, skip = 0 }) => readDeliveries(ctx.db, webhookId, { take, skip }),
});

export const testWebhook = mutation({
  name: 'alert.testWebhook',
  summary: 'Send a test to a webhook of an environment; answers its outcome',
  role: 'EDITOR',
  audit: 'alertWebhook.tested',
  input: AlertWebhookId,
  output: NotificationDelivery,
  scope: (ctx, { id }) => objectScope(ctx, 'Alert webhook', id),
  async run(ctx, { id }) {
    const endpoint = await lockEndpoint(ctx.db, id);
    if (!endpoint) throw notFound('Alert webhook');
    const deliveryId = await enqueueTest(ctx, endpoint);
    ctx.audit({ entityType: 'AlertWebhook', entityId: id });
    return getDelivery(ctx, deliveryId);
  },
  async finish(ctx, { id }, { output }) {
    await sendTest(ctx, id, output.id);
    return getDelivery(ctx, output.id);
  },
});

export const redeliver = mutation({
  name: 'alert.redeliver',
  summary: 'Send a delivery to a webhook of an environment once more, with the same id and the same body',
  role: 'EDITOR',
  audit: 'alertWebhook.redelivered',
  input: RedeliverAlert,
  output: NotificationDelivery,
  scope: (ctx, { deliveryId }) => environmentDeliveryScope(ctx, deliveryId),
  async run(ctx, { deliveryId }) {
    const { id } = await requeueDelivery(ctx, deliveryId);
    ctx.audit({ entityType: 'AlertWebhook', entityId: id, metadata: { deliveryId } });
    return getDelivery(ctx, deliveryId);
  },
});
