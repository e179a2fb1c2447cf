/** Whom an address stands for, wherever somebody is counted by it. */
import { expect } from 'chai';
import fc from 'fast-check';
import { perMinuteByAddress } from '../../../api/middleware/rate-limit.ts';
import { networkOf } from '../../../controller/platform/net/address-network.ts';

describe('the network that an address is counted by', () => {
  const CASES: { address: string; network: string }[] = [
    { address: '192.0.2.7', network: '192.0.2.7' },
    { address: '::ffff:192.0.2.7', network: '192.0.2.7' },
    { address: '::FFFF:c000:207', network: '192.0.2.7' },
    { address: '0:0:0:0:0:ffff:c000:0207', network: '192.0.2.7' },
    { address: '2001:db8:1:2:3:4:5:6', network: '2001:db8:1:2::/64' },
    { address: '2001:0DB8:0001:0002::1', network: '2001:db8:1:2::/64' },
    { address: '2001:db8::1', network: '2001:db8:0:0::/64' },
    { address: '::1', network: '0:0:0:0::/64' },
    { address: '::', network: '0:0:0:0::/64' },
    { address: 'fe80::1%eth0', network: 'fe80:0:0:0::/64' },
    { address: '64:ff9b::192.0.2.7', network: '64:ff9b:0:0::/64' },
    { address: '1::2:3:4:5:6:7', network: '1:0:2:3::/64' },
    { address: 'unknown', network: 'unknown' },
    { address: '', network: '' },
  ];
  for (const { address, network } of CASES)
    it(`of "${address}" is ${network}`, () => {
      expect(networkOf(address)).to.equal(network);
    });

  const group = fc.integer({ min: 0, max: 0xffff });
  const half = fc.array(group, { minLength: 4, maxLength: 4 });
  const text = (groups: readonly number[]) => groups.map((one) => one.toString(16)).join(':');
  /** As a browser would write it: the longest run of zeros is left out. */
  const short = (groups: readonly number[]) => new URL(`http://[${text(groups)}]/`).hostname.slice(1, -1);

  it('is the same for every address of 64 bits, however it is written, and another for another network', () => {
    fc.assert(
      fc.property(half, half, half, half, (network, host, other, otherNetwork) => {
        fc.pre(!network.every((one) => one === 0) && text(network) !== text(otherNetwork));
        const own = networkOf(text([...network, ...host]));
        expect(networkOf(short([...network, ...other]))).to.equal(own);
        expect(networkOf(`${text([...network, ...other])}%eth0`.toUpperCase())).to.equal(own);
        expect(networkOf(short([...otherNetwork, ...host]))).to.not.equal(own);
      }),
    );
  });

  it('is the IPv4 address itself where an IPv6 one stands for it', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
        expect(networkOf(address)).to.equal(address);
        expect(networkOf(`::ffff:${address}`)).to.equal(address);
        expect(networkOf(short([0, 0, 0, 0, 0, 0xffff, a * 256 + b, c * 256 + d]))).to.equal(address);
      }),
    );
  });

  it('is what a limit by address counts', () => {
    const limit = perMinuteByAddress(2, () => 0);
    limit.take('2001:db8::1');
    limit.check('2001:db8::2');
    limit.take('2001:db8::2');
    expect(() => limit.check('2001:db8::3')).to.throw('Too many requests');
    expect(() => limit.take('2001:db8::3')).to.throw('Too many requests');
    limit.take('2001:db8:0:1::3');
    limit.take('192.0.2.1');
    limit.take('::ffff:192.0.2.1');
    expect(() => limit.take('192.0.2.1')).to.throw('Too many requests');
  });
});
