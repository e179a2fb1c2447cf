/** A remote with everything that is needed to reach it. */
import { scryptSync } from 'node:crypto';
import type { Keyring } from '../../../platform/crypto/keyring.ts';
import type { TargetGuard } from '../../../platform/net/outgoing/index.ts';
import { ProxyError, type ProxySettings, proxyFor } from '../../../platform/net/proxies.ts';
import type { BoundRepository } from '../handle.ts';
import { RepositoryError } from '../repository-error.ts';
import { type RemoteAddress, readAddress } from './address.ts';
import { authorizationOf, openCredentials, redactor } from './credentials.ts';
import type { AppTokenSource, OpenedCredentials } from './github-app.ts';

export interface Remote {
  address: RemoteAddress;
  /** The address that answers: another path than that of `address` after a redirect within its origin. */
  endpoint: string;
  credentials: OpenedCredentials;
  /** The value of an Authorization header; null for none. @throws RepositoryError when an app gets no token */
  authorization(): Promise<string | null>;
  knownHosts: string | null;
  caCertificate: string | null;
  /** May hold a user name and a password; null for a direct connection. */
  proxy: URL | null;
  /** Identifies the address with the credentials and reveals neither. */
  key: string;
  /** Removes the credentials from a text. */
  redact(text: string): string;
  guard: TargetGuard;
}

export interface RemoteParts {
  keyring: Keyring;
  guard: TargetGuard;
  proxies: ProxySettings;
  appToken?: AppTokenSource | undefined;
}

/** @throws KeyringError when no key opens the credentials; AddressError; RepositoryError for an invalid proxy */
export function openRemote(
  { keyring, guard, proxies, appToken }: RemoteParts,
  binding: BoundRepository,
): Remote {
  const address = readAddress(binding.repositoryUrl);
  const proxy = proxyOf(address, proxies);
  const credentials = openCredentials(keyring, binding);
  const { knownHosts, caCertificate } = binding;
  const redact = redactor(credentials, proxy);
  let ofApp = (text: string) => text;
  return {
    address,
    async authorization() {
      if (credentials.type !== 'app') return authorizationOf(credentials);
      if (!appToken) throw new RepositoryError('credentials', 'GitHub Apps are not supported here');
      const password = await appToken(credentials, caCertificate);
      // https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/authenticating-as-a-github-app-installation
      const token = { type: 'basic' as const, username: 'x-access-token', password };
      ofApp = redactor(token);
      return authorizationOf(token);
    },
    endpoint: address.url,
    credentials,
    knownHosts,
    caCertificate,
    proxy,
    key: keyOf([address.url, credentials, knownHosts, caCertificate]),
    redact: (text) => ofApp(redact(text)),
    guard,
  };
}

function proxyOf(address: RemoteAddress, proxies: ProxySettings): URL | null {
  // Proxies of HTTP do not apply to ssh.
  if (address.transport === 'ssh') return null;
  try {
    return proxyFor({ ...address, transport: address.transport }, proxies);
  } catch (error) {
    throw error instanceof ProxyError ? new RepositoryError('unreachable', error.message) : error;
  }
}

/** The name of a folder, so it must not help to guess a password: each guess costs 10 ms. */
function keyOf(parts: readonly unknown[]): string {
  return scryptSync(JSON.stringify(parts), 'headgate mirror', 16, { N: 4_096, r: 8 }).toString('hex');
}
