/** Which addresses belong to the internet, and which of the others an operator allows. */
import { BlockList, isIP } from 'node:net';

const listOf = (type: 'ipv4' | 'ipv6', networks: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const network of networks) {
    const [base = '', bits = ''] = network.split('/');
    list.addSubnet(base, Number(bits), type);
  }
  return list;
};

/** IANA's registry of special-purpose addresses, multicast, what is reserved; and Azure's own, which looks like any other. */
const NOT_PUBLIC_4 = listOf('ipv4', [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4', '168.63.129.16/32'],
]);
/** Of IPv6 this is all that is given out to anybody: no mapped IPv4, no ULA, no link-local, no NAT64. */
const GLOBAL_6 = listOf('ipv6', ['2000::/3']);
/** Protocols such as Teredo (2001::/32), documentation, 6to4: each leads to an IPv4 address of the sender's choice, or nowhere. */
const NOT_PUBLIC_6 = listOf('ipv6', ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);

/** Whether anybody on the internet could be meant by it. False for what is no address. */
export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !NOT_PUBLIC_4.check(address, 'ipv4');
  return family === 6 && GLOBAL_6.check(address, 'ipv6') && !NOT_PUBLIC_6.check(address, 'ipv6');
}

const typeOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

const LINK_LOCAL = listOf('ipv4', ['169.254.0.0/16']);
LINK_LOCAL.addSubnet('fe80::', 10, 'ipv6');

/** Services that hand out the identity of the machine, its cloud account or its container: no list of an operator opens them. */
const METADATA = new BlockList();
for (const address of [
  // AWS, Azure, Google, Oracle, OpenStack and others; containers (ECS) and pods (EKS) of AWS; pods of Google (GKE).
  ...['169.254.169.254', '169.254.170.2', '169.254.170.23', '169.254.169.252'],
  // Tencent, Scaleway, Azure's wire server, Alibaba, Oracle's first generation.
  ...['169.254.0.23', '169.254.42.42', '168.63.129.16', '100.100.100.200', '192.0.0.192'],
]) {
  METADATA.addAddress(address, 'ipv4');
  // The same by NAT64.
  METADATA.addAddress(`64:ff9b::${address}`, 'ipv6');
}
for (const address of [
  // AWS, EKS, Google, OpenStack, Scaleway, Akamai (Linode), Oracle.
  ...['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fe80::a9fe:a9fe', 'fd00:42::42'],
  ...['fd00:a9fe:a9fe::1', 'fd00:c1::a9fe:a9fe'],
])
  METADATA.addAddress(address, 'ipv6');
const METADATA_NAMES = new Set([
  ...['metadata', 'metadata.google.internal', 'metadata.azure.internal', 'metadata.oraclecloud.com'],
  ...['instance-data', 'instance-data.ec2.internal', 'metadata.tencentyun.com'],
]);

/** An IPv4 address in the form of an IPv6 one counts as what it stands for. */
const isLinkLocal = (address: string): boolean =>
  isIP(address) !== 0 && LINK_LOCAL.check(address, typeOf(address));
const isMetadata = (host: string): boolean =>
  METADATA_NAMES.has(host) || (isIP(host) !== 0 && METADATA.check(host, typeOf(host)));
const isLoopbackName = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost');

const NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9])?)*$/;

/** Whether an entry of the operator's list is a host name, an address or a network. */
export function isPrivateTarget(entry: string): boolean {
  const [base = '', bits, ...more] = entry.split('/');
  const family = isIP(base);
  if (family === 0) return bits === undefined && NAME.test(entry.toLowerCase());
  if (bits === undefined) return true;
  return more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32);
}

/** Hosts are in lower case, without brackets and without a dot at the end. */
export interface TargetPolicy {
  /** Whether a connection to this address may be made for that host. With `listedOnly` being public is not enough. */
  permits(host: string, address: string, listedOnly: boolean): boolean;
  /** Without a lookup: before an address is stored, and for a host that a proxy looks up. Of names it refuses the known local ones. */
  permitsUnseen(host: string, listedOnly: boolean): boolean;
  /** Whether the operator has named this host, or the address that it is at. */
  lists(host: string, address: string | null): boolean;
}

/** `entries`: host names, addresses and networks that an operator allows though they are private. */
export function createTargetPolicy(entries: readonly string[]): TargetPolicy {
  const networks = new BlockList();
  const names = new Set<string>();
  for (const entry of entries) {
    const [base = '', bits] = entry.split('/');
    if (isIP(base) === 0) names.add(entry.toLowerCase());
    else if (bits === undefined) networks.addAddress(base, typeOf(base));
    else networks.addSubnet(base, Number(bits), typeOf(base));
  }
  const inNetworks = (address: string) => isIP(address) !== 0 && networks.check(address, typeOf(address));
  const isListed = (host: string) =>
    names.has(host) ||
    inNetworks(host) ||
    (isLoopbackName(host) && (inNetworks('127.0.0.1') || inNetworks('::1')));
  return {
    permits(host, address, listedOnly) {
      if (isMetadata(host) || isMetadata(address)) return false;
      if (inNetworks(address)) return true;
      // A name alone opens no way to what only the machine itself can reach.
      if (names.has(host)) return !isLinkLocal(address);
      return !listedOnly && isPublic(address);
    },
    permitsUnseen(host, listedOnly) {
      if (isMetadata(host)) return false;
      if (isListed(host)) return true;
      return !listedOnly && (isIP(host) === 0 ? !isLoopbackName(host) : isPublic(host));
    },
    lists: (host, address) => isListed(host) || (address !== null && inNetworks(address)),
  };
}
