/** The operations by which git creates, updates and prunes endpoints of an environment. */
import type { WebhookEndpointSpec } from '../../../../schemas/manifests/webhook-endpoint.ts';
import { type ColumnTypes, convergeOperation, pruneOperation } from '../../../delivery/ownership/index.ts';
import type { MutationContext } from '../../../platform/operation/context.ts';
import { dropQueued } from '../deliveries/deliver.ts';
import { enqueueOpen } from '../deliveries/enqueue-store.ts';
import { listDisabled, listDisabledOf } from './store.ts';

const ENDPOINTS = { entityType: 'AlertWebhook', table: 'webhook_endpoints' } as const;

const COLUMNS: ColumnTypes = {
  ...{ format: 'text', event_types: 'text[]', header_names: 'text[]', enabled: 'boolean' },
  ...{ plain_url: 'text', url_ref: 'text', secret_ref: 'text', header_templates: 'jsonb' },
  // Of one that was made by hand and adopted.
  ...{ sealed_url: 'text', sealed_secret: 'text', sealed_previous_secret: 'text', sealed_headers: 'text' },
  previous_secret_until: 'timestamptz',
};

const columnsOf = ({
  url,
  urlRef,
  secretRef,
  format,
  eventTypes,
  headers,
  enabled,
}: WebhookEndpointSpec) => ({
  ...{ format, enabled, event_types: [...new Set(eventTypes ?? [])], header_names: Object.keys(headers) },
  ...{ plain_url: url?.trim() ?? null, url_ref: urlRef ?? null, secret_ref: secretRef ?? null },
  header_templates: headers,
  ...{ sealed_url: null, sealed_secret: null, sealed_previous_secret: null, sealed_headers: null },
  previous_secret_until: null,
});

async function changed(ctx: MutationContext, environmentId: string): Promise<void> {
  for (const id of await listDisabled(ctx.db, environmentId)) await dropQueued(ctx, id);
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['alerts'] });
}

export const convergeWebhookEndpoints = convergeOperation<WebhookEndpointSpec>({
  ...ENDPOINTS,
  name: 'alertWebhook.converge',
  noun: 'alertWebhook',
  types: COLUMNS,
  async columns(ctx, environmentId, specs, rows) {
    const disabled = await listDisabledOf(
      ctx.db,
      rows.flatMap((row) => row?.id ?? []),
    );
    for (const [index, { enabled, eventTypes = [] }] of specs.entries()) {
      const id = rows[index]?.id;
      if (enabled && id !== undefined && disabled.includes(id))
        await enqueueOpen(ctx, { id, teamId: null, environmentId, eventTypes });
    }
    return specs.map(columnsOf);
  },
  changed,
});

export const pruneWebhookEndpoint = pruneOperation({
  ...ENDPOINTS,
  name: 'alertWebhook.prune',
  audit: 'alertWebhook.pruned',
  // One that is tombstoned is sent nothing; what was queued is given up.
  columns: { enabled: false },
  changed,
});
