/** The clients of forges: their lifetime, the source of their tokens, and the requests that they never send. */
import { expect } from 'chai';
import { NO_PROXIES } from '../../../controller/platform/net/proxies.ts';
import { createTransport } from '../../../reconcilers/forges/transport/transport.ts';
import { localGuard } from '../../support/fixtures/local-targets.ts';
import { writtenForms } from '../../support/scenes/stored-secrets.ts';
import {
  BitbucketServer,
  bindingTo,
  clientOf,
  faultOf,
  GiteaServer,
  GitHubServer,
  withForge,
} from '../../support/servers/forges/index.ts';

describe('the clients of forges', () => {
  it('are shared by bindings of one project and token, and replaced for another', () =>
    withForge(new GiteaServer(), async (server, { forges, forge }) => {
      const binding = bindingTo(server, { id: 'another' });
      expect(forges.of(binding)).to.equal(forge);
      expect(forges.of({ ...binding, revision: 2, forgeProject: 'acme/other' })).not.to.equal(forge);
      expect(forges.of(bindingTo(server, { revision: 2, token: 'another' }))).not.to.equal(forge);
      expect(forges.of({ ...binding, revision: 3, forge: 'none' })).to.equal(null);
    }));

  it('are dropped an hour after their last use', async () => {
    let now = 0;
    await withForge(
      new GiteaServer(),
      async (server, { forges }) => {
        const of = (id: string) => forges.of(bindingTo(server, { id, token: id }));
        const [first, second] = [of('gone'), of('used')];
        now += 40 * 60_000;
        expect(of('used')).to.equal(second);
        now += 40 * 60_000;
        of('next');
        expect(of('used')).to.equal(second);
        expect(of('gone')).not.to.equal(first);
      },
      { now: () => now },
    );
  });

  it('have an error with a remedy where the token cannot be opened or is missing', () =>
    withForge(new GiteaServer(), async (server, { forges }) => {
      const lost = bindingTo(server, { revision: 5, sealedForgeToken: 'v1.00000000.AAAA.AAAA' });
      expect(() => forges.of(lost)).to.throw(/cannot be opened with the keys .* as forge\.token/);
      expect(await forges.check(lost)).to.deep.include({ ok: false });
      const none = bindingTo(server, { revision: 6, sealedForgeToken: null });
      expect(() => forges.of(none)).to.throw('There is no token for the forge');
    }));

  it('revalidate what they have cached', () =>
    withForge(new GitHubServer(), async (server, { forge }) => {
      server.add();
      for (const [title, unchanged] of [
        ['Change 1', 0],
        ['Change 1', 1],
        ['Renamed', 1],
      ] as const) {
        server.find(1).title = title;
        expect((await forge.listOpen('main')).map((pull) => pull.title)).to.deep.equal([title]);
        expect(server.unchanged).to.equal(unchanged);
      }
    }));

  it('pause a token that was used too often, in every project and after a new configuration', () =>
    withForge(new GitHubServer(), async (server, { forge, forges }) => {
      server.fault = () => ({ status: 429, headers: { 'retry-after': '600' } });
      expect(await faultOf(forge.get(1))).to.match(/^rate-limited/);
      server.fault = () => null;
      const before = server.asked.length;
      for (const same of [{ id: 'beside', forgeProject: 'acme/other' }, { revision: 2 }])
        expect(await faultOf(forges.of(bindingTo(server, same))?.get(1))).to.match(/^rate-limited/);
      expect(server.asked.length).to.equal(before);
      const another = forges.of(bindingTo(server, { id: 'beside', revision: 2, token: 'another' }));
      expect(await faultOf(another?.get(1))).to.match(/^credentials/);
    }));

  it('ask nothing outside of their address', async () => {
    const { fetch, destroy } = createTransport({
      ...{ base: 'http://localhost:9/api/v1', label: 'X', token: 't', caCertificate: null },
      ...{ guard: localGuard(), proxies: NO_PROXIES, log: { debug() {} } as never },
    });
    for (const url of [
      'http://localhost:9/api/v10/x',
      'http://localhost:9/',
      'http://localhost:9/api/v1/../admin',
      'https://localhost:9/api/v1/x',
      'http://localhost:10/api/v1/x',
      'http://localhost@evil.example.org/api/v1/x',
    ])
      expect(await faultOf(fetch(url)), url).to.match(/not followed/);
    await destroy();
  });

  it('of Bitbucket take a user and a password as well as a token alone', () =>
    withForge(
      Object.assign(new BitbucketServer(), { token: 'ann@example.org:app/pass+word' }),
      async (server) => {
        server.add();
        const right = clientOf(server);
        expect((await right.forge.get(1))?.number).to.equal(1);
        const wrong = clientOf(server, { token: 'ann@example.org:canary-wr0ng' });
        const message = await faultOf(wrong.forge.get(1));
        expect(message).to.match(/^credentials/);
        for (const form of [...writtenForms('canary-wr0ng'), ...writtenForms('ann@example.org:canary-wr0ng')])
          expect(message).not.to.contain(form);
        for (const { forges } of [right, wrong]) await forges.close();
      },
    ));
});
