/** An endpoint as it is typed. */
import type { AlertRule } from '../../../../schemas/api/insight/alerts.ts';
import type { NotificationFormat, WebhookEndpoint } from '../../../../schemas/api/insight/notifications.ts';
import { type LabelRow, labelsOf } from '../../ui/form/label-rows.ts';
import { METRICS } from '../alerts/rule-text.ts';
import { formatText, typedUrl, urlOf } from './endpoint-text.ts';

type Metric = AlertRule['metric'];

export interface EndpointDraft {
  /** Of the team; else of the environment. */
  isOfTeam: boolean;
  name: string;
  format: NotificationFormat;
  url: string;
  eventTypes: readonly Metric[];
  secret: string;
  headers: readonly LabelRow[];
  /** Headers are written once and never shown: what is typed takes their place. */
  replacesHeaders: boolean;
}

export const newDraft = (isOfTeam: boolean): EndpointDraft => ({
  ...{ isOfTeam, name: '', format: 'standard', url: '', secret: '', headers: [], replacesHeaders: true },
  eventTypes: METRICS.map(({ value }) => value),
});

export const draftOf = (endpoint: WebhookEndpoint): EndpointDraft => ({
  isOfTeam: endpoint.environmentId === null,
  name: endpoint.name ?? '',
  format: endpoint.format,
  url: typedUrl(endpoint),
  eventTypes: endpoint.eventTypes,
  ...{ secret: '', headers: [], replacesHeaders: endpoint.headerNames.length === 0 },
});

/** What is missing before it can be sent; empty where nothing is. */
export function missingOf(draft: EndpointDraft, before: WebhookEndpoint | null): string {
  if (draft.isOfTeam && !draft.name.trim()) return 'name';
  if (!draft.url.trim()) return 'url';
  if (draft.isOfTeam && draft.eventTypes.length === 0) return 'events';
  const needsKey = formatText(draft.format).key !== undefined;
  const hasKey = before?.hasSecret === true && before.format === draft.format;
  return needsKey && !hasKey && !draft.secret.trim() ? 'key' : '';
}

/** Fields that both kinds of endpoint share; what was not touched is left out. */
export function changeOf(draft: EndpointDraft, before: WebhookEndpoint | null) {
  const url = urlOf(draft.format, draft.url);
  const headers = labelsOf(draft.headers);
  const hasHeaders = Object.keys(headers).length > 0;
  const sendsHeaders = before
    ? draft.replacesHeaders && (hasHeaders || before.headerNames.length > 0)
    : hasHeaders;
  return {
    ...(before && (before.urlRef !== null || before.url === url) ? {} : { url }),
    ...(before?.format === draft.format ? {} : { format: draft.format }),
    ...(sendsHeaders ? { headers } : {}),
  };
}
