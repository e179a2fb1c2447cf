/** Signing in at a real identity provider, from the first redirect to the session, and out again. */
import { expect } from 'chai';
import { send } from '../../support/clients/http.ts';
import { untilWaiting } from '../../support/harness/lock-waiters.ts';
import { ATTEMPT, CALLBACK, SESSION, userOf, useSingleSignOn } from '../../support/scenes/single-sign-on.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../../support/servers/identity-provider.ts';
import { makeUser } from '../../support/users/person.ts';
import { Walker } from '../../support/users/walk.ts';

describe('sign-in at an identity provider', () => {
  const scene = useSingleSignOn();

  const rowsOf = (userId: string) =>
    scene
      .db('audit_log')
      .where({ entity_id: userId })
      .orderBy('created_at')
      .select('action', 'metadata', 'diff');

  it('is offered beside the password, under its own name', async () => {
    const answer = await send(`${scene.test.url}/api/auth/providers`);
    expect(answer.json()).to.deep.equal({
      providers: [
        { id: 'password', name: 'Email and password' },
        { id: 'oidc', name: 'Example ID', url: '/api/auth/oidc/login' },
      ],
    });
  });

  it('makes an account for somebody new, who lands where they wanted to go', async () => {
    const subject = scene.somebody({ email: 'ada@example.org', name: 'Ada' });
    const { page, user, walker } = await scene.signIn(subject, {
      path: '/api/auth/oidc/login?next=%2Ffleet%3Fq%3Dx%23top',
    });
    expect(page).to.equal('/fleet?q=x#top');
    expect(user).to.include({ email: 'ada@example.org', name: 'Ada', owes: null });
    expect(walker.cookieFrom(ATTEMPT), 'the cookie of the way').to.equal(undefined);
    const row = await scene.db('users').where({ id: user?.id }).first();
    expect(row).to.include({ auth_method: 'OIDC', password_hash: null, is_super_admin: false });
    const rows = await rowsOf(user?.id ?? '');
    expect(rows.map(({ action }) => action)).to.have.members(['user.provisioned', 'user.signedIn']);
    expect(rows.find(({ action }) => action === 'user.signedIn').metadata).to.deep.equal({ method: 'oidc' });
  });

  it('lets the same person into the same account again', async () => {
    const subject = scene.somebody();
    const first = await scene.signIn(subject);
    const second = await scene.signIn(subject);
    expect(second.user?.id).to.equal(first.user?.id);
    expect(second.page).to.equal('/');
  });

  it('makes one account of two first sign-ins at once', async () => {
    const subject = scene.somebody({ email: 'twice@example.org' });
    const ways = [];
    for (let n = 0; n < 4; n += 1) ways.push(await scene.comeBack(subject));
    await Promise.all(ways.map(({ walker, callback }) => walker.get(callback)));
    const users = await Promise.all(ways.map(({ walker }) => userOf(scene.test.url, walker)));
    expect(new Set(users.map((user) => user?.id)).size).to.equal(1);
    expect(users[0]?.email).to.equal('twice@example.org');
  });

  it('finds the account that another sign-in of theirs links while this one waits for it', async () => {
    const email = 'meanwhile@example.org';
    const id = await makeUser(scene.db, { email });
    const subject = scene.somebody({ email });
    const { walker, callback } = await scene.comeBack(subject);
    const other = await scene.db.transaction();
    await other('users').where({ id }).forUpdate().first('id');
    const comes = walker.get(callback);
    await untilWaiting(scene.db);
    await other('user_identities').insert({ issuer: scene.provider.issuer, subject, user_id: id });
    await other.commit();
    await comes;
    expect((await userOf(scene.test.url, walker))?.id).to.equal(id);
  });

  it('follows the name and the address that the provider has for them', async () => {
    const subject = scene.somebody({ email: 'before@example.org', name: 'Before' });
    const { user } = await scene.signIn(subject);
    scene.provider.people.set(subject, { email: 'after@example.org', email_verified: true, name: 'After' });
    expect((await scene.signIn(subject)).user).to.include({
      id: user?.id,
      email: 'after@example.org',
      name: 'After',
    });
    const rows = await rowsOf(user?.id ?? '');
    expect(rows.find(({ action }) => action === 'user.profileUpdated').diff).to.deep.equal({
      name: ['Before', 'After'],
      email: ['before@example.org', 'after@example.org'],
    });
    scene.provider.people.set(subject, { email: 'later@example.org', email_verified: false, name: 'After' });
    expect((await scene.signIn(subject)).user?.email, 'an address that is not verified').to.equal(
      'after@example.org',
    );
    scene.provider.people.set(subject, { email: 'root@example.org', email_verified: true, name: 'After' });
    expect((await scene.signIn(subject)).user?.email, 'the address of somebody else').to.equal(
      'after@example.org',
    );
  });

  it('sends nobody to another site afterwards', async () => {
    for (const next of [
      'https://evil.example',
      '//evil.example',
      '/\\evil.example',
      '/.//evil.example',
      '/api/x',
      'x',
    ]) {
      const { page } = await scene.signIn(scene.somebody(), {
        path: `/api/auth/oidc/login?next=${encodeURIComponent(next)}`,
      });
      expect(page, next).to.equal('/');
    }
  });

  it('ends the session that the browser had', async () => {
    const walker = new Walker();
    await scene.signIn(scene.somebody(), { walker });
    const old = walker.cookie(SESSION);
    await scene.signIn(scene.somebody(), { walker });
    expect(walker.cookie(SESSION)).not.to.equal(old);
    const stale = new Walker();
    stale.setCookie(SESSION, old ?? '');
    expect(await userOf(scene.test.url, stale)).to.equal(null);
  });

  it('is a way out as well: the browser is led to where the provider ends its own session', async () => {
    const { walker, user } = await scene.signIn(scene.somebody());
    const out = () =>
      send(`${scene.test.url}/api/auth/sign-out`, { headers: { cookie: walker.cookies }, body: {} });
    const { redirect = '' } = (await out()).json<{ redirect?: string }>();
    const url = new URL(redirect);
    expect(url.origin).to.equal(scene.provider.issuer);
    expect(url.searchParams.get('post_logout_redirect_uri')).to.equal(`${scene.test.url}/sign-in`);
    expect(url.searchParams.get('id_token_hint')?.split('.')).to.have.length(3);
    expect((await walker.get(redirect)).status, 'the page of the provider').to.equal(200);
    expect(await userOf(scene.test.url, walker)).to.equal(null);
    expect((await out()).json(), 'a second time').to.deep.equal({ ok: true });
    const stored = await scene.db('sessions').where({ user_id: user?.id });
    expect(stored).to.deep.equal([]);
  });

  it('leads nobody anywhere who signed in by password', async () => {
    const root = await scene.test.root();
    const answer = await send(`${scene.test.url}/api/auth/sign-out`, {
      headers: { cookie: root.cookie },
      body: {},
    });
    expect(answer.json()).to.deep.equal({ ok: true });
  });

  it('works for clients that show their secret otherwise, or have none', async () => {
    for (const [clientId, tokenEndpointAuthMethod, clientSecret] of [
      ['by-post', 'client_secret_post', CLIENT_SECRET],
      ['public', 'none', ''],
      [CLIENT_ID, 'client_secret_basic', CLIENT_SECRET],
    ]) {
      await scene.root.mutate('settings.updateOidc', {
        ...{ issuer: scene.provider.issuer, clientId, clientSecret, tokenEndpointAuthMethod },
        displayName: 'Example ID',
      });
      expect((await scene.signIn(scene.somebody())).user, clientId).not.to.equal(null);
    }
  });

  it('tells neither token nor code nor secret to the log and the audit log', async () => {
    const { walker, callback } = await scene.comeBack(scene.somebody());
    const code = new URL(callback).searchParams.get('code') ?? '?';
    await walker.get(callback);
    const told = scene.test.log() + JSON.stringify(await scene.db('audit_log').select());
    for (const secret of [code, CLIENT_SECRET, walker.cookie(SESSION) ?? '?', 'eyJ'])
      expect(told.includes(secret), secret.slice(0, 4)).to.equal(false);
  });

  it('keeps the ID token sealed', async () => {
    await scene.signIn(scene.somebody());
    const rows = await scene.db('sessions').where({ method: 'oidc' });
    expect(rows).not.to.have.length(0);
    for (const row of rows) expect(row.sealed_id_token).to.match(/^v1\./);
  });

  it('signs people in by their password while the provider is down, and says so to others', async () => {
    await scene.provider.down();
    // What it said of itself is not known any more either.
    await scene.root.mutate('settings.updateOidc', {
      ...{ issuer: scene.provider.issuer, clientId: CLIENT_ID, clientSecret: '', displayName: 'Example ID' },
    });
    try {
      await scene.test.root();
      const { page } = await scene.signIn(scene.somebody());
      expect(page).to.equal('/sign-in?problem=oidc_unavailable');
    } finally {
      await scene.provider.up();
    }
    expect((await scene.signIn(scene.somebody())).page, 'once it is back').to.equal('/');
  });

  describe('two tabs that sign in at an identity provider at once', () => {
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
    const comesBack = async (walker: Walker, callback: string) =>
      (await walker.get(callback)).headers.location;

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
      expect(await comesBack(new Walker(), callback), 'a stranger is told').to.include(
        'problem=oidc_expired',
      );
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
});
