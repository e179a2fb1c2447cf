/**
 * Encryption at rest: AES-256-GCM, a random 96-bit nonce, the key's id in the text, and the place where the text is
 * stored as additional data, so that a text moved to another row does not open.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

export interface Keyring {
  /** Names the key without revealing it; replicas compare it. */
  readonly fingerprint: string;
  seal(plain: string, place: string): string;
  /** Throws where the text was changed, moved, or sealed with another key. */
  open(sealed: string, place: string): string;
}

export class KeyringError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'KeyringError';
  }
}

const REFUSED = new Set(['change-me', 'changeme', 'secret', 'password', 'headgate', 'default']);

/** `secret` is HEADGATE_SECRET_KEY: at least 32 characters, and no published default. */
export function createKeyring(secret: string): Keyring {
  if (REFUSED.has(secret.trim().toLowerCase()) || /^(.)\1*$/.test(secret)) {
    throw new KeyringError('HEADGATE_SECRET_KEY is a well-known value; make one with: openssl rand -hex 32');
  }
  if (secret.length < 32) {
    throw new KeyringError(
      'HEADGATE_SECRET_KEY is shorter than 32 characters; make one with: openssl rand -hex 32',
    );
  }
  const key = Buffer.from(hkdfSync('sha256', secret, 'headgate', 'at-rest v1', 32));
  const fingerprint = createHash('sha256').update('fingerprint').update(key).digest('hex').slice(0, 16);
  const keyId = fingerprint.slice(0, 8);
  return {
    fingerprint,
    seal(plain, place) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      cipher.setAAD(Buffer.from(place));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `v1.${keyId}.${nonce.toString('base64url')}.${body.toString('base64url')}`;
    },
    open(sealed, place) {
      const [version, sealedWith, nonce, body] = sealed.split('.');
      if (version !== 'v1' || !nonce || !body) throw new KeyringError('not a sealed text');
      if (sealedWith !== keyId) {
        throw new KeyringError(
          `sealed with key ${sealedWith}, this controller has ${keyId}; set HEADGATE_SECRET_KEY to the earlier key`,
        );
      }
      const bytes = Buffer.from(body, 'base64url');
      if (bytes.length < 16) throw new KeyringError('not a sealed text');
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'));
      decipher.setAAD(Buffer.from(place));
      decipher.setAuthTag(bytes.subarray(-16));
      try {
        return decipher.update(bytes.subarray(0, -16), undefined, 'utf8') + decipher.final('utf8');
      } catch {
        throw new KeyringError('a sealed text does not open: it was changed or moved');
      }
    },
  };
}
