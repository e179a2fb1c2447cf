/** Git servers that are reached by a proxy: questions for refs, downloads and pushes all go the same way. */
import { expect } from 'chai';
import { NO_PROXIES } from '../../../controller/platform/net/proxies.ts';
import { git } from '../../support/clients/fast-import.ts';
import { AUTHORITY } from '../../support/fixtures/certificates.ts';
import { commandLinesDuring } from '../../support/harness/processes.ts';
import { headOf, MirrorScene, refusal } from '../../support/scenes/mirrors.ts';
import { writtenForms } from '../../support/scenes/stored-secrets.ts';
import { ForwardProxy } from '../../support/servers/forward-proxy.ts';
import { useGitServer } from '../../support/servers/git-server.ts';

const never = new AbortController().signal;
const PASSWORD = 'pr0xy/%"\'canary';
const user = { name: 'out@bound', password: PASSWORD };
const credentials = { type: 'basic', username: 'bot', password: 'glpat-1' } as const;

for (const tls of [true, false]) {
  const scheme = tls ? 'https' : 'http';
  describe(`a repository of a git server behind a proxy, over ${scheme}`, () => {
    const server = useGitServer({ tls, user: { name: 'bot', password: 'glpat-1' } });
    let proxy: ForwardProxy;
    let scene: MirrorScene;
    beforeEach(async () => {
      server.commit({ files: { 'a.yaml': 'a: 1' } });
      proxy = await ForwardProxy.start();
      proxy.user = user;
      open();
    });
    afterEach(async () => {
      await proxy.stop();
      scene.close();
    });

    function open({ name = user.name, password = PASSWORD, except = '' } = {}): void {
      scene?.close();
      const who = name === '' ? '' : `${encodeURIComponent(name)}:${encodeURIComponent(password)}@`;
      scene = new MirrorScene({
        deadlineMs: 20_000,
        proxies: { ...NO_PROXIES, [scheme]: `http://${who}${proxy.host}`, except },
      });
    }
    const bound = () => scene.of(server.url(), { credentials, caCertificate: tls ? AUTHORITY : null });

    it('is copied, followed and pushed to by way of it alone', async () => {
      const seen = await commandLinesDuring(async () => {
        const handle = bound();
        await handle.fetch(never);
        const sha = headOf(handle);
        expect(await handle.push({ ref: 'refs/heads/new', sha, expect: null }, never)).to.equal('ok');
        expect(git(server.gitdir(), 'rev-parse', 'new')).to.equal(sha);
      });
      const way = tls ? /^CONNECT localhost:/ : /^(?:GET|POST) http:\/\/localhost:/;
      expect(proxy.asked.length).to.be.greaterThan(tls ? 2 : 4);
      for (const line of proxy.asked) expect(line).to.match(way);
      if (!tls) expect(proxy.asked.length, 'requests that came past it').to.equal(server.asked.length);
      for (const form of writtenForms(PASSWORD))
        expect([...seen, scene.log].join('\n').includes(form), form).to.equal(false);
    });

    it('is asked directly where NO_PROXY names it', async () => {
      open({ except: '10.0.0.0/8, localhost' });
      await bound().fetch(never);
      expect(proxy.asked).to.deep.equal([]);
    });

    for (const [what, how, says] of [
      ['knows nobody without a name', { name: '' }, 'requires a user name and a password'],
      [
        'does not know its password',
        { password: 'wrong-canary' },
        'does not accept its user name and password',
      ],
    ] as const) {
      it(`is told to be out of reach where the proxy ${what}`, async () => {
        open(how);
        const said = await refusal(bound().fetch(never));
        expect(said).to.equal(
          `localhost cannot be reached: the proxy ${proxy.host} ${says}; check ${scheme.toUpperCase()}_PROXY and NO_PROXY of the controller; it is tried again by itself`,
        );
      });
    }

    it('is told to be out of reach where the proxy is not there, in the question and in the download', async () => {
      const handle = bound();
      await handle.fetch(never);
      const { host } = proxy;
      await proxy.stop();
      const asked = await refusal(handle.fetch(never));
      const downloaded = await refusal(
        handle.push({ ref: 'refs/heads/x', sha: headOf(handle), expect: null }, never),
      );
      for (const said of [asked, downloaded])
        expect(said).to.include(`localhost cannot be reached: the proxy ${host} refuses connections; check`);
      proxy = await ForwardProxy.start();
    });

    if (tls) {
      it('is told to be out of reach where the proxy does not let us through', async () => {
        proxy.refuses = 403;
        expect(await refusal(bound().fetch(never))).to.include(
          'denies the connection, or cannot reach it either; check HTTPS_PROXY',
        );
      });
    }

    it('is told of where the variable is no proxy, and quotes nothing of it', async () => {
      scene.close();
      scene = new MirrorScene({
        proxies: { ...NO_PROXIES, [scheme]: 'socks5://me:secret-1@localhost:1080' },
      });
      expect(await refusal(Promise.resolve().then(() => bound().fetch(never)))).to.equal(
        `${scheme.toUpperCase()}_PROXY of the controller is not like http://proxy.example.com:3128; correct it, or name localhost in NO_PROXY`,
      );
    });
  });
}
