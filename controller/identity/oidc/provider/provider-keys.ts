/** The public keys of a provider, for what it signs and sends by itself, or is shown again: sign-ins fetch theirs anew. */
import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose';
import type { Outgoing } from '../../../platform/net/outgoing/index.ts';

/** Keys are believed for so long; one that is not among them is looked for again, but not more often than each ten seconds. */
const KEPT_MS = 5 * 60_000;
const COOLDOWN_MS = 10_000;
const FETCH_MS = 5_000;
const REPLY_BYTES = 1024 * 1024;

/** Signed with a key that only the provider has. */
export const SIGNATURES = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'],
  ...['EdDSA', 'Ed25519'],
];

export function keysAt(outgoing: Outgoing, jwksUri: string, caCertificate: string): JWTVerifyGetKey {
  return createRemoteJWKSet(new URL(jwksUri), {
    ...{ cacheMaxAge: KEPT_MS, cooldownDuration: COOLDOWN_MS, timeoutDuration: FETCH_MS },
    [customFetch]: (url, { headers, signal }) =>
      outgoing.ask(url, {
        ...{ method: 'GET', headers: Object.fromEntries(headers), body: null },
        ...{ replyBytes: REPLY_BYTES, signal, caCertificate },
      }),
  });
}
