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

/** The lower-case names win, as in curl and git. */
export const readProxies = (env: Readonly<Record<string, string | undefined>>): ProxySettings => ({
  http: env.http_proxy || env.HTTP_PROXY || null,
  https: env.https_proxy || env.HTTPS_PROXY || null,
  except: env.no_proxy || env.NO_PROXY || '',
});

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
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw new ProxyError(
      `${target.transport.toUpperCase()}_PROXY of the controller is not like http://proxy.example.com:3128; correct it, or name ${target.host} in NO_PROXY`,
    );
  return url;
}

/** `*`; a name, for itself and what lies below it, with or without a first dot; an address or a network; each perhaps with a port. */
function isExcepted({ host, port }: ProxyTarget, except: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return except
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      if (entry === '*') return true;
      const [, bracketed, plain, at] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
      if (at !== undefined && Number(at) !== port) return false;
      // An IPv6 address without brackets has no port.
      const given = (bracketed ?? plain ?? entry).replace(/^\*?\.|\.$/g, '');
      if (isIP(name) !== 0) return given === name || isWithin(name, given);
      return given !== '' && (name === given || name.endsWith(`.${given}`));
    });
}

function isWithin(address: string, network: string): boolean {
  const [base = '', bits = ''] = network.split('/');
  const family = isIP(base);
  const most = family === 6 ? 128 : 32;
  if (family === 0 || family !== isIP(address) || !/^\d{1,3}$/.test(bits) || Number(bits) > most)
    return false;
  const list = new BlockList();
  const type = family === 6 ? 'ipv6' : 'ipv4';
  list.addSubnet(base, Number(bits), type);
  return list.check(address, type);
}
