/** Several controllers in front of one database: a sign-in may begin at one and end at another, and ends once. */
import { expect } from 'chai';
import { send } from '../../support/clients/http.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { ATTEMPT, userOf, useSingleSignOn } from '../../support/scenes/single-sign-on.ts';
import { Walker } from '../../support/users/walk.ts';

describe('sign-in at an identity provider over two controllers', () => {
  const scene = useSingleSignOn();

  /** On the same database and with the same key, as browsers know it under that address. */
  const another = (baseUrl: string): Promise<TestController> =>
    startTestController({
      ...{ baseUrl, databaseUrl: scene.test.databaseUrl, dataDir: scene.test.config.dataDir },
      ...{ privateTargets: ['127.0.0.1'], trustedProxies: ['127.0.0.1'] },
    });

  it('ends at the other one, once over both', async () => {
    const other = await another(scene.test.url);
    try {
      const { walker, callback } = await scene.comeBack(scene.somebody());
      const { name, value } = walker.cookieFrom(ATTEMPT) ?? { name: '', value: '' };
      const ends = [scene.test.url, other.url].map(async (url) => {
        const own = new Walker();
        own.setCookie(name, value);
        const { location } = (await own.get(callback.replace(scene.test.url, url))).headers;
        return { location, user: await userOf(url, own) };
      });
      const [first, second] = (await Promise.all(ends)).sort(
        (a, b) => Number(a.user === null) - Number(b.user === null),
      );
      expect(first?.location).to.equal('/');
      expect(first?.user).not.to.equal(null);
      expect(second).to.deep.equal({ location: '/sign-in?problem=oidc_expired', user: null });
    } finally {
      await other.stop();
    }
  });

  it('over https binds its cookie to the host, and to https', async () => {
    const test = await startTestController({
      ...{ baseUrl: 'https://headgate.example.org', privateTargets: ['127.0.0.1'] },
      ...{ databaseUrl: scene.test.databaseUrl, dataDir: scene.test.config.dataDir },
    });
    try {
      const answer = await send(`${test.url}/api/auth/oidc/login`);
      const [pair = '', ...attributes] = (answer.headers['set-cookie'] ?? [''])[0]?.split('; ') ?? [];
      expect(pair).to.match(/^__Host-headgate\.oidc-sign-in\.[0-9a-f]{16}=v1\./);
      expect(attributes).to.include.members(['path=/', 'secure', 'httponly', 'samesite=lax']);
      const back = new URL(answer.headers.location ?? '').searchParams.get('redirect_uri');
      expect(back).to.equal('https://headgate.example.org/api/auth/oidc/callback');
      const long = `/${'x'.repeat(1_490)}`;
      const longest = await send(`${test.url}/api/auth/oidc/login?next=${long}`);
      expect(String(longest.headers['set-cookie']).length, 'what browsers keep').to.be.below(4_096);
    } finally {
      await test.stop();
    }
  });

  it('hears at once of another provider that was set at the first', async () => {
    const other = await another(scene.test.url);
    try {
      const locationOf = async () =>
        (await send(`${other.url}/api/auth/oidc/login`)).headers.location?.split('?')[0];
      expect(await locationOf()).to.equal(`${scene.provider.issuer}/auth`);
      await scene.root.mutate('settings.disableOidc');
      expect(await locationOf()).to.equal('/sign-in');
    } finally {
      await other.stop();
    }
  });
});
