/** Clients of forges by themselves: how long they are kept, where their tokens come from, what they never ask. */
import { expect } from 'chai';
import { NO_PROXIES } from '../../../controller/platform/net/proxies.ts';
import { createTransport } from '../../../reconcilers/forges/transport/transport.ts';
import { localGuard } from '../../support/fixtures/local-targets.ts';
import { writtenForms } from '../../support/scenes/stored-secrets.ts';
import {
  BitbucketServer,
  bindingTo,
  clientOf,
  GiteaServer,
  GitHubServer,
} from '../../support/servers/forges/index.ts';

const told = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing was refused',
    (error: { fault: string; message: string }) => `${error.fault}: ${error.message}`,
  );

describe('the clients of forges', () => {
  it('are shared by bindings of one place and token, and made anew for another', async () => {
    const server = await new GiteaServer().listen();
    const { forges, forge } = clientOf(server);
    try {
      const binding = bindingTo(server, { id: 'another' });
      expect(forges.of(binding)).to.equal(forge);
      expect(forges.of({ ...binding, revision: 2, forgeProject: 'acme/other' })).not.to.equal(forge);
      expect(forges.of(bindingTo(server, { revision: 2, token: 'another' }))).not.to.equal(forge);
      expect(forges.of({ ...binding, revision: 3, forge: 'none' })).to.equal(null);
    } finally {
      await forges.close();
      await server.stop();
    }
  });

  it('are given up an hour after they were used last, as those of bindings that are gone', async () => {
    const server = await new GiteaServer().listen();
    let now = 0;
    const { forges } = clientOf(server, {}, { now: () => now });
    try {
      const [gone, used, next] = ['gone', 'used', 'next'].map((id) => bindingTo(server, { id, token: id }));
      if (!gone || !used || !next) throw new Error('unreachable');
      const [first, second] = [forges.of(gone), forges.of(used)];
      now += 40 * 60_000;
      expect(forges.of(used)).to.equal(second);
      now += 40 * 60_000;
      forges.of(next);
      expect(forges.of(used)).to.equal(second);
      expect(forges.of(gone)).not.to.equal(first);
    } finally {
      await forges.close();
      await server.stop();
    }
  });

  it('say what to do where the token cannot be opened, also one of another column', async () => {
    const server = await new GiteaServer().listen();
    const { forges } = clientOf(server);
    try {
      const lost = bindingTo(server, { revision: 5, sealedForgeToken: 'v1.00000000.AAAA.AAAA' });
      expect(() => forges.of(lost)).to.throw(
        /cannot be opened with the keys .* give it anew as forge\.token/,
      );
      expect(await forges.check(lost)).to.deep.include({ ok: false });
      const none = bindingTo(server, { revision: 6, sealedForgeToken: null });
      expect(() => forges.of(none)).to.throw('There is no token for the forge');
    } finally {
      await forges.close();
      await server.stop();
    }
  });

  it('ask whether what they know still holds, and believe what they are told then', async () => {
    const server = await new GitHubServer().listen();
    const { forge, forges } = clientOf(server);
    try {
      server.add();
      const list = async () => (await forge.listOpen('main')).map(({ title }) => title);
      expect(await list()).to.deep.equal(['Change 1']);
      expect(server.unchanged).to.equal(0);
      expect(await list()).to.deep.equal(['Change 1']);
      expect(server.unchanged).to.equal(1);
      server.find(1).title = 'Renamed';
      expect(await list()).to.deep.equal(['Renamed']);
      expect(server.unchanged).to.equal(1);
    } finally {
      await forges.close();
      await server.stop();
    }
  });

  it('leave a token alone that was used too often, in every project and through a new configuration', async () => {
    const server = await new GitHubServer().listen();
    const { forge, forges } = clientOf(server);
    try {
      server.fault = () => ({ status: 429, headers: { 'retry-after': '600' } });
      expect(await told(forge.get(1))).to.match(/^rate-limited/);
      server.fault = () => null;
      const before = server.asked.length;
      const beside = forges.of(bindingTo(server, { id: 'beside', forgeProject: 'acme/other' }));
      expect(await told(beside?.get(1) ?? Promise.resolve())).to.match(/^rate-limited/);
      expect(await told(forges.of(bindingTo(server, { revision: 2 }))?.get(1) ?? Promise.resolve())).to.match(
        /^rate-limited/,
      );
      expect(server.asked.length).to.equal(before);
      const another = forges.of(bindingTo(server, { id: 'beside', revision: 2, token: 'another' }));
      expect(await told(another?.get(1) ?? Promise.resolve())).to.match(/^credentials/);
    } finally {
      await forges.close();
      await server.stop();
    }
  });

  it('ask nothing that lies beside their address', async () => {
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
      expect(await told(fetch(url)), url).to.match(/not followed/);
    await destroy();
  });
});

describe('Bitbucket', () => {
  it('takes a user and a password as well as a token alone', async () => {
    const server = await new BitbucketServer().listen();
    server.token = 'ann@example.org:app/pass+word';
    server.add();
    const { forge, forges } = clientOf(server);
    const wrong = clientOf(server, { token: 'ann@example.org:canary-wr0ng' });
    try {
      expect((await forge.get(1))?.number).to.equal(1);
      const message = await told(wrong.forge.get(1));
      expect(message).to.match(/^credentials/);
      for (const form of [...writtenForms('canary-wr0ng'), ...writtenForms('ann@example.org:canary-wr0ng')])
        expect(message).not.to.contain(form);
    } finally {
      await forges.close();
      await wrong.forges.close();
      await server.stop();
    }
  });
});
