/** What an identity provider, or somebody in its place, says that must not be believed. */
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { send } from '../../support/clients/http.ts';
import { until } from '../../support/harness/until.ts';
import { ATTEMPT, CALLBACK, userOf, useSingleSignOn } from '../../support/scenes/single-sign-on.ts';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  hs256,
  newKey,
  rs256,
  type SigningKey,
  type TestIdentityProvider,
  unsigned,
} from '../../support/servers/identity-provider.ts';
import { Walker } from '../../support/users/walk.ts';

const now = () => Math.floor(Date.now() / 1000);
const pem = (key: SigningKey) => key.private.export({ type: 'pkcs8', format: 'pem' });

describe('a sign-in at an identity provider that is not in order', () => {
  const scene = useSingleSignOn();

  const attempt = async (changes: TestIdentityProvider['changes']) => {
    scene.provider.changes = changes;
    return scene.signIn(scene.somebody());
  };

  const REFUSED: [reason: string, changes: TestIdentityProvider['changes']][] = [
    ['a token for another client', { idToken: (c) => ({ ...c, aud: 'another' }) }],
    [
      'a token for several clients, made for another',
      { idToken: (c) => ({ ...c, aud: ['headgate', 'another'], azp: 'another' }) },
    ],
    ['a token of another issuer', { idToken: (c) => ({ ...c, iss: 'https://evil.example' }) }],
    ['a token with the nonce of another sign-in', { idToken: (c) => ({ ...c, nonce: 'other' }) }],
    ['a token without nonce', { idToken: ({ nonce: _, ...c }) => c }],
    ['a token that ended 61 s ago', { idToken: (c) => ({ ...c, exp: now() - 61 }) }],
    ['a token without end', { idToken: ({ exp: _, ...c }) => c }],
    ['a token without subject', { idToken: ({ sub: _, ...c }) => c }],
    ['an empty subject', { idToken: (c) => ({ ...c, sub: '' }) }],
    ['a subject with a NUL', { idToken: (c) => ({ ...c, sub: 'a\0b' }) }],
    ['a token that is not signed', { signed: unsigned }],
    [
      'a token signed with the secret of the client',
      { signed: (c, key) => hs256(c, CLIENT_SECRET, key.kid) },
    ],
    [
      'a token signed with the public key as if it were a secret',
      {
        signed: (c, key) => hs256(c, JSON.stringify({ kty: 'RSA', n: key.jwk.n, e: key.jwk.e }), key.kid),
      },
    ],
    ['a token signed with a key as text', { signed: (c, key) => hs256(c, String(pem(key)), key.kid) }],
    ['a token of a key that nobody knows', { signed: (c) => rs256(c, newKey()) }],
    ['a token of another key under a known name', { signed: (c, key) => rs256(c, newKey(), key.kid) }],
    ['no ID token at all', { signed: () => '' }],
  ];
  for (const [reason, changes] of REFUSED)
    it(`lets nobody in with ${reason}`, async () => {
      const { page, user } = await attempt(changes);
      expect(page).to.equal('/sign-in?problem=oidc_refused');
      expect(user).to.equal(null);
    });

  it('does so too where the provider says that it takes HS256 and no signature', async () => {
    const discovery = (document: Record<string, unknown>) => ({
      ...document,
      id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
    });
    for (const signed of [
      unsigned,
      (c: object, key: SigningKey) => hs256({ ...c }, CLIENT_SECRET, key.kid),
    ]) {
      scene.test.controller.systemContext('test').services.identityProvider.forget();
      expect((await attempt({ discovery, signed })).page).to.equal('/sign-in?problem=oidc_refused');
    }
    scene.test.controller.systemContext('test').services.identityProvider.forget();
  });

  it('forgives a clock that is off by less than a minute', async () => {
    const { user } = await attempt({ idToken: (c) => ({ ...c, exp: now() - 50, iat: now() + 40 }) });
    expect(user).not.to.equal(null);
  });

  it('takes a provider’s new keys at once', async () => {
    const subject = scene.somebody();
    expect((await scene.signIn(subject)).user).not.to.equal(null);
    scene.provider.rotate();
    expect((await scene.signIn(subject)).user).not.to.equal(null);
  });

  it('takes a token without the name of its key, where there is one key', async () => {
    const { user } = await attempt({ signed: (c, key) => rs256(c, key, '') });
    expect(user).not.to.equal(null);
  });

  describe('on the way back', () => {
    const back = async () => scene.comeBack(scene.somebody());
    const pageOf = async (walker: Walker, callback: string) => {
      const answer = await walker.get(callback);
      expect(answer.status, answer.text).to.equal(302);
      expect(answer.headers['cache-control']).to.equal('no-store');
      return answer.headers.location;
    };
    const none = { name: '', value: '' };
    const changed = (callback: string, name: string, value: string | null) => {
      const url = new URL(callback);
      if (value === null) url.searchParams.delete(name);
      else url.searchParams.set(name, value);
      return url.href;
    };

    it('takes each return once, even from the same browser and at the same moment', async () => {
      const { walker, callback } = await back();
      const { name, value } = walker.cookieFrom(ATTEMPT) ?? none;
      const tries = Array.from({ length: 5 }, () => {
        const one = new Walker();
        one.setCookie(name, value);
        return one;
      });
      const pages = await Promise.all(tries.map((one) => pageOf(one, callback)));
      expect(pages.filter((page) => page === '/')).to.have.length(1);
      expect(pages.filter((page) => page === '/sign-in?problem=oidc_expired')).to.have.length(4);
    });

    it('takes it from the browser that has begun it alone', async () => {
      const { callback } = await back();
      expect(await pageOf(new Walker(), callback)).to.equal('/sign-in?problem=oidc_expired');
    });

    it('takes no return of another try', async () => {
      const { walker } = await back();
      const { callback } = await back();
      expect(await pageOf(walker, callback)).to.equal('/sign-in?problem=oidc_expired');
    });

    it('takes no cookie that was made elsewhere or changed', async () => {
      const { walker, callback } = await back();
      const { name, value: sealed } = walker.cookieFrom(ATTEMPT) ?? none;
      // Of the last character some bits are padding: another one may stand for the same bytes.
      const changed = `${sealed.slice(0, -9)}${sealed.at(-9) === 'A' ? 'B' : 'A'}${sealed.slice(-8)}`;
      for (const wrong of [changed, 'v1.a.b.c', '{}', 'x'.repeat(10_000), '']) {
        walker.setCookie(name, wrong);
        expect(await pageOf(walker, callback), wrong.slice(0, 10)).to.equal('/sign-in?problem=oidc_expired');
      }
    });

    it('takes none without state, or without the issuer that the provider promises', async () => {
      for (const [what, change, page] of [
        ['no state', (url: string) => changed(url, 'state', null), 'oidc_expired'],
        ['another state', (url: string) => changed(url, 'state', 'x'), 'oidc_expired'],
        ['no issuer', (url: string) => changed(url, 'iss', null), 'oidc_refused'],
        ['another issuer', (url: string) => changed(url, 'iss', 'https://evil.example'), 'oidc_refused'],
        ['another code', (url: string) => changed(url, 'code', 'x'), 'oidc_refused'],
        ['no code', (url: string) => changed(url, 'code', null), 'oidc_refused'],
      ] as const) {
        const { walker, callback } = await back();
        expect(await pageOf(walker, change(callback)), what).to.equal(`/sign-in?problem=${page}`);
      }
    });

    it('takes none that says something twice', async () => {
      for (const name of ['state', 'code', 'iss']) {
        const { walker, callback } = await back();
        expect((await walker.get(`${callback}&${name}=x`)).status, name).to.equal(400);
        expect(await userOf(scene.test.url, walker)).to.equal(null);
      }
    });

    it('takes no code that was given to another client', async () => {
      const mine = await back();
      const theirs = new Walker();
      const asked = new URL(
        (await theirs.get(`${scene.test.url}/api/auth/oidc/login`)).headers.location ?? '',
      );
      asked.searchParams.set('client_id', 'another');
      const { url } = await theirs.walk(asked.href, {
        stop: (at) => at.startsWith(`${scene.test.url}${CALLBACK}`),
      });
      const code = new URL(url).searchParams.get('code') ?? '';
      expect(code).not.to.equal('');
      expect(await pageOf(mine.walker, changed(mine.callback, 'code', code))).to.equal(
        '/sign-in?problem=oidc_refused',
      );
      // Nor with everything else of that other try: its verifier is of another cookie.
      expect(await pageOf(theirs, url)).to.equal('/sign-in?problem=oidc_refused');
    });

    it('says so where the provider has let nobody in', async () => {
      const { walker, callback } = await back();
      const refusal = changed(changed(callback, 'code', null), 'error', 'access_denied');
      expect(await pageOf(walker, refusal)).to.equal('/sign-in?problem=oidc_denied');
      const rows = await scene
        .db('audit_log')
        .where({ action: 'user.signInFailed' })
        .orderBy('id', 'desc')
        .first();
      expect(rows.metadata).to.deep.equal({ method: 'oidc', problem: 'oidc_denied' });
    });

    it('takes none whose ten minutes are over, and none after another provider was set', async () => {
      const { walker, callback } = await back();
      const ctx = scene.test.controller.systemContext('test');
      const { keyring } = ctx.services;
      const { name, value } = walker.cookieFrom(ATTEMPT) ?? none;
      const opened = JSON.parse(keyring.open(value, 'oidc-attempt'));
      expect(opened.expiresAt - Date.now()).to.be.within(9 * 60_000, 10 * 60_000);
      for (const change of [{ expiresAt: Date.now() - 1 }, { client: 'of before' }]) {
        walker.setCookie(name, keyring.seal(JSON.stringify({ ...opened, ...change }), 'oidc-attempt'));
        expect(await pageOf(walker, callback)).to.equal('/sign-in?problem=oidc_expired');
      }
    });

    it('binds the cookie to this browser and host, and shows it to no script', async () => {
      const answer = await send(`${scene.test.url}/api/auth/oidc/login`);
      const [pair = '', ...attributes] = (answer.headers['set-cookie'] ?? [''])[0]?.split('; ') ?? [];
      expect(pair).to.match(/^headgate\.oidc-sign-in\.[0-9a-f]{16}=v1\./);
      expect(attributes.map((one) => one.replace(/^expires=.*/, 'expires')).sort()).to.deep.equal([
        ...['expires', 'httponly', 'path=/', 'samesite=lax'],
      ]);
      const url = new URL(answer.headers.location ?? '');
      expect(url.searchParams.get('code_challenge_method')).to.equal('S256');
      expect(url.searchParams.get('scope')).to.equal('openid profile email');
    });
  });

  describe('that answers strangely', () => {
    const answers = (
      path: string,
      answer: (response: ServerResponse) => void,
    ): TestIdentityProvider['changes'] => ({
      before(request, response) {
        if (!request.url?.startsWith(path)) return false;
        answer(response);
        return true;
      },
    });
    beforeEach(() => scene.test.controller.systemContext('test').services.identityProvider.forget());

    const discovery = '/.well-known/openid-configuration';
    for (const [reason, changes] of [
      ['100 MB of discovery', answers(discovery, (response) => flood(response))],
      ['a discovery that is no JSON', answers(discovery, (response) => response.end('<html>'))],
      ['a discovery that is null', answers(discovery, (response) => response.end('null'))],
      [
        'a discovery of another provider',
        { discovery: (d: object) => ({ ...d, issuer: 'https://evil.example' }) },
      ],
      ['a discovery without keys', { discovery: ({ jwks_uri: _, ...d }: Record<string, unknown>) => d }],
      [
        'a sign-in page that is a script',
        { discovery: (d: object) => ({ ...d, authorization_endpoint: 'javascript:alert(1)' }) },
      ],
      ['a 500', answers(discovery, (response) => response.writeHead(500).end())],
      [
        'a redirect to a private address',
        answers(discovery, (response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end()),
      ],
      [
        'keys in a private network',
        { discovery: (d: object) => ({ ...d, jwks_uri: 'http://10.0.0.1/jwks' }) },
      ],
      [
        'tokens at the cloud’s own address',
        { discovery: (d: object) => ({ ...d, token_endpoint: 'http://169.254.169.254/' }) },
      ],
      [
        'a token endpoint that leads elsewhere',
        answers('/token', (response) => response.writeHead(307, { location: '/me' }).end()),
      ],
      ['a token endpoint that answers 503', answers('/token', (response) => response.writeHead(503).end())],
    ] as const)
      it(`is not available with ${reason}`, async () => {
        const { page } = await attempt(changes as TestIdentityProvider['changes']);
        expect(page).to.equal('/sign-in?problem=oidc_unavailable');
        expect(await userOf(scene.test.url, new Walker())).to.equal(null);
      });

    it('keeps nobody from signing in by password while it takes its time', async () => {
      let release = () => {};
      scene.provider.changes = answers(discovery, (response) => {
        release = () => response.writeHead(503).end();
      });
      const waiting = new Walker().get(`${scene.test.url}/api/auth/oidc/login`);
      await until(() => scene.provider.asked.at(-1)?.endsWith(discovery) === true, {
        what: 'the provider to be asked',
      });
      await scene.test.root();
      release();
      expect((await waiting).headers.location).to.equal('/sign-in?problem=oidc_unavailable');
    });

    it('is told by the log what is wrong with the secret of the client', async () => {
      const settings = { issuer: scene.provider.issuer, clientId: CLIENT_ID, displayName: 'Example ID' };
      await scene.root.mutate('settings.updateOidc', { ...settings, clientSecret: 'another secret' });
      expect((await attempt({})).page).to.equal('/sign-in?problem=oidc_refused');
      expect(scene.test.log())
        .to.match(/does not accept the client id and secret/)
        .and.not.match(/another secret/);
      await scene.root.mutate('settings.updateOidc', { ...settings, clientSecret: CLIENT_SECRET });
    });

    it('asks again once it is well, without waiting for what it had said', async () => {
      expect((await attempt(answers(discovery, (response) => response.writeHead(500).end()))).user).to.equal(
        null,
      );
      expect((await attempt({})).user).not.to.equal(null);
    });
  });
});

/** As much as is taken, up to 100 MB. */
function flood(response: ServerResponse): void {
  const piece = Buffer.alloc(64 * 1024, ' ');
  let left = 1_600;
  const more = () => {
    while (left-- > 0) if (!response.write(piece)) return;
    response.end();
  };
  response.on('drain', more);
  response.on('error', () => {});
  more();
}
