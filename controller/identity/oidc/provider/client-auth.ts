/** Client authentication at a provider: OpenID Connect Core 1.0, section 9. */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { importPKCS8 } from 'jose';
import {
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  modifyAssertion,
  None,
  PrivateKeyJwt,
} from 'openid-client';
import { badRequest } from '../../../platform/operation/errors.ts';
import type { OidcProvider } from './provider-store.ts';

/** RFC 7518, 3.1. */
const ALGORITHM_OF_CURVE: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};
const MIN_RSA_BITS = 2_048;
const INVALID_KEY =
  'clientSecret: enter a private key in PEM without a passphrase: RSA of 2048 bits or more, EC P-256, P-384 or P-521, or Ed25519';

/** @throws BAD_REQUEST for a text that is not a supported signing key; the message contains nothing of it. */
export function readPrivateKey(pem: string): { pem: string; algorithm: string } {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw badRequest(INVALID_KEY);
  }
  const algorithm = algorithmOf(key);
  if (algorithm === undefined) throw badRequest(INVALID_KEY);
  return { pem: key.export({ type: 'pkcs8', format: 'pem' }).toString(), algorithm };
}

function algorithmOf({
  asymmetricKeyType: type,
  asymmetricKeyDetails: details,
}: KeyObject): string | undefined {
  if (type === 'rsa') return (details?.modulusLength ?? 0) >= MIN_RSA_BITS ? 'RS256' : undefined;
  if (type === 'ed25519') return 'Ed25519';
  return type === 'ec' ? ALGORITHM_OF_CURVE[details?.namedCurve ?? ''] : undefined;
}

export async function createClientAuth({
  tokenEndpointAuthMethod: method,
  secret,
  options,
}: Pick<OidcProvider, 'tokenEndpointAuthMethod' | 'options'> & {
  secret: string | null;
}): Promise<ClientAuth> {
  if (method === 'none' || secret === null) return None();
  if (method === 'client_secret_post') return ClientSecretPost(secret);
  if (method === 'client_secret_basic') return ClientSecretBasic(secret);
  const { pem, algorithm } = readPrivateKey(secret);
  const key = await importPKCS8(pem, algorithm);
  return PrivateKeyJwt(options.clientKeyId === '' ? key : { key, kid: options.clientKeyId }, {
    // RFC 9864 calls it Ed25519, but providers such as Keycloak know the name of RFC 8037.
    [modifyAssertion](header) {
      if (header.alg === 'Ed25519') header.alg = 'EdDSA';
    },
  });
}
