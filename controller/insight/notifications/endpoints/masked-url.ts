/** What viewers read of an address: the URLs of chat services are secrets, and others may hold one in their query. */
import type { NotificationFormat } from '../../../../schemas/api/insight/notifications.ts';

const SECRET_URLS: ReadonlySet<NotificationFormat> = new Set(['slack', 'teams']);

export function maskedUrl(format: NotificationFormat, url: string): string {
  const parsed = URL.parse(url);
  if (!parsed || format === 'email') return url;
  if (SECRET_URLS.has(format)) return `${parsed.origin}/…${url.slice(-4)}`;
  if (parsed.search !== '') parsed.search = '?…';
  return decodeURI(parsed.href);
}
