/** Signing out at the provider too: nobody ends on an error page of the provider. */
import { expect } from 'chai';
import { send } from '../../support/clients/http.ts';
import { type SignedIn, useSingleSignOn } from '../../support/scenes/single-sign-on.ts';
import { rs256 } from '../../support/servers/identity-provider.ts';

describe('signing out at an identity provider', () => {
  const scene = useSingleSignOn();

  async function signOut({ walker }: SignedIn): Promise<URL> {
    const answer = await send(`${scene.test.url}/api/auth/sign-out`, {
      headers: { cookie: walker.cookies },
      body: {},
    });
    expect(answer.status).to.equal(200);
    return new URL(answer.json<{ redirect: string }>().redirect);
  }
  /** What the provider shows there. */
  async function shown({ walker }: SignedIn, url: URL) {
    const { answer } = await walker.walk(url.href);
    return { status: answer.status, text: answer.text };
  }

  it('shows the ID token, so that the provider knows whose session ends', async () => {
    const signedIn = await scene.signIn(scene.somebody());
    const url = await signOut(signedIn);
    expect(url.searchParams.get('id_token_hint')).to.match(/^ey/);
    expect(url.searchParams.get('post_logout_redirect_uri')).to.equal(`${scene.test.url}/sign-in`);
    expect((await shown(signedIn, url)).status).to.equal(200);
  });

  it('does not strand anybody with a hint whose key the provider has given up', async () => {
    const signedIn = await scene.signIn(scene.somebody());
    scene.provider.rotate();
    const url = await signOut(signedIn);
    expect(url.searchParams.has('id_token_hint')).to.equal(false);
    // RP-Initiated Logout 1.0, section 2: without a hint the client is named, and the provider asks.
    expect(url.searchParams.get('client_id')).to.equal('headgate');
    const { status, text } = await shown(signedIn, url);
    expect(status, text).to.equal(200);
  });

  it('does not strand anybody with a hint that makes the address too long', async () => {
    scene.provider.changes = {
      idToken: (claims) => ({ ...claims, filler: 'x'.repeat(2_600) }),
      signed: (claims, key) => rs256(claims, key),
    };
    const signedIn = await scene.signIn(scene.somebody());
    const url = await signOut(signedIn);
    // Quarkus, and Keycloak with it, takes 4,096 bytes: https://quarkus.io/guides/all-config, max-initial-line-length.
    expect(url.href.length).to.be.below(3_900);
    expect(url.searchParams.has('id_token_hint')).to.equal(false);
    expect((await shown(signedIn, url)).status).to.equal(200);
  });

  it('leaves a hint out that is another client’s, after the client was changed', async () => {
    const signedIn = await scene.signIn(scene.somebody());
    await scene.db('oidc_settings').update({ client_id: 'another' });
    try {
      const url = await signOut(signedIn);
      expect(url.searchParams.has('id_token_hint')).to.equal(false);
    } finally {
      await scene.db('oidc_settings').update({ client_id: 'headgate' });
    }
  });
});
