/**
 * Long random tokens: `<prefix>_<id>_<secret>`. The id finds the row, the SHA-256 of the secret is what is stored, and
 * digests are compared in constant time. Never a password hash: every agent poll pays for this check.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { newId } from '../operation/ids.ts';

/** Node, enrollment, personal (git) and session tokens, and the keys of service accounts. */
export type TokenPrefix = 'hgn' | 'hge' | 'hgp' | 'hgs' | 'svc';

export interface MintedToken {
  id: string;
  /** Shown once, stored nowhere. */
  token: string;
  hash: Buffer;
}

export function hashSecret(secret: string): Buffer {
  // By way of hex: at this length three times as fast as asking for a Buffer.
  return Buffer.from(hash('sha256', secret, 'hex'), 'hex');
}

export function mintToken(prefix: TokenPrefix, id: string = newId()): MintedToken {
  const secret = randomBytes(32).toString('hex');
  return { id, token: `${prefix}_${id}_${secret}`, hash: hashSecret(secret) };
}

const FORM = /^(hg[neps]|svc)_([0-9a-z]{26})_([0-9a-f]{64})$/;

/** Null for anything that is no token of this kind. */
export function parseToken(prefix: TokenPrefix, token: string): { id: string; hash: Buffer } | null {
  if (token.length > 128) return null;
  const parts = FORM.exec(token);
  if (!parts || parts[1] !== prefix) return null;
  return { id: parts[2]!, hash: hashSecret(parts[3]!) };
}

export function sameHash(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
