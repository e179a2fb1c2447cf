/** Which addresses may be asked for people, in whatever way they are written. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  createTargetPolicy,
  isPrivateTarget,
  isPublic,
} from '../../../controller/platform/net/outgoing/addresses.ts';
import { OutgoingError, readTarget } from '../../../controller/platform/net/outgoing/target.ts';

const none = createTargetPolicy([]);
const read = (address: string, policy = none) => readTarget(address, policy).url.href;

describe('an address that people give the controller to ask', () => {
  for (const [address, reason] of [
    ['0.0.0.0', 'this host'],
    ['10.255.0.1', 'private'],
    ['100.64.0.1', 'of a carrier (CGNAT)'],
    ['100.100.100.200', 'Alibaba’s own'],
    ['127.9.9.9', 'loopback'],
    ['169.254.169.254', 'of most clouds'],
    ['168.63.129.16', 'Azure’s own'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private, the last'],
    ['192.0.0.192', 'Oracle’s own'],
    ['192.168.1.1', 'private'],
    ['198.18.0.1', 'for measurements'],
    ['203.0.113.9', 'for documents'],
    ['224.0.0.1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'this host'],
    ['::1', 'loopback'],
    ['::ffff:8.8.8.8', 'IPv4 in IPv6'],
    ['::ffff:127.0.0.1', 'loopback in IPv6'],
    ['::7f00:1', 'the old form of that'],
    ['64:ff9b::7f00:1', 'NAT64'],
    ['64:ff9b:1::1', 'NAT64 of a network'],
    ['100::1', 'discarded'],
    ['2001::1', 'Teredo'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'Teredo, written out'],
    ['2001:db8::1', 'for documents'],
    ['2002:7f00:1::', '6to4'],
    ['3fff::1', 'for documents'],
    ['5f00::1', 'for segment routing'],
    ['fc00::1', 'ULA'],
    ['fd00:ec2::254', 'Amazon’s own'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local with its interface'],
    ['fec0::1', 'site-local'],
    ['ff02::1', 'multicast'],
    ['nobody', 'no address'],
    ['', 'nothing'],
  ] as const)
    it(`is not public: ${address || 'an empty text'}, ${reason}`, () =>
      expect(isPublic(address)).to.equal(false));

  for (const address of [
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.0',
    '100.63.255.255',
    '2606:4700::1111',
    '2a00::1',
  ])
    it(`is public: ${address}`, () => expect(isPublic(address)).to.equal(true));

  for (const address of [
    ...['https://127.1', 'https://0x7f.1', 'https://2130706433', 'https://0177.0.0.1', 'https://127.0.0.1.'],
    ...[
      'https://①②⑦.0.0.1',
      'https://[::ffff:7f00:1]',
      'https://[0:0:0:0:0:0:0:1]',
      'https://0',
      'https://0xa9fea9fe',
    ],
    ...['http://8.8.8.8', 'https://8.8.8.8:22', 'https://8.8.8.8:6379', 'https://%31%32%37.0.0.1'],
    ...[
      'ftp://8.8.8.8',
      'file:///etc/passwd',
      'https://',
      'https://a:b@8.8.8.8',
      'https://a@8.8.8.8',
      'gopher://x',
      '',
    ],
    `https://8.8.8.8/${'x'.repeat(2_000)}`,
  ])
    it(`is refused: ${address.slice(0, 40) || 'an empty text'}`, () => {
      expect(() => read(address)).to.throw(OutgoingError);
    });

  it('has one form, in which it is checked and asked', () => {
    expect(read('HTTPS://ID.Example.ORG.:443/a/../b#c')).to.equal('https://id.example.org/b');
    expect(read('https://bücher.example')).to.equal('https://xn--bcher-kva.example/');
    expect(read('https://8.8.8.8:8443')).to.equal('https://8.8.8.8:8443/');
  });

  it('says the same of what is private, of http and of strange ports', () => {
    const says = (address: string) => {
      try {
        return read(address);
      } catch (error) {
        return (error as Error).message.replace(new URL(address).origin, 'X');
      }
    };
    expect(new Set(['https://10.0.0.1', 'http://8.8.8.8', 'https://8.8.8.8:22'].map(says))).to.have.property(
      'size',
      1,
    );
  });

  it('never is a private one, however its numbers are written (property)', () => {
    const part = fc
      .tuple(fc.nat(255), fc.constantFrom(10, 8, 16))
      .map(([n, radix]) =>
        radix === 16 ? `0x${n.toString(16)}` : radix === 8 ? `0${n.toString(8)}` : String(n),
      );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), fc.constantFrom('', '.'), (parts, dot) => {
        const address = `https://${parts.join('.')}${dot}`;
        try {
          const { host } = readTarget(address, none);
          expect(isPublic(host), `${address} as ${host}`).to.equal(true);
        } catch (error) {
          expect(error).to.be.instanceOf(OutgoingError);
        }
      }),
    );
  });
});

describe('the operator’s list of private targets', () => {
  const policy = createTargetPolicy([
    'id.corp.example',
    '10.1.0.0/16',
    'fd12::/16',
    '192.168.7.7',
    'localhost',
  ]);

  for (const [host, address, listedOnly, is, reason] of [
    ['id.corp.example', '192.168.0.1', true, true, 'a name that is listed'],
    ['id.corp.example', '169.254.169.254', false, false, 'a listed name does not lead to the cloud'],
    ['other.corp.example', '192.168.0.1', false, false, 'another name'],
    ['x.id.corp.example', '192.168.0.1', false, false, 'a name below it'],
    ['other.example', '10.1.2.3', true, true, 'a name that leads into a listed network'],
    ['other.example', '10.2.2.3', false, false, 'one beside it'],
    ['other.example', 'fd12::9', true, true, 'a listed network of IPv6'],
    ['192.168.7.7', '192.168.7.7', true, true, 'a listed address'],
    ['8.8.8.8', '8.8.8.8', false, true, 'a public one'],
    ['8.8.8.8', '8.8.8.8', true, false, 'a public one by http'],
  ] as const)
    it(`${is ? 'permits' : 'refuses'} ${host} at ${address}: ${reason}`, () => {
      expect(policy.permits(host, address, listedOnly)).to.equal(is);
    });

  const everything = createTargetPolicy(['0.0.0.0/0', '::/0', 'fd00::/8', '64:ff9b::/96', 'service.example']);
  for (const [address, reason] of [
    ['169.254.169.254', 'most clouds'],
    ['169.254.169.252', 'pods of Google'],
    ['169.254.170.2', 'containers of AWS'],
    ['100.100.100.200', 'Alibaba'],
    ['168.63.129.16', 'Azure’s wire server'],
    ['::ffff:169.254.169.252', 'IPv4 in IPv6'],
    ['64:ff9b::a9fe:a9fe', 'NAT64'],
    ['64:ff9b::a83f:8110', 'Azure’s by NAT64'],
    ['64:ff9b::6464:64c8', 'Alibaba’s by NAT64'],
    ['fd00:ec2::254', 'AWS'],
    ['fd00:a9fe:a9fe::1', 'Akamai'],
    ['fd00:c1::a9fe:a9fe', 'Oracle'],
    ['fd20:ce::254', 'Google'],
  ] as const)
    it(`opens no service that hands out the machine’s identity: ${address}, ${reason}`, () => {
      for (const host of [address, 'service.example']) {
        expect(everything.permits(host, address, false), host).to.equal(false);
        expect(everything.permits(host, address, true), host).to.equal(false);
      }
      expect(everything.permitsUnseen(address, false)).to.equal(false);
    });

  it('tells a proxy’s target by its name alone', () => {
    expect(policy.permitsUnseen('anywhere.example', false)).to.equal(true);
    expect(policy.permitsUnseen('anywhere.example', true), 'http').to.equal(false);
    expect(policy.permitsUnseen('id.corp.example', true)).to.equal(true);
    for (const host of ['metadata.google.internal', 'a.localhost', '10.2.0.1', '169.254.169.254'])
      expect(policy.permitsUnseen(host, false), host).to.equal(false);
  });

  for (const [entry, is] of [
    ['id.corp.example', true],
    ['ID.corp.example', true],
    ['keycloak', true],
    ['10.0.0.0/8', true],
    ['10.0.0.1', true],
    ['fd00::/8', true],
    ['10.0.0.0/33', false],
    ['10.0.0.0/8/8', false],
    ['host/8', false],
    ['https://host', false],
    ['host:8080', false],
    ['*.corp.example', false],
    ['a..b', false],
    ['', false],
  ] as const)
    it(`${is ? 'may' : 'may not'} have the entry "${entry}"`, () =>
      expect(isPrivateTarget(entry)).to.equal(is));
});
