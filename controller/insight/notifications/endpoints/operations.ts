/** Webhook endpoints of a team: they are sent the alerts of all its environments. */
import { Deleted } from '../../../../schemas/api/common.ts';
import {
  CreatedWebhookEndpoint,
  CreateWebhookEndpoint,
  ListWebhookEndpoints,
  RotatedSecret,
  UpdateWebhookEndpoint,
  WebhookEndpoint,
  WebhookEndpointId,
  WebhookEndpointList,
} from '../../../../schemas/api/insight/notifications.ts';
import { teamScope } from '../../../identity/access/index.ts';
import { lockTeam } from '../../../identity/teams/index.ts';
import type { Context, MutationContext } from '../../../platform/operation/context.ts';
import { notFound, preconditionFailed } from '../../../platform/operation/errors.ts';
import { mutation, query } from '../../../platform/operation/operation.ts';
import { changeEndpoint, createEndpoint } from './change-endpoint.ts';
import { endpointScope } from './endpoint-scope.ts';
import { presentEndpoint } from './present-endpoint.ts';
import { generateSecret } from './signing.ts';
import {
  deleteEndpoint,
  type EndpointLock,
  type EndpointRow,
  findEndpoint,
  listEndpoints,
  lockEndpoint,
} from './store.ts';
import { assertReachable, formatOf } from './target.ts';

async function getLocked(ctx: MutationContext, id: string, lock?: EndpointLock): Promise<EndpointRow> {
  const endpoint = await lockEndpoint(ctx.db, id, lock);
  if (!endpoint) throw notFound('Webhook endpoint');
  return endpoint;
}

async function getPresented(ctx: Context, id: string): Promise<WebhookEndpoint> {
  const endpoint = await findEndpoint(ctx.db, id);
  if (!endpoint) throw notFound('Webhook endpoint');
  return presentEndpoint(ctx, endpoint);
}

const notifyUi = (ctx: MutationContext) =>
  ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['alerts'] });

export const list = query({
  name: 'webhookEndpoint.list',
  summary: 'Webhook endpoints of a team, without their secrets',
  role: 'VIEWER',
  input: ListWebhookEndpoints,
  output: WebhookEndpointList,
  scope: (ctx, { teamId }) => teamScope(ctx, teamId),
  run: async (ctx, { teamId }) =>
    (await listEndpoints(ctx.db, { teamId })).map((row) => presentEndpoint(ctx, row)),
});

export const create = mutation({
  name: 'webhookEndpoint.create',
  summary: 'Create a webhook endpoint of a team; a secret that is generated is shown this once',
  role: 'ADMIN',
  audit: 'webhookEndpoint.created',
  input: CreateWebhookEndpoint,
  output: CreatedWebhookEndpoint,
  scope: (ctx, { teamId }) => teamScope(ctx, teamId),
  prepare: (ctx, { url }) => assertReachable(ctx, url.trim()),
  async run(ctx, { teamId, headers = {}, eventTypes, ...input }) {
    await lockTeam(ctx.db, teamId);
    const url = input.url.trim();
    const isSigned = formatOf(input.format, url) === 'standard';
    const generated = isSigned && input.secret === undefined ? generateSecret() : null;
    const id = await createEndpoint(
      ctx,
      { teamId },
      {
        ...{ name: input.name.trim(), url, format: input.format, eventTypes, headers },
        secret: input.secret ?? generated,
      },
    );
    await notifyUi(ctx);
    return { ...(await getPresented(ctx, id)), secret: generated };
  },
});

export const update = mutation({
  name: 'webhookEndpoint.update',
  summary: 'Change a webhook endpoint; for a day deliveries are signed with the secret before, too',
  role: 'ADMIN',
  audit: 'webhookEndpoint.updated',
  input: UpdateWebhookEndpoint,
  output: WebhookEndpoint,
  scope: (ctx, { id, teamId }) => endpointScope(ctx, teamId, id),
  async prepare(ctx, { url }) {
    if (url !== undefined) await assertReachable(ctx, url.trim());
  },
  async run(ctx, { id, teamId: _, ...change }) {
    const endpoint = await getLocked(ctx, id);
    await changeEndpoint(ctx, endpoint, {
      ...change,
      name: change.name?.trim(),
      url: change.url?.trim(),
    });
    await notifyUi(ctx);
    return getPresented(ctx, id);
  },
});

export const rotateSecret = mutation({
  name: 'webhookEndpoint.rotateSecret',
  summary: 'Generate a new signing secret, shown this once; the one before signs too for a day',
  role: 'ADMIN',
  audit: 'webhookEndpoint.secretRotated',
  input: WebhookEndpointId,
  output: RotatedSecret,
  scope: (ctx, { id, teamId }) => endpointScope(ctx, teamId, id),
  async run(ctx, { id }) {
    const endpoint = await getLocked(ctx, id);
    if (endpoint.format !== 'standard')
      throw preconditionFailed(
        `Messages of the format ${endpoint.format} are not signed, so there is no secret to rotate`,
      );
    const secret = generateSecret();
    await changeEndpoint(ctx, endpoint, { secret });
    await notifyUi(ctx);
    const until = (await getLocked(ctx, id)).previousSecretUntil;
    return { id, secret, previousSecretUntil: until ?? new Date(ctx.clock.now()) };
  },
});

export const toggleEnabled = mutation({
  name: 'webhookEndpoint.toggleEnabled',
  summary: 'Enable or disable a webhook endpoint; one that is enabled again is sent what still fires',
  role: 'ADMIN',
  audit: 'webhookEndpoint.toggled',
  input: WebhookEndpointId,
  output: WebhookEndpoint,
  scope: (ctx, { id, teamId }) => endpointScope(ctx, teamId, id),
  async run(ctx, { id }) {
    // Not while an evaluation queues alerts: one that reads it as disabled leaves them to `enqueueOpen`.
    const endpoint = await getLocked(ctx, id, 'UPDATE');
    await changeEndpoint(ctx, endpoint, { enabled: !endpoint.enabled });
    await notifyUi(ctx);
    return getPresented(ctx, id);
  },
});

export const remove = mutation({
  name: 'webhookEndpoint.delete',
  summary: 'Delete a webhook endpoint with the history of its deliveries',
  role: 'ADMIN',
  audit: 'webhookEndpoint.deleted',
  input: WebhookEndpointId,
  output: Deleted,
  scope: (ctx, { id, teamId }) => endpointScope(ctx, teamId, id),
  async run(ctx, { id }) {
    const { name } = await getLocked(ctx, id);
    await deleteEndpoint(ctx.db, id);
    ctx.audit({ entityType: 'WebhookEndpoint', entityId: id, metadata: { name } });
    await notifyUi(ctx);
    return { deleted: true as const };
  },
});
