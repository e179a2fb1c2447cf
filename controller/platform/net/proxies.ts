/** The proxies by which a network lets requests out, said as most programs read them from the environment. */
import { BlockList, isIP } from 'node:net';

export interface ProxySettings {
  /** For http:// addresses: where the proxy is; null for none. */
  http: string | null;
  /** For https:// addresses. */
  https: string | null;
  /** Hosts that are asked directly, comma-separated. */
  except: string;
}

export const NO_PROXIES: ProxySettings = { http: null, https: null, except: '' };

type Environment = Readonly<Record<string, string | undefined>>;

/** The lower-case names win, as in curl and git. */
const nameIn = (env: Environment, name: string): string =>
  env[name.toLowerCase()] ? name.toLowerCase() : name;
const valueIn = (env: Environment, name: string): string => env[nameIn(env, name)] ?? '';

export const readProxies = (env: Environment): ProxySettings => ({
  http: valueIn(env, 'HTTP_PROXY') || null,
  https: valueIn(env, 'HTTPS_PROXY') || null,
  except: valueIn(env, 'NO_PROXY'),
});

/** The name of a variable whose value is no proxy that is spoken to, or no list of hosts; null where all can be used. */
export function unusableProxy(env: Environment): string | null {
  for (const name of ['HTTPS_PROXY', 'HTTP_PROXY']) {
    const value = valueIn(env, name);
    if (value !== '' && proxyUrl(value) === null) return nameIn(env, name);
  }
  return entriesOf(valueIn(env, 'NO_PROXY')).every(isEntry) ? null : nameIn(env, 'NO_PROXY');
}

/** The message says what to do. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
}

export interface ProxyTarget {
  transport: 'http' | 'https';
  /** Without brackets. */
  host: string;
  port: number;
}

/** Null where the target is asked directly. @throws ProxyError, which quotes nothing: there may be a password in it. */
export function proxyFor(target: ProxyTarget, settings: ProxySettings): URL | null {
  const text = settings[target.transport];
  if (text === null || isExcepted(target, settings.except)) return null;
  const url = proxyUrl(text);
  if (url === null)
    throw new ProxyError(
      `${target.transport.toUpperCase()}_PROXY of the controller is not like http://proxy.example.com:3128; correct it, or name ${target.host} in NO_PROXY`,
    );
  return url;
}

function proxyUrl(text: string): URL | null {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  return url && /^https?:$/.test(url.protocol) && url.hostname !== '' ? url : null;
}

const entriesOf = (except: string): string[] =>
  except
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);

/** What stands in the variable for other programs and means nothing here, such as `<local>`, is let be. */
function isEntry(entry: string): boolean {
  return !entry.includes('/') || networkOf(hostAndPort(entry).host) !== null;
}

/** `*`; a name, for itself and what lies below it, with or without a first dot; an address or a network; each perhaps with a port. */
function isExcepted({ host, port }: ProxyTarget, except: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return entriesOf(except).some((entry) => {
    if (entry === '*') return true;
    const { host: given, port: at } = hostAndPort(entry);
    if (at !== undefined && Number(at) !== port) return false;
    if (isIP(name) !== 0) return given === name || isWithin(name, given);
    return given !== '' && (name === given || name.endsWith(`.${given}`));
  });
}

/** An IPv6 address without brackets has no port. */
function hostAndPort(entry: string): { host: string; port: string | undefined } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
  return { host: (bracketed ?? plain ?? entry).replace(/^\*?\.|\.$/g, ''), port };
}

function isWithin(address: string, text: string): boolean {
  const network = networkOf(text);
  if (network === null || network.family !== isIP(address)) return false;
  const list = new BlockList();
  const type = network.family === 6 ? 'ipv6' : 'ipv4';
  list.addSubnet(network.base, network.bits, type);
  return list.check(address, type);
}

function networkOf(text: string): { base: string; bits: number; family: number } | null {
  const [base = '', bits = ''] = text.split('/');
  const family = isIP(base);
  const most = family === 6 ? 128 : 32;
  if (family === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > most) return null;
  return { base, bits: Number(bits), family };
}
