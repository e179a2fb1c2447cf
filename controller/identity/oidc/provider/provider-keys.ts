/** The cached public keys of a provider, for logout tokens and ID token hints. Sign-ins fetch keys each time. */
import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose';
import type { Outgoing } from '../../../platform/net/outgoing/index.ts';

/** The age of cached keys. An unknown key causes a new fetch, at most every ten seconds. */
const MAX_AGE_MS = 5 * 60_000;
const COOLDOWN_MS = 10_000;
const FETCH_MS = 5_000;
const REPLY_BYTES = 1024 * 1024;

/** Asymmetric algorithms only. */
export const SIGNATURES = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'],
  ...['EdDSA', 'Ed25519'],
];

export function createKeySet(outgoing: Outgoing, jwksUri: string, caCertificate: string): JWTVerifyGetKey {
  return createRemoteJWKSet(new URL(jwksUri), {
    ...{ cacheMaxAge: MAX_AGE_MS, cooldownDuration: COOLDOWN_MS, timeoutDuration: FETCH_MS },
    [customFetch]: (url, { headers, signal }) =>
      outgoing.ask(url, {
        ...{ method: 'GET', headers: Object.fromEntries(headers), body: null },
        ...{ replyBytes: REPLY_BYTES, signal, caCertificate },
      }),
  });
}
