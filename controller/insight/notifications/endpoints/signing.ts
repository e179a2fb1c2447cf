/**
 * Secrets and signatures of messages. Standard Webhooks signs `<id>.<timestamp>.<body>`; `X-Svc-Signature`, which endpoints of
 * an environment get too, signs `<timestamp>.<body>`. Both are HMAC-SHA256.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { badRequest } from '../../../platform/operation/errors.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;
const MIN_KEY_BYTES = 8;

/** How long the secret before signs too. */
export const OVERLAP_MS = 24 * 3_600_000;

export const generateSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;

const decode = (secret: string): Buffer | null => {
  const text = secret.slice(PREFIX.length).replace(/=+$/, '');
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64').replace(/=+$/, '') === text ? bytes : null;
};

/** Behind `whsec_` the key is base64; of any other secret its bytes are the key. */
export function signingKey(secret: string): Buffer {
  return secret.startsWith(PREFIX)
    ? (decode(secret) ?? Buffer.from(secret, 'utf8'))
    : Buffer.from(secret, 'utf8');
}

export function assertSigningSecret(secret: string): void {
  if (!secret.startsWith(PREFIX)) return;
  const bytes = decode(secret);
  if (!bytes || bytes.length < MIN_KEY_BYTES)
    throw badRequest(
      `A secret that begins with ${PREFIX} must go on with the base64 of at least ${MIN_KEY_BYTES} bytes; give such a secret, or any other text of 8 to 256 characters`,
    );
}

export interface SignedMessage {
  id: string;
  body: string;
  at: Date;
  /** The newest first; none signs nothing. */
  secrets: readonly string[];
  /** Adds `X-Svc-Signature`. */
  isOfEnvironment: boolean;
}

export function signatureHeaders(message: SignedMessage): Record<string, string> {
  const { id, body, secrets } = message;
  const timestamp = String(Math.floor(message.at.getTime() / 1_000));
  const headers: Record<string, string> = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secrets.length === 0) return headers;
  const keys = secrets.map(signingKey);
  const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text);
  headers['webhook-signature'] = keys
    .map((key) => `v1,${hmac(key, `${id}.${timestamp}.${body}`).digest('base64')}`)
    .join(' ');
  if (message.isOfEnvironment)
    headers['X-Svc-Signature'] = [
      `t=${timestamp}`,
      ...keys.map((key) => `v1=${hmac(key, `${timestamp}.${body}`).digest('hex')}`),
    ].join(',');
  return headers;
}
