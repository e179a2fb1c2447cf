/** Endpoints in words: formats, addresses, and what became of a delivery. */
import type {
  NotificationDelivery,
  NotificationFormat,
  WebhookEndpoint,
} from '../../../../schemas/api/insight/notifications.ts';
import type { Tone } from '../../ui/primitives/tone.ts';
import { plural } from '../../ui/text/format.ts';

interface FormatText {
  value: NotificationFormat;
  word: string;
  address: string;
  placeholder: string;
  hint: string;
  /** Of its key, which it cannot do without. */
  key?: string;
}

export const FORMATS: readonly FormatText[] = [
  {
    ...{ value: 'standard', word: 'Webhook', address: 'URL', placeholder: 'https://example.com/alerts' },
    hint: 'JSON, signed as Standard Webhooks says.',
  },
  {
    ...{ value: 'slack', word: 'Slack', address: 'Incoming webhook' },
    ...{
      placeholder: 'https://hooks.slack.com/services/…',
      hint: 'The URL of an incoming webhook of Slack.',
    },
  },
  {
    ...{ value: 'teams', word: 'Microsoft Teams', address: 'Workflow URL' },
    placeholder: 'https://….logic.azure.com/workflows/…',
    hint: 'Of the workflow “when a Teams webhook request is received”.',
  },
  {
    ...{ value: 'pagerduty', word: 'PagerDuty', address: 'URL', key: 'Integration key' },
    placeholder: 'https://events.pagerduty.com/v2/enqueue',
    hint: 'One incident per rule, resolved with its last alert.',
  },
  {
    ...{ value: 'opsgenie', word: 'Opsgenie', address: 'URL', key: 'API key' },
    placeholder: 'https://api.opsgenie.com/v2/alerts',
    hint: 'One alert per rule, closed with its last alert.',
  },
  {
    ...{ value: 'alertmanager', word: 'Alertmanager', address: 'URL' },
    placeholder: 'https://alertmanager.example.com',
    hint: 'Every alert, repeated each hour while it is open.',
  },
  {
    ...{ value: 'email', word: 'E-mail', address: 'Addresses' },
    ...{ placeholder: 'on-call@example.com, lead@example.com', hint: 'Up to 20, with commas between.' },
  },
];

const UNKNOWN: FormatText = { value: 'standard', word: 'Webhook', address: 'URL', placeholder: '', hint: '' };
export const formatText = (format: NotificationFormat): FormatText =>
  FORMATS.find(({ value }) => value === format) ?? UNKNOWN;

/** Where it is, without the scheme: of e-mail the addresses, else the host. */
export function addressText({ url, format }: Pick<WebhookEndpoint, 'url' | 'format'>): string {
  if (format === 'email') return url.replace(/^mailto:/i, '').replaceAll(',', ', ');
  return URL.parse(url)?.host ?? url;
}

/** What it is called: those of an environment have no name. */
export const endpointName = (endpoint: Pick<WebhookEndpoint, 'name' | 'url' | 'format'>): string =>
  endpoint.name ?? addressText(endpoint);

/** What is typed becomes the address that is stored. */
export const urlOf = (format: NotificationFormat, typed: string): string =>
  format === 'email' && !/^mailto:/i.test(typed.trim())
    ? `mailto:${typed
        .split(/[\s,;]+/)
        .filter(Boolean)
        .join(',')}`
    : typed.trim();

/** As it is typed again. */
export const typedUrl = ({ format, url }: Pick<WebhookEndpoint, 'url' | 'format'>): string =>
  format === 'email' ? url.replace(/^mailto:/i, '').replaceAll(',', ', ') : url;

export const STATE_TEXT: Record<NotificationDelivery['state'], { word: string; tone: Tone }> = {
  collecting: { word: 'Collecting', tone: 'moving' },
  waiting: { word: 'Waiting', tone: 'held' },
  delivered: { word: 'Delivered', tone: 'ok' },
  failed: { word: 'Failed', tone: 'failed' },
};

/** `Node is down fires, 40 alerts`. */
export function deliveryText({ kind, ruleName, total, repeats }: NotificationDelivery): string {
  if (kind === 'test') return 'Test';
  const verb = kind === 'resolved' ? 'is resolved' : repeats ? 'still fires' : 'fires';
  return `${ruleName ?? 'A rule'} ${verb}${total > 1 ? `, ${plural(total, 'alert')}` : ''}`;
}

/** `status 200 in 35 ms`; what went wrong where it failed. */
export function outcomeText(delivery: NotificationDelivery): string {
  const { error, responseStatus, durationMs } = delivery;
  if (error) return error;
  const parts = [
    responseStatus === null ? '' : `status ${responseStatus}`,
    durationMs === null ? '' : `in ${durationMs} ms`,
  ];
  return parts.filter(Boolean).join(' ');
}
