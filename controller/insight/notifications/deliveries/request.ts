/** The HTTP request of a message: its address, its headers, its body. */
import type { NotificationFormat } from '../../../../schemas/api/insight/notifications.ts';
import type { EndpointSecrets } from '../endpoints/sealed-fields.ts';
import { signatureHeaders } from '../endpoints/signing.ts';
import { ALERTS_PATH } from '../formats/alertmanager.ts';
import type { Rendered } from '../formats/message.ts';

export interface RequestParts {
  deliveryId: string;
  format: NotificationFormat;
  rendered: Extract<Rendered, { type: 'http' }>;
  secrets: EndpointSecrets;
  previousSecretUntil: Date | null;
  isOfEnvironment: boolean;
  at: Date;
}

export interface MessageRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Of the headers: no other host gets them. */
  secretHeaders: string[];
  redirects: number;
}

const REDIRECTS = 3;

export function messageRequest(parts: RequestParts): MessageRequest {
  const { format, rendered, secrets, at } = parts;
  const body = format === 'pagerduty' ? withRoutingKey(rendered.body, secrets.secret) : rendered.body;
  const authorization =
    format === 'opsgenie' ? { Authorization: `GenieKey ${secrets.secret ?? ''}` } : undefined;
  return {
    url: addressOf(format, secrets.url, rendered.path),
    headers: {
      ...secrets.headers,
      'content-type': 'application/json',
      ...authorization,
      ...(format === 'standard'
        ? signatureHeaders({
            ...{ id: parts.deliveryId, body, at, isOfEnvironment: parts.isOfEnvironment },
            secrets: signingSecrets(parts),
          })
        : {}),
    },
    body,
    secretHeaders: [...Object.keys(secrets.headers), ...Object.keys(authorization ?? {})],
    // Its key is in the body, which every host of a redirect would get.
    redirects: format === 'pagerduty' ? 0 : REDIRECTS,
  };
}

function signingSecrets({ secrets, previousSecretUntil, at }: RequestParts): string[] {
  const { secret, previousSecret } = secrets;
  if (secret === null) return [];
  const overlaps = previousSecret !== null && previousSecretUntil !== null && at < previousSecretUntil;
  return overlaps ? [secret, previousSecret] : [secret];
}

/** The stored body has no key, so that a key of today sends a message of yesterday. */
const withRoutingKey = (body: string, key: string | null): string =>
  `{"routing_key":${JSON.stringify(key ?? '')},${body.slice(1)}`;

function addressOf(format: NotificationFormat, address: string, path: string | undefined): string {
  if (format !== 'alertmanager' && path === undefined) return address;
  const url = new URL(address);
  const base = url.pathname.replace(/\/+$/, '');
  if (format === 'alertmanager') {
    url.pathname = base.endsWith(ALERTS_PATH) ? base : `${base}${ALERTS_PATH}`;
  } else {
    const [tail = '', query = ''] = (path ?? '').split('?');
    url.pathname = `${base}${tail}`;
    url.search = query;
  }
  return url.href;
}
