/** Encrypts and decrypts the address, the secrets and the headers of an endpoint. */
import type { Keyring } from '../../../platform/crypto/keyring.ts';
import { sealingContext } from '../../../platform/crypto/sealed-columns.ts';
import type { Headers } from './headers.ts';

export interface EndpointSecrets {
  url: string;
  secret: string | null;
  previousSecret: string | null;
  headers: Headers;
}

export interface SealedSecrets {
  sealed_url: string | null;
  sealed_secret: string | null;
  sealed_previous_secret: string | null;
  sealed_headers: string | null;
}

const TABLE = 'webhook_endpoints';

export function sealSecrets(keyring: Keyring, id: string, values: EndpointSecrets): SealedSecrets {
  const seal = (column: keyof SealedSecrets, text: string) =>
    keyring.seal(text, sealingContext(TABLE, id, column));
  const { url, secret, previousSecret, headers } = values;
  return {
    sealed_url: seal('sealed_url', url),
    sealed_secret: secret === null ? null : seal('sealed_secret', secret),
    sealed_previous_secret: previousSecret === null ? null : seal('sealed_previous_secret', previousSecret),
    sealed_headers:
      Object.keys(headers).length === 0 ? null : seal('sealed_headers', JSON.stringify(headers)),
  };
}

/** @throws KeyringError where a key is missing. */
export function openSecrets(keyring: Keyring, id: string, row: SealedSecrets): EndpointSecrets {
  const open = (column: keyof SealedSecrets): string | null => {
    const sealed = row[column];
    return sealed === null ? null : keyring.open(sealed, sealingContext(TABLE, id, column));
  };
  return {
    url: open('sealed_url') ?? '',
    secret: open('sealed_secret'),
    previousSecret: open('sealed_previous_secret'),
    headers: JSON.parse(open('sealed_headers') ?? '{}') as Headers,
  };
}
