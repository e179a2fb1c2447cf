/** Signing out at the provider too, from here and from there: OpenID Connect RP-Initiated and Back-Channel Logout 1.0. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { send } from '../../support/clients/http.ts';
import { type SignedIn, userOf, useSingleSignOn } from '../../support/scenes/single-sign-on.ts';
import {
  CLIENT_ID,
  type Claims,
  hs256,
  jwt,
  newKey,
  rs256,
  unsigned,
} from '../../support/servers/identity-provider.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

describe('a back-channel logout', () => {
  const scene = useSingleSignOn();

  /** As section 2.4 has it. */
  const claimsOf = (more: Claims): Claims => {
    const now = Math.floor(Date.now() / 1_000);
    return {
      ...{ iss: scene.provider.issuer, aud: CLIENT_ID, iat: now, exp: now + 120, jti: randomUUID() },
      ...{ events: { [EVENT]: {} }, ...more },
    };
  };
  const signed = (claims: Claims) => rs256(claims, scene.provider.key);
  const post = (body: string, type = 'application/x-www-form-urlencoded') =>
    send(`${scene.test.url}/api/auth/oidc/backchannel-logout`, {
      ...{ method: 'POST', headers: { 'content-type': type }, body },
    });
  const tell = (token: string) => post(new URLSearchParams({ logout_token: token }).toString());
  const isIn = async ({ walker }: SignedIn) => (await userOf(scene.test.url, walker)) !== null;
  const sidOf = async ({ user }: SignedIn): Promise<string> =>
    (
      await scene
        .db('sessions')
        .where({ user_id: user?.id })
        .orderBy('created_at', 'desc')
        .first('provider_sid')
    ).provider_sid;

  it('comes from the provider itself, when somebody signs out there', async () => {
    const here = await scene.signIn(scene.somebody());
    expect(await sidOf(here)).to.be.a('string');
    // RP-initiated at the provider, by whatever application: its own form, confirmed.
    const { answer } = await here.walker.walk(`${scene.provider.issuer}/session/end`);
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(answer.text)?.[1] ?? '';
    const done = await send(`${scene.provider.issuer}/session/end/confirm`, {
      ...{ method: 'POST', body: new URLSearchParams({ xsrf, logout: 'yes' }).toString() },
      headers: { cookie: here.walker.cookies, 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(done.status).to.be.below(400);
    expect(await isIn(here)).to.equal(false);
    const row = await scene
      .db('audit_log')
      .where({ entity_id: here.user?.id, action: 'user.signedOut' })
      .first();
    expect(row).to.include({ actor_type: 'system' });
    expect(row.metadata).to.deep.equal({ by: 'provider', issuer: scene.provider.issuer, ended: 1 });
  });

  it('ends one session by sid, all of a person by sub, and nobody else’s', async () => {
    const subject = scene.somebody();
    const first = await scene.signIn(subject);
    const sid = await sidOf(first);
    const [second, other] = [await scene.signIn(subject), await scene.signIn(scene.somebody())];
    const bySid = await tell(signed(claimsOf({ sid })));
    expect(bySid.status).to.equal(200);
    expect(bySid.headers['cache-control']).to.equal('no-store');
    expect([await isIn(first), await isIn(second), await isIn(other)]).to.deep.equal([false, true, true]);
    expect((await tell(signed(claimsOf({ sub: subject })))).status).to.equal(200);
    expect([await isIn(second), await isIn(other)]).to.deep.equal([false, true]);
  });

  it('of somebody else by a session’s name ends nothing, and a session that has ended is no error', async () => {
    const here = await scene.signIn(scene.somebody());
    const sid = await sidOf(here);
    expect((await tell(signed(claimsOf({ sid, sub: 'another' })))).status).to.equal(200);
    expect(await isIn(here)).to.equal(true);
    expect((await tell(signed(claimsOf({ sid: 'never there' })))).status).to.equal(200);
  });

  it('leaves sessions by password alone', async () => {
    const subject = scene.somebody();
    await scene.signIn(subject);
    await tell(signed(claimsOf({ sub: subject })));
    expect((await scene.root.call('query', 'user.me')).status).to.equal(200);
  });

  it('is taken with a key that the provider has since an hour ago or since now', async () => {
    const subject = scene.somebody();
    await tell(signed(claimsOf({ sub: 'somebody' })));
    const here = await scene.signIn(subject);
    expect((await tell(signed(claimsOf({ sub: subject, aud: [CLIENT_ID, 'another'] })))).status).to.equal(
      200,
    );
    expect(await isIn(here)).to.equal(false);
  });

  it('is refused, and ends nothing, where the token is not as section 2.6 wants it', async () => {
    const subject = scene.somebody();
    const here = await scene.signIn(subject);
    const now = Math.floor(Date.now() / 1_000);
    const right = claimsOf({ sub: subject });
    const without = (name: string) => {
      const { [name]: _, ...rest } = claimsOf({ sub: subject });
      return signed(rest);
    };
    const withClaims = (more: Claims) => signed(claimsOf({ sub: subject, ...more }));
    const secret = scene.provider.key.jwk.n ?? '';
    const header = { alg: 'RS256', kid: scene.provider.key.kid };
    const tokens: [reason: string, token: string][] = [
      ['no token', 'x'],
      ['not signed', unsigned(right)],
      ['signed with a secret that all know', hs256(right, secret, scene.provider.key.kid)],
      ['signed with another key', rs256(right, newKey(), scene.provider.key.kid)],
      ['signature cut off', signed(right).replace(/\.[^.]*$/, '.')],
      ['another issuer', withClaims({ iss: 'https://evil.example' })],
      ['another client', withClaims({ aud: 'another' })],
      ['expired', withClaims({ iat: now - 300, exp: now - 120 })],
      ['made in the future', withClaims({ iat: now + 600, exp: now + 700 })],
      ['made long ago', withClaims({ iat: now - 3_600, exp: now + 600 })],
      ...['iss', 'aud', 'iat', 'exp', 'jti', 'events'].map((name): [string, string] => [
        `no ${name}`,
        without(name),
      ]),
      ['an event of another kind', withClaims({ events: { 'http://schemas.openid.net/event/other': {} } })],
      ['an event that is no object', withClaims({ events: { [EVENT]: 1 } })],
      ['a nonce: it is an ID token', withClaims({ nonce: 'n' })],
      ['neither sub nor sid', signed(claimsOf({}))],
      ['a sub that is no text', withClaims({ sub: 7 })],
      ['a sub that is too long', withClaims({ sub: 'x'.repeat(256) })],
      [
        'typ of an access token',
        jwt({ ...header, typ: 'at+jwt' }, right, () => signed(right).split('.')[2] ?? ''),
      ],
    ];
    for (const [reason, token] of tokens) {
      const answer = await tell(token);
      expect(answer.status, reason).to.equal(400);
      expect(answer.headers['cache-control'], reason).to.equal('no-store');
      expect(answer.json<{ error: string }>().error, reason).to.equal('invalid_request');
    }
    expect(await isIn(here)).to.equal(true);
  });

  it('is taken once', async () => {
    const subject = scene.somebody();
    const token = signed(claimsOf({ sub: subject }));
    expect((await tell(token)).status).to.equal(200);
    const here = await scene.signIn(subject);
    expect((await tell(token)).status).to.equal(400);
    expect(await isIn(here)).to.equal(true);
  });

  it('is a form with one logout_token, of a bounded size', async () => {
    const token = signed(claimsOf({ sub: 'x' }));
    for (const [body, type, status] of [
      ['', undefined, 400],
      [`logout_token=${token}&logout_token=${token}`, undefined, 400],
      [JSON.stringify({ logout_token: token }), 'application/json', 400],
      [`logout_token=${'x'.repeat(20_000)}`, undefined, 413],
    ] as const)
      expect((await post(body, type)).status, body.slice(0, 20)).to.equal(status);
  });

  describe('signing out at an identity provider', () => {
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
});
