/** A batch for a webhook, signed as Standard Webhooks define it (https://www.standardwebhooks.com). Pure. */
import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
/** Between 24 and 64: "Signature scheme" of the specification. */
const SECRET_BYTES = 32;

export const newSigningSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;

/** @param at milliseconds since 1970 */
export function signatureHeaders(
  secret: string,
  { id, at, body }: { id: string; at: number; body: string },
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1_000));
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${digest}` };
}

export const webhookBody = (type: string, entries: readonly unknown[]): string =>
  JSON.stringify({ type, entries });
