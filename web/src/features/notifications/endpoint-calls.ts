/** Endpoints of a team and of an environment have procedures of their own, which do the same. */
import type { QueryClient } from '@tanstack/react-query';
import type { NotificationDelivery, WebhookEndpoint } from '../../../../schemas/api/insight/notifications.ts';
import { api } from '../../api/client.ts';

type Endpoint = Pick<WebhookEndpoint, 'id' | 'teamId' | 'environmentId' | 'enabled'>;

export const isOfTeam = ({ environmentId }: Pick<WebhookEndpoint, 'environmentId'>): boolean =>
  environmentId === null;

export const sendTest = ({ id, teamId, environmentId }: Endpoint): Promise<NotificationDelivery> =>
  environmentId === null
    ? api.webhookEndpoint.testDelivery.mutate({ id, teamId })
    : api.alert.testWebhook.mutate({ id });

export const redeliver = (
  { teamId, environmentId }: Endpoint,
  deliveryId: string,
): Promise<NotificationDelivery> =>
  environmentId === null
    ? api.webhookEndpoint.redeliver.mutate({ deliveryId, teamId })
    : api.alert.redeliver.mutate({ deliveryId });

/** Answers what became of it where git describes the endpoint, as `deleteEndpoint` does. */
export const toggleEndpoint = ({ id, teamId, environmentId, enabled }: Endpoint): Promise<unknown> =>
  environmentId === null
    ? api.webhookEndpoint.toggleEnabled.mutate({ id, teamId })
    : api.alert.updateWebhook.mutate({ id, enabled: !enabled });

export const deleteEndpoint = ({ id, teamId, environmentId }: Endpoint): Promise<unknown> =>
  environmentId === null
    ? api.webhookEndpoint.delete.mutate({ id, teamId })
    : api.alert.deleteWebhook.mutate({ id });

/** Reads again what the page shows of endpoints. */
export async function renewEndpoints(queryClient: QueryClient): Promise<void> {
  await Promise.all(
    ['webhookEndpoint.list', 'alert.listWebhooks', 'notificationDeliveries'].map((name) =>
      queryClient.invalidateQueries({ queryKey: [name] }),
    ),
  );
}
