/** Alert rules, endpoints and what was delivered to them. */
import { queryOptions } from '@tanstack/react-query';
import type { NotificationFormat } from '../../../../schemas/api/insight/notifications.ts';
import type { PresetScope } from '../../../../schemas/api/insight/preferences.ts';
import { api } from '../client.ts';
import { live } from './live.ts';

/** Deliveries end by themselves: no event tells of that. */
const DELIVERIES_MS = 5_000;

export const alertRulesQueries = {
  alertRules: (environmentId: string) =>
    queryOptions({
      queryKey: ['alert.listRules', environmentId],
      queryFn: () => api.alert.listRules.query({ environmentId }),
      meta: live(['alerts', 'git', 'pipelines'], environmentId),
    }),
  webhookEndpoints: (teamId: string) =>
    queryOptions({
      queryKey: ['webhookEndpoint.list', teamId],
      queryFn: () => api.webhookEndpoint.list.query({ teamId }),
      refetchInterval: DELIVERIES_MS,
      meta: live(['alerts']),
    }),
  alertWebhooks: (environmentId: string) =>
    queryOptions({
      queryKey: ['alert.listWebhooks', environmentId],
      queryFn: () => api.alert.listWebhooks.query({ environmentId }),
      refetchInterval: DELIVERIES_MS,
      meta: live(['alerts'], environmentId),
    }),
  /** The newest; `environmentId` null where the endpoint is one of the team. */
  notificationDeliveries: (
    { id, teamId, environmentId }: { id: string; teamId: string; environmentId: string | null },
    skip: number,
  ) =>
    queryOptions({
      queryKey: ['notificationDeliveries', id, skip],
      queryFn: () =>
        environmentId === null
          ? api.webhookEndpoint.listDeliveries.query({ webhookEndpointId: id, teamId, skip })
          : api.alert.listDeliveries.query({ webhookId: id, skip }),
      refetchInterval: DELIVERIES_MS,
      meta: live(['alerts']),
    }),
  notificationPreview: (teamId: string, format: NotificationFormat) =>
    queryOptions({
      queryKey: ['webhookEndpoint.preview', teamId, format],
      queryFn: () => api.webhookEndpoint.preview.query({ teamId, format }),
      meta: live([]),
    }),
  filterPresets: (environmentId: string, scope: PresetScope) =>
    queryOptions({
      queryKey: ['filterPreset.list', environmentId, scope],
      queryFn: () => api.filterPreset.list.query({ environmentId, scope }),
      meta: live(['presets'], environmentId),
    }),
};
