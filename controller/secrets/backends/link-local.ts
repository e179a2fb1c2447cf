/**
 * Addresses that only the machine itself is answered from: there, clouds hand out the identity of the machine. Whoever may
 * set the address of a store must not have the controller ask them.
 */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import { BackendError } from './backend.ts';

const LINK_LOCAL = new BlockList();
LINK_LOCAL.addSubnet('169.254.0.0', 16, 'ipv4');
LINK_LOCAL.addSubnet('fe80::', 10, 'ipv6');
// Of Amazon, which answers there as it does at 169.254.169.254.
LINK_LOCAL.addAddress('fd00:ec2::254', 'ipv6');

/** An IPv4 address in the form of an IPv6 one counts as what it stands for. */
export function isLinkLocal(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && LINK_LOCAL.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** For the host of a URL. One that is an address is not looked up, so it is checked here. */
export const isLinkLocalHost = (host: string): boolean => isLinkLocal(host.replace(/^\[|\]$/g, ''));

type Found = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/** Like `dns.lookup`, for `http.Agent`; fails for a name that leads there. */
export function lookupElsewhere(host: string, options: LookupOptions, found: Found): void {
  lookup(host, options, (error, address: string | LookupAddress[], family) => {
    const all = typeof address === 'string' ? [address] : (address ?? []).map((one) => one.address);
    const refused = error === null && all.some(isLinkLocal);
    found(refused ? linkLocalRefused(host) : error, address, family);
  });
}

export const linkLocalRefused = (host: string) =>
  new BackendError(
    'refused',
    `${host} is a link-local address, where a cloud answers the machine itself; give the address of the store`,
  );
