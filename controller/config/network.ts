/** Who may be believed, and what may be connected to. */
import { isIP } from 'node:net';
import { isPrivateTarget } from '../platform/net/outgoing/addresses.ts';
import { type ProxySettings, readProxies, unusableProxy } from '../platform/net/proxies.ts';
import { ConfigError, type Environment, listed, type Variable } from './values.ts';

export interface NetworkConfig {
  trustedProxies: string[];
  /** Those that git servers, forges and identity providers are reached by. */
  outgoingProxies: ProxySettings;
  /** Hosts and networks that the controller may connect to for its users though they are private. */
  privateTargets: string[];
}

export const NETWORK_VARIABLES: readonly Variable[] = [
  {
    name: 'HEADGATE_TRUSTED_PROXIES',
    default: '(none)',
    help: 'addresses or networks whose X-Forwarded-For is believed, comma-separated',
  },
  {
    name: 'HEADGATE_PRIVATE_TARGETS',
    default: '(none)',
    help: 'private hosts, addresses and networks that may be connected to (git, forges, secret stores, OIDC, webhooks), comma-separated',
  },
];

/** Of every program, not of Headgate alone. */
export const PROXY_VARIABLES: readonly Variable[] = [
  {
    name: 'HTTPS_PROXY',
    default: '(none)',
    help: 'proxy by which https:// git servers, forges, identity providers, webhooks, Vault and AWS Secrets Manager are reached',
  },
  {
    name: 'HTTP_PROXY',
    default: '(none)',
    help: 'proxy by which http:// git servers, forges, identity providers, webhooks, Vault and AWS Secrets Manager are reached',
  },
  {
    name: 'NO_PROXY',
    default: '(none)',
    help: 'hosts and networks that are reached without one, comma-separated, without http://',
  },
];

export const readNetworkConfig = (env: Environment): NetworkConfig => ({
  trustedProxies: proxies(env.HEADGATE_TRUSTED_PROXIES),
  outgoingProxies: outgoingProxies(env),
  privateTargets: privateTargets(env.HEADGATE_PRIVATE_TARGETS),
});

/** The value is not quoted: it may hold a password. */
function outgoingProxies(env: Environment): ProxySettings {
  const name = unusableProxy(env);
  if (name === null) return readProxies(env);
  throw new ConfigError(
    /^no_/i.test(name)
      ? `${name} must be host names, addresses and networks, comma-separated, each perhaps with a port and none with ://`
      : `${name} must be the address of an HTTP proxy, like http://proxy.example.com:3128`,
  );
}

function proxies(text: string | undefined): string[] {
  const entries = listed(text);
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/');
    const most = isIP(address) === 6 ? 128 : 32;
    const bad = isIP(address) === 0 || (bits !== undefined && !(/^\d+$/.test(bits) && Number(bits) <= most));
    if (bad)
      throw new ConfigError(`HEADGATE_TRUSTED_PROXIES: "${entry.slice(0, 60)}" is not an address or network`);
  }
  return entries;
}

function privateTargets(text: string | undefined): string[] {
  const entries = listed(text);
  const bad = entries.find((entry) => !isPrivateTarget(entry));
  if (bad !== undefined)
    throw new ConfigError(
      `HEADGATE_PRIVATE_TARGETS: "${bad.slice(0, 60)}" is not a host name, an address or a network`,
    );
  return entries;
}
