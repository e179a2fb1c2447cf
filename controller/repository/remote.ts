/** A repository elsewhere with all that is needed to talk to it. */
import { scryptSync } from 'node:crypto';
import type { GitCredentials } from '../../schemas/api/git-sync.ts';
import type { Keyring } from '../platform/keyring.ts';
import { type RemoteAddress, readAddress } from './address.ts';
import { openCredentials, redactor } from './credentials.ts';
import type { BoundRepository } from './handle.ts';

export interface Remote {
  address: RemoteAddress;
  credentials: GitCredentials;
  knownHosts: string | null;
  caCertificate: string | null;
  /** Names the address with the credentials, and reveals neither. */
  key: string;
  /** Takes the credentials out of a text. */
  redact(text: string): string;
}

/** @throws KeyringError where no key opens the credentials; AddressError. */
export function openRemote(keyring: Keyring, binding: BoundRepository): Remote {
  const address = readAddress(binding.repositoryUrl);
  const credentials = openCredentials(keyring, binding);
  const { knownHosts, caCertificate } = binding;
  return {
    address,
    credentials,
    knownHosts,
    caCertificate,
    key: keyOf([address.url, credentials, knownHosts, caCertificate]),
    redact: redactor(credentials),
  };
}

/** Stands in the name of a folder, so a password must not be found by trying: each try costs 10 ms. */
function keyOf(parts: readonly unknown[]): string {
  return scryptSync(JSON.stringify(parts), 'headgate mirror', 16, { N: 4_096, r: 8 }).toString('hex');
}
