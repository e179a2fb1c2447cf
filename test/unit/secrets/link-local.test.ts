import { expect } from 'chai';
import { lookupElsewhere as lookupUnless } from '../../../controller/platform/link-local.ts';
import { isLinkLocalHost, lookupElsewhere } from '../../../controller/secrets/backends/link-local.ts';

describe('an address where a cloud answers the machine itself', () => {
  for (const [host, is, reason] of [
    ['169.254.169.254', true, 'the one of most clouds'],
    ['169.254.170.2', true, 'of containers'],
    ['[::ffff:a9fe:a9fe]', true, 'the same, written as IPv6'],
    ['[fe80::1]', true, 'link-local in IPv6'],
    ['[fd00:ec2::254]', true, 'Amazon in IPv6'],
    ['10.0.0.5', false, 'where a Vault of one’s own may be'],
    ['127.0.0.1', false, 'beside the controller'],
    ['[fd12::1]', false, 'a private network'],
    ['vault.example.com', false, 'a name, which is looked at when it is looked up'],
  ] as const) {
    it(`is${is ? '' : ' not'} ${host}: ${reason}`, () => {
      expect(isLinkLocalHost(host)).to.equal(is);
    });
  }

  it('is refused where a name leads there', async () => {
    const look = (host: string) =>
      new Promise<Error | null>((resolve) => lookupElsewhere(host, { all: true }, resolve));
    expect(await look('localhost')).to.equal(null);
    expect((await look('169.254.169.254'))?.message).to.match(/is a link-local address/);
  });

  it('is asked about with its name, and what was asked about is what is connected to', async () => {
    const asked: string[][] = [];
    const elsewhere = lookupUnless(
      (host) => new Error(`not ${host}`),
      (...about) => asked.push(about) > 1_000,
    );
    const found = (all: boolean) =>
      new Promise((resolve) => elsewhere('localhost', { all }, (_, address) => resolve(address)));
    const one = await found(false);
    expect(asked).to.deep.include([one, 'localhost']);
    const all = (await found(true)) as { address: string }[];
    for (const { address } of all) expect(asked).to.deep.include([address, 'localhost']);
  });
});
