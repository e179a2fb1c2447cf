import { expect } from 'chai';
import { createTargetGuard, TargetRefusedError } from '../../../controller/platform/net/outgoing/index.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';

const guardOf = (...privateTargets: string[]) => createTargetGuard(privateTargets, createLogger('silent'));
const resolved = (host: string, ...privateTargets: string[]): Promise<'refused' | string[]> =>
  guardOf(...privateTargets)
    .resolve(host)
    .catch((error: unknown) => {
      expect(error).to.be.instanceOf(TargetRefusedError);
      return 'refused' as const;
    });

describe('where the controller connects to for its users', () => {
  for (const [host, listed, is, reason] of [
    ['8.8.8.8', [], true, 'public'],
    ['git.example.org', [], true, 'a name, which is checked by its addresses'],
    ['127.0.0.1', [], false, 'loopback'],
    ['LOCALHOST.', [], false, 'loopback by name'],
    ['10.0.0.5', [], false, 'private'],
    ['[fd12::1]', [], false, 'private in IPv6'],
    ['[fe80::1]', [], false, 'link-local'],
    ['[::ffff:10.0.0.5]', [], false, 'private, written as IPv6'],
    ['10.0.0.5', ['10.0.0.0/8'], true, 'in a listed network'],
    ['[fe80::1]', ['fe80::/10'], true, 'link-local and listed'],
    ['localhost', ['127.0.0.0/8'], true, 'loopback by name, listed by address'],
    ['Vault.Corp.Example.', ['vault.corp.example'], true, 'a listed name'],
    ['169.254.169.254', ['0.0.0.0/0'], false, 'metadata of most clouds, whatever is listed'],
    ['[::ffff:a9fe:a9fe]', ['::/0', '0.0.0.0/0'], false, 'the same, written as IPv6'],
    ['169.254.170.2', ['169.254.170.2'], false, 'metadata of containers'],
    ['100.100.100.200', ['100.64.0.0/10'], false, 'metadata of Alibaba'],
    ['[fd00:ec2::254]', ['fd00::/8'], false, 'metadata of Amazon in IPv6'],
    ['metadata.google.internal', ['metadata.google.internal'], false, 'metadata of Google by name'],
  ] as const)
    it(`${is ? 'may' : 'may not'} be ${host} with ${listed.join() || 'nothing'} listed: ${reason}`, () => {
      const check = () => guardOf(...listed).assertHost(host);
      if (is) expect(check).not.to.throw();
      else expect(check).to.throw(TargetRefusedError);
    });

  it('is an address that the name was found at, and that is allowed', async () => {
    expect(await resolved('localhost')).to.equal('refused');
    expect(await resolved('localhost', '127.0.0.0/8', '::1')).to.include.oneOf(['127.0.0.1', '::1']);
    expect(await resolved('10.0.0.5')).to.equal('refused');
    expect(await resolved('10.0.0.5', '10.0.0.5')).to.deep.equal(['10.0.0.5']);
    for (const written of ['2130706433', '0x7f.1', '127.1'])
      expect(await resolved(written), written).to.equal('refused');
  });

  it('is what the lookup of an agent gives it, and nothing where that is not allowed', async () => {
    const look = (all: boolean, ...privateTargets: string[]) =>
      new Promise<unknown>((resolve) => {
        guardOf(...privateTargets).lookup('localhost', { all }, (error, found) => resolve(error ?? found));
      });
    expect(await look(true)).to.be.instanceOf(TargetRefusedError);
    expect(await look(false)).to.be.instanceOf(TargetRefusedError);
    expect(await look(false, '127.0.0.0/8', '::1')).to.be.oneOf(['127.0.0.1', '::1']);
  });

  it('is told in one message, whatever the reason', () => {
    const guard = guardOf();
    const told = new Set(
      [
        new TargetRefusedError('private'),
        Object.assign(new Error('x'), { code: 'ECONNREFUSED' }),
        Object.assign(new Error('x'), { code: 'ENOTFOUND' }),
        'no answer in time',
      ].map((reason) => guard.unreachable('git.example.org', reason)),
    );
    expect([...told]).to.have.length(1);
    expect([...told][0]).to.match(/^git\.example\.org cannot be reached: .*HEADGATE_PRIVATE_TARGETS/);
  });
});
