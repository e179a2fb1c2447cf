/** Headers that users let the controller send along. */
import { badRequest } from '../../../platform/operation/errors.ts';

export type Headers = Readonly<Record<string, string>>;

/** Of the connection (RFC 9110, 7.6.1), of the request's own form, and our signatures. */
const REFUSED = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...[
    'proxy-authorization',
    'proxy-authenticate',
    'host',
    'content-length',
    'content-type',
    'content-encoding',
  ],
  ...['expect', 'accept-encoding', 'user-agent'],
  ...['webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-svc-signature'],
]);
/** Visible ASCII and blanks: no line break can begin another header. */
const VALUE = /^[\x20-\x7e]*$/;

export function assertHeaders(headers: Headers): void {
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase();
    if (REFUSED.has(key))
      throw badRequest(`headers: "${name}" is set by Headgate or belongs to the connection; leave it out`);
    if (seen.has(key)) throw badRequest(`headers: "${name}" is given twice; header names ignore case`);
    seen.add(key);
    // The value may be a secret, so it is not quoted.
    if (!VALUE.test(value))
      throw badRequest(`headers: the value of "${name}" must be visible ASCII characters and blanks`);
  }
}
