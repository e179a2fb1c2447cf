/** Webhooks of one environment: they are sent all its alerts. */
import { Deleted } from '../../../../schemas/api/common.ts';
import { OrGit } from '../../../../schemas/api/delivery/git-words.ts';
import {
  AlertWebhookId,
  CreateAlertWebhook,
  ListAlertWebhooks,
  UpdateAlertWebhook,
  WebhookEndpoint,
  WebhookEndpointList,
} from '../../../../schemas/api/insight/notifications.ts';
import { lockEditable } from '../../../delivery/ownership/index.ts';
import { lockEnvironment } from '../../../fleet/environments/index.ts';
import { environmentScope, objectScope } from '../../../identity/access/index.ts';
import type { Context, MutationContext } from '../../../platform/operation/context.ts';
import { notFound } from '../../../platform/operation/errors.ts';
import { mutation, query } from '../../../platform/operation/operation.ts';
import { changeEndpoint, createEndpoint } from './change-endpoint.ts';
import { changeManifest } from './change-manifest.ts';
import { presentEndpoint } from './present-endpoint.ts';
import { deleteEndpoint, type EndpointRow, findEndpoint, listEndpoints, lockEndpoint } from './store.ts';
import { assertReachable } from './target.ts';

async function getLocked(ctx: MutationContext, id: string): Promise<EndpointRow> {
  const endpoint = await lockEndpoint(ctx.db, id);
  if (!endpoint) throw notFound('Alert webhook');
  return endpoint;
}

async function getPresented(ctx: Context, id: string): Promise<WebhookEndpoint> {
  const endpoint = await findEndpoint(ctx.db, id);
  if (!endpoint) throw notFound('Alert webhook');
  return presentEndpoint(ctx, endpoint);
}

const notifyUi = (ctx: MutationContext, environmentId: string | null) =>
  ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['alerts'] });

export const listWebhooks = query({
  name: 'alert.listWebhooks',
  summary: 'Webhooks of an environment, without their secrets',
  role: 'VIEWER',
  input: ListAlertWebhooks,
  output: WebhookEndpointList,
  scope: (ctx, { environmentId }) => environmentScope(ctx, environmentId),
  run: async (ctx, { environmentId }) =>
    (await listEndpoints(ctx.db, { environmentId })).map((row) => presentEndpoint(ctx, row)),
});

export const createWebhook = mutation({
  name: 'alert.createWebhook',
  summary: 'Create a webhook that is sent the alerts of an environment',
  role: 'EDITOR',
  audit: 'alertWebhook.created',
  input: CreateAlertWebhook,
  output: WebhookEndpoint,
  scope: (ctx, { environmentId }) => environmentScope(ctx, environmentId),
  prepare: (ctx, { url }) => assertReachable(ctx, url.trim()),
  async run(ctx, { environmentId, url, headers = {}, hmacSecret = null, format }) {
    await lockEnvironment(ctx.db, environmentId);
    const id = await createEndpoint(
      ctx,
      { environmentId },
      {
        ...{ name: null, url: url.trim(), format, eventTypes: [], headers, secret: hmacSecret },
      },
    );
    await notifyUi(ctx, environmentId);
    return getPresented(ctx, id);
  },
});

export const updateWebhook = mutation({
  name: 'alert.updateWebhook',
  summary: 'Change a webhook of an environment; one that is disabled is sent nothing',
  role: 'EDITOR',
  audit: 'alertWebhook.updated',
  input: UpdateAlertWebhook,
  output: OrGit(WebhookEndpoint),
  scope: (ctx, { id }) => objectScope(ctx, 'Alert webhook', id),
  async prepare(ctx, { url }) {
    if (url !== undefined) await assertReachable(ctx, url.trim());
  },
  async run(ctx, { id, hmacSecret, ...change }) {
    await lockEditable(ctx, 'webhook_endpoints', id);
    const endpoint = await getLocked(ctx, id);
    const fields = { ...change, url: change.url?.trim(), secret: hmacSecret };
    if (endpoint.managedBy === 'git') {
      await changeManifest(ctx, endpoint, fields);
      return getPresented(ctx, id);
    }
    await changeEndpoint(ctx, endpoint, fields);
    await notifyUi(ctx, endpoint.environmentId);
    return getPresented(ctx, id);
  },
});

export const deleteWebhook = mutation({
  name: 'alert.deleteWebhook',
  summary: 'Delete a webhook of an environment with the history of its deliveries',
  role: 'EDITOR',
  audit: 'alertWebhook.deleted',
  input: AlertWebhookId,
  output: OrGit(Deleted),
  scope: (ctx, { id }) => objectScope(ctx, 'Alert webhook', id),
  async run(ctx, { id }) {
    await lockEditable(ctx, 'webhook_endpoints', id);
    const { environmentId } = await getLocked(ctx, id);
    await deleteEndpoint(ctx.db, id);
    ctx.audit({ entityType: 'AlertWebhook', entityId: id });
    await notifyUi(ctx, environmentId);
    return { deleted: true as const };
  },
});
