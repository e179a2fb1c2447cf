/** What a client that signs with a key of its own calls its signature. */
import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { decodeProtectedHeader } from 'jose';
import { createClientAuth } from '../../../controller/identity/oidc/provider/client-auth.ts';

describe('a private key of the client', () => {
  for (const [type, key, alg] of [
    ['RSA', generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey, 'RS256'],
    ['EC P-256', generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey, 'ES256'],
    // As providers know it: RFC 8037. Keycloak knows no other name.
    ['Ed25519', generateKeyPairSync('ed25519').privateKey, 'EdDSA'],
  ] as const)
    it(`of ${type} signs as ${alg}`, async () => {
      const secret = key.export({ type: 'pkcs8', format: 'pem' }).toString();
      const authenticate = await createClientAuth({
        ...{ tokenEndpointAuthMethod: 'private_key_jwt', secret, options: { clientKeyId: 'k1' } as never },
      });
      const body = new URLSearchParams();
      await authenticate({ issuer: 'https://id.example' }, { client_id: 'headgate' }, body, new Headers());
      expect(decodeProtectedHeader(body.get('client_assertion') ?? '')).to.include({ alg, kid: 'k1' });
    });
});
