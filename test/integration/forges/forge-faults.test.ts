/** A forge that answers badly, late, elsewhere or not at all, for each of them: what is told, and what is never told. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { ForgeError } from '../../../reconcilers/forges/forge.ts';
import { AUTHORITY } from '../../support/fixtures/certificates.ts';
import { writtenForms } from '../../support/scenes/stored-secrets.ts';
import { clientOf, SERVERS, useForge } from '../../support/servers/forges/index.ts';
import { ForwardProxy } from '../../support/servers/forward-proxy.ts';

async function failure(work: Promise<unknown>): Promise<ForgeError> {
  return work.then(
    () => expect.fail('nothing was refused'),
    (error: ForgeError) => {
      expect(error.name, error.stack).to.equal('ForgeError');
      return error;
    },
  );
}
const told = async (work: Promise<unknown>) => {
  const { fault, message } = await failure(work);
  return `${fault}: ${message}`;
};

for (const Server of SERVERS) {
  describe(`a bad day of ${Server.name.replace('Server', '')}`, () => {
    // Before the hooks that end the two: its log is whole then.
    afterEach(() => {
      for (const form of writtenForms(server.token)) expect(client.log()).not.to.contain(form);
    });
    const { server, client } = useForge(Server);
    beforeEach(() => {
      server.add();
    });

    it('tells that the token is wrong or expired, and repeats it in no form', async () => {
      const other = 'canary/Wr0ng+token%one';
      const wrong = clientOf(server, { token: other });
      const { fault, message, stack } = await failure(wrong.forge.get(1));
      expect(fault).to.equal('credentials');
      expect(message).to.match(/does not take the token .*wrong, expired or revoked; make a new one/);
      for (const form of writtenForms(other)) {
        expect(`${message} ${stack}`).not.to.contain(form);
        expect(wrong.log()).not.to.contain(form);
      }
      await wrong.forges.close();
    });

    it('waits as long as it is asked to, and asks nobody meanwhile', async () => {
      let now = Date.now();
      const waiting = clientOf(server, {}, { now: () => now });
      server.fault = () => ({ status: 429, headers: { 'retry-after': '120' } });
      const error = await failure(waiting.forge.get(1));
      expect(error.fault).to.equal('rate-limited');
      expect(error.retryAt?.getTime()).to.equal(now + 120_000);
      const asked = server.asked.length;
      server.fault = () => null;
      const held = await failure(waiting.forge.listOpen('main'));
      expect(held.fault).to.equal('rate-limited');
      expect(held.retryAt).to.deep.equal(error.retryAt);
      expect(server.asked.length, 'asked in between').to.equal(asked);
      now += 121_000;
      expect((await waiting.forge.get(1))?.number).to.equal(1);
      await waiting.forges.close();
    });

    it('reads what is left and when there is more, and believes in no wait beyond an hour', async () => {
      const now = Date.now();
      const reset = Math.floor(now / 1_000) + 300;
      const cases: [number, Record<string, string>, number][] = [
        [403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) }, reset * 1_000],
        [429, { 'ratelimit-reset': String(reset) }, reset * 1_000],
        [429, { 'retry-after': new Date(reset * 1_000).toUTCString() }, reset * 1_000],
        [429, { 'retry-after': '999999999' }, now + 3_600_000],
        [429, {}, now + 60_000],
        // A limit of GitHub's that has no time of its own: when more may be asked of the other stands beside.
        [
          403,
          {
            'x-ratelimit-remaining': '4321',
            'x-ratelimit-reset': String(reset),
            said: 'secondary rate limit',
          },
          now + 60_000,
        ],
      ];
      for (const [status, headers, at] of cases) {
        const one = clientOf(server, {}, { now: () => now });
        const { said = '', ...rest } = headers;
        server.fault = () => ({ status, headers: rest, text: said });
        const error = await failure(one.forge.get(1));
        expect(error.fault, JSON.stringify(headers)).to.equal('rate-limited');
        expect(error.retryAt?.getTime(), JSON.stringify(headers)).to.equal(at);
        await one.forges.close();
      }
    });

    it('is left alone for longer each time that it says "too often", and not for how long', async () => {
      let now = Date.now();
      const one = clientOf(server, {}, { now: () => now });
      const pauses: number[] = [];
      server.fault = () => ({ status: 429 });
      for (let times = 0; times < 8; times += 1) {
        const pause = ((await failure(one.forge.get(1))).retryAt?.getTime() ?? 0) - now;
        pauses.push(pause / 60_000);
        now += pause;
      }
      expect(pauses).to.deep.equal([1, 2, 4, 8, 16, 32, 60, 60]);
      server.fault = () => null;
      expect((await one.forge.get(1))?.number).to.equal(1);
      server.fault = () => ({ status: 429 });
      expect(((await failure(one.forge.get(1))).retryAt?.getTime() ?? 0) - now).to.equal(60_000);
      await one.forges.close();
    });

    it('asks again what only asks after an error of the server, and nothing that writes', async () => {
      // GitHub says so beside every answer.
      const reset = { 'x-ratelimit-reset': String(Math.floor(Date.now() / 1_000) + 1_800) };
      let bad = 2;
      server.fault = () => {
        bad -= 1;
        return bad >= 0 ? { status: 502, headers: reset, text: '<html>Bad Gateway</html>' } : null;
      };
      expect((await client.forge.get(1))?.number).to.equal(1);
      server.fault = ({ method }) => (method === 'GET' ? null : { status: 503, text: 'down' });
      const before = server.asked.filter(({ method }) => method !== 'GET').length;
      expect(
        await told(
          client.forge.setStatus('a'.repeat(40), {
            context: 'c',
            state: 'success',
            description: '',
            url: 'http://x',
          }),
        ),
      ).to.match(/^unavailable: .*status 503/);
      expect(server.asked.filter(({ method }) => method !== 'GET').length).to.equal(before + 1);
      server.fault = () => ({ status: 500 });
      const asked = server.asked.length;
      expect(await told(client.forge.get(1))).to.match(
        /^unavailable: .*status 500; it is asked again by itself/,
      );
      expect(server.asked.length, 'three times').to.equal(asked + 3);
    });

    it('asks again where the connection broke', async () => {
      let bad = 1;
      server.fault = () => {
        bad -= 1;
        return bad >= 0 ? 'break' : null;
      };
      expect((await client.forge.get(1))?.number).to.equal(1);
    });

    it('takes garbage for what it is', async () => {
      server.fault = () => ({ status: 200, text: '<html>sign in</html>' });
      expect(await told(client.forge.get(1))).to.match(/^unavailable: .*not JSON; is forge\.url the address/);
      for (const text of ['[]', '{}', '"x"', '{"number":1,"iid":1,"id":1}']) {
        server.fault = () => ({ status: 200, text });
        expect(await told(client.forge.get(1)), text).to.match(/^unavailable: .*otherwise than expected/);
        expect(await told(client.forge.setStatus('a', STATUS)).catch(() => ''), text).to.be.a('string');
      }
      for (const text of ['{}', '"x"', '[1]', '[{}]', '{"values":[1]}', '{"values":{}}']) {
        server.fault = () => ({ status: 200, text });
        expect(await told(client.forge.listOpen('main')), text).to.match(/^unavailable: /);
      }
    });

    it('reads no more than 8 MiB', async () => {
      for (const flood of ['flood', 'flood said'] as const) {
        server.fault = () => flood;
        expect(await told(client.forge.get(1))).to.match(/^unavailable: .*more than 8 MiB/);
      }
    });

    for (const how of ['hang', 'stall'] as const)
      it(`gives one up that ${how}s`, async () => {
        // Long enough for the question to arrive on a slow machine too.
        const short = clientOf(server, {}, { limits: { deadlineMs: 1_000 } });
        server.fault = () => how;
        expect(await told(short.forge.get(1))).to.match(
          /^unavailable: .*cannot be reached: nothing answers there/,
        );
        expect(server.asked, 'not asked again').to.have.length(1);
        await short.forges.close();
      });

    it('sends its token nowhere else, be it told to by a redirect or a next page', async () => {
      const caught: string[] = [];
      const thief = createServer((request, response) => {
        caught.push(JSON.stringify(request.headers));
        response.end('[]');
      });
      await new Promise<void>((listening) => thief.listen(0, '127.0.0.1', listening));
      const elsewhere = `http://127.0.0.1:${(thief.address() as AddressInfo).port}`;
      try {
        for (const status of [301, 302, 307, 308]) {
          server.fault = ({ path }) => ({ status, headers: { location: `${elsewhere}${path}` } });
          expect(await told(client.forge.get(1))).to.match(
            /^refused: .*redirects to http:\/\/127.*where the token is not sent/,
          );
        }
        server.fault = ({ path }) => ({ status: 301, headers: { location: `${path}-renamed` } });
        expect(await told(client.forge.get(1))).to.match(/^refused: .*was it renamed\? Set forge\.project/);
        server.fault = () => null;
        server.mostPerPage = 1;
        server.add();
        Object.defineProperty(server, 'pageUrl', { value: () => `${elsewhere}/next` });
        const listed = client.forge.listOpen('main');
        // The others name the number of the next page alone.
        if (server.name !== 'github' && server.name !== 'bitbucket') expect(await listed).to.have.length(2);
        else
          expect(await told(listed)).to.match(/^unavailable: .*names a page of http:\/\/127.*not followed/);
        expect(caught).to.deep.equal([]);
      } finally {
        await new Promise((closed) => thief.close(closed));
      }
    });

    it('says the same of one that is not there and of one that is not allowed', async () => {
      const gone = clientOf(server, { forgeUrl: 'http://localhost:9/api' });
      expect(await told(gone.forge.get(1))).to.match(
        /^unavailable: .* cannot be reached: nothing answers there, or .*HEADGATE_PRIVATE_TARGETS/,
      );
      await gone.forges.close();
      for (const host of ['169.254.169.254', '[fe80::1]', '10.0.0.1']) {
        const local = clientOf(server, { forgeUrl: `http://${host}/api` });
        expect(await told(local.forge.get(1))).to.match(
          /^unavailable: .* cannot be reached: nothing answers there, or .*HEADGATE_PRIVATE_TARGETS/,
        );
        await local.forges.close();
      }
    });

    it('trusts the authority of the binding, and no certificate without it', async () => {
      const secure = await new Server({ tls: true }).listen();
      secure.add();
      const known = clientOf(secure, { caCertificate: AUTHORITY });
      const unknown = clientOf(secure);
      try {
        expect((await known.forge.get(1))?.number).to.equal(1);
        expect(await told(unknown.forge.get(1))).to.match(
          /^unavailable: The certificate of .* is not trusted .*caCertificate/,
        );
      } finally {
        await known.forges.close();
        await unknown.forges.close();
        await secure.stop();
      }
    });

    it('goes by the proxy, in a tunnel where it is HTTPS', async () => {
      const secure = await new Server({ tls: true }).listen();
      secure.add();
      const proxy = await ForwardProxy.start();
      proxy.user = { name: 'us', password: 'canary-pr0xy' };
      const address = `http://us:canary-pr0xy@${proxy.host}`;
      const proxies = { http: address, https: address, except: '' };
      const plain = clientOf(server, {}, { proxies });
      const tunnelled = clientOf(secure, { caCertificate: AUTHORITY }, { proxies });
      const unknown = {
        ...proxies,
        http: `http://us:wrong-pr0xy@${proxy.host}`,
        https: `http://us:wrong-pr0xy@${proxy.host}`,
      };
      const stranger = clientOf(secure, { caCertificate: AUTHORITY }, { proxies: unknown });
      try {
        expect((await plain.forge.get(1))?.number).to.equal(1);
        expect((await tunnelled.forge.get(1))?.number).to.equal(1);
        expect(proxy.asked.some((one) => one.startsWith(`GET ${server.origin}/`))).to.equal(true);
        expect(proxy.asked.some((one) => one === `CONNECT ${new URL(secure.origin).host}`)).to.equal(true);
        const refused = await told(stranger.forge.get(1));
        expect(refused)
          .to.match(/^unavailable: .*proxy/i)
          .and.not.contain('wrong-pr0xy');
      } finally {
        for (const one of [plain, tunnelled, stranger]) await one.forges.close();
        await proxy.stop();
        await secure.stop();
      }
    });
  });
}

const STATUS = { context: 'c', state: 'success' as const, description: '', url: 'http://x' };
