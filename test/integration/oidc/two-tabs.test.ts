/** Two tabs of one browser that sign in at the same time, and a browser that comes back late. */
import { expect } from 'chai';
import { ATTEMPT, CALLBACK, userOf, useSingleSignOn } from '../../support/scenes/single-sign-on.ts';
import { Walker } from '../../support/users/walk.ts';

describe('two tabs that sign in at an identity provider at once', () => {
  const scene = useSingleSignOn();

  /** Up to the way back, which is not gone. */
  async function tab(walker: Walker, next: string): Promise<string> {
    walker.dropCookies('_');
    const { url } = await walker.walk(
      `${scene.test.url}/api/auth/oidc/login?next=${encodeURIComponent(next)}`,
      {
        stop: (at) => at.startsWith(`${scene.test.url}${CALLBACK}`),
      },
    );
    return url;
  }
  const comesBack = async (walker: Walker, callback: string) => (await walker.get(callback)).headers.location;

  it('both come in, each on its own page, whichever is first', async () => {
    scene.provider.person = scene.somebody();
    const walker = new Walker();
    const first = await tab(walker, '/fleet');
    const second = await tab(walker, '/pipelines');
    expect(await comesBack(walker, first)).to.equal('/fleet');
    expect(await comesBack(walker, second)).to.equal('/pipelines');
    expect(await userOf(scene.test.url, walker)).not.to.equal(null);
    expect(walker.cookieFrom(ATTEMPT), 'no cookie is left').to.equal(undefined);
  });

  it('comes in where the provider ends the sign-in of the second tab, as Keycloak does', async () => {
    scene.provider.person = scene.somebody();
    const walker = new Walker();
    const first = await tab(walker, '/fleet');
    const second = new URL(await tab(walker, '/pipelines'));
    expect(await comesBack(walker, first)).to.equal('/fleet');
    // https://www.keycloak.org/docs/latest/server_admin/#authentication-sessions: the tab that is late is answered so.
    second.searchParams.delete('code');
    second.searchParams.set('error', 'temporarily_unavailable');
    second.searchParams.set('error_description', 'authentication_expired');
    expect(await comesBack(walker, second.href)).to.equal('/pipelines');
    const stranger = new Walker();
    const refused = new URL(await tab(stranger, '/pipelines'));
    for (const [name, value] of [
      ['error', 'temporarily_unavailable'],
      ['code', null],
    ] as const)
      value === null ? refused.searchParams.delete(name) : refused.searchParams.set(name, value);
    expect(await comesBack(stranger, refused.href), 'nobody is in').to.include('problem=oidc_unavailable');
  });

  it('shows no error to somebody who loads the way back twice', async () => {
    scene.provider.person = scene.somebody();
    const walker = new Walker();
    const callback = await tab(walker, '/fleet');
    expect(await comesBack(walker, callback)).to.equal('/fleet');
    expect(await comesBack(walker, callback)).to.equal('/');
    expect(await comesBack(new Walker(), callback), 'a stranger is told').to.include('problem=oidc_expired');
  });

  it('keeps no more cookies than servers on the way take', async () => {
    scene.provider.person = scene.somebody();
    const walker = new Walker();
    for (let n = 0; n < 12; n += 1) await tab(walker, `/${'x'.repeat(1_000)}${n}`);
    const own = walker.cookies.split('; ').filter((pair) => pair.startsWith(ATTEMPT));
    expect(own.length).to.be.within(2, 8);
    expect(own.join('; ').length).to.be.below(6_200);
    const last = await tab(walker, '/last');
    expect(await comesBack(walker, last)).to.equal('/last');
  });
});
