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

/**
 * Like `dns.lookup`, for `http.Agent`; fails with what `refused` makes for a name of which any address is one that `mayNot`
 * be asked. What passes is what the connection is made to: nobody looks the name up again.
 */
export function lookupElsewhere(
  refused: (host: string) => Error,
  mayNot: (address: string, host: string) => boolean = isLinkLocal,
) {
  return (host: string, options: LookupOptions, found: Found): void => {
    // All of them, however few are asked for: a name with one good address and one bad one is refused each time.
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return found(error, [], 0);
      if (addresses.some(({ address }) => mayNot(address, host))) return found(refused(host), [], 0);
      const [first] = addresses;
      if (options.all) found(null, addresses);
      else found(null, first?.address ?? '', first?.family ?? 0);
    });
  };
}
