/**
 * Addresses that only the machine itself is answered from: there, clouds hand out the identity of the machine. Whoever may
 * set an address that the controller asks must not have it ask them.
 */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { BlockList, isIP } from 'node:net';

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

/** Like `dns.lookup`, for `http.Agent`; fails with what `refused` makes for a name that leads there. */
export function lookupElsewhere(refused: (host: string) => Error) {
  return (host: string, options: LookupOptions, found: Found): void => {
    lookup(host, options, (error, address: string | LookupAddress[], family) => {
      const all = typeof address === 'string' ? [address] : (address ?? []).map((one) => one.address);
      const leadsThere = error === null && all.some(isLinkLocal);
      found(leadsThere ? refused(host) : error, address, family);
    });
  };
}
