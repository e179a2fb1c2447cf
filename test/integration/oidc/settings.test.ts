/** Setting an identity provider up, trying it out, and doing without it again. */
import { expect } from 'chai';
import { SESSION, userOf, useSingleSignOn } from '../../support/scenes/single-sign-on.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../../support/servers/identity-provider.ts';
import { callProcedure } from '../../support/users/person.ts';

interface Test {
  ok: boolean;
  issuer: string | null;
  tokenEndpoint: string | null;
  scopes: string[];
  problems: string[];
}

describe('the settings of the identity provider', () => {
  const scene = useSingleSignOn();

  const valid = (more: object = {}) => ({
    ...{
      issuer: scene.provider.issuer,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      displayName: 'Example ID',
    },
    ...more,
  });
  const update = (more: object = {}) => scene.root.call('mutation', 'settings.updateOidc', valid(more));
  const stored = async () => scene.db('oidc_settings').first();
  const lastRow = async (action: string) =>
    scene.db('audit_log').where({ action }).orderBy('id', 'desc').first();
  const test = (issuer: string) => scene.root.mutate<Test>('settings.testOidc', { issuer });

  it('keeps the secret sealed, and shows it to nobody', async () => {
    await update();
    expect((await stored()).sealed_client_secret).to.match(/^v1\./);
    const rows = JSON.stringify(await scene.db('audit_log').select());
    expect(rows.includes(CLIENT_SECRET)).to.equal(false);
    expect(JSON.stringify(await scene.root.query('settings.get')).includes(CLIENT_SECRET)).to.equal(false);
  });

  it('keeps the secret of before where none or its mask is given, for the same issuer and client', async () => {
    await update();
    const before = await stored();
    for (const clientSecret of ['', '********']) {
      expect((await update({ clientSecret, displayName: 'Another name' })).status).to.equal(200);
      expect((await stored()).sealed_client_secret).to.equal(before.sealed_client_secret);
    }
    const { diff, metadata } = await lastRow('settings.oidcUpdated');
    expect([diff, metadata]).to.deep.equal([{}, { clientSecretChanged: false }]);
    for (const other of [{ clientId: 'another' }, { issuer: `${scene.provider.issuer}/other` }]) {
      const { status, fault } = await update({ clientSecret: '', ...other });
      expect([status, fault?.message]).to.deep.equal([
        400,
        'clientSecret: enter the secret of this client; none is stored for this issuer and client id',
      ]);
    }
    expect((await scene.signIn(scene.somebody())).user).not.to.equal(null);
  });

  it('knows clients without a secret', async () => {
    expect((await update({ tokenEndpointAuthMethod: 'none' })).status, 'with a secret').to.equal(400);
    const answer = await update({ tokenEndpointAuthMethod: 'none', clientSecret: '', clientId: 'public' });
    expect(answer.status).to.equal(200);
    expect((await stored()).sealed_client_secret).to.equal(null);
    expect((await update({ clientSecret: '', clientId: 'public' })).status, 'now with one').to.equal(400);
  });

  it('takes no issuer that could not be one, or that must not be asked', async () => {
    for (const issuer of [
      ...['nowhere', 'ftp://id.example.org', 'https://user:word@id.example.org', 'javascript:alert(1)'],
      ...[
        'https://id.example.org?x',
        'https://id.example.org#x',
        'https://id.example.org /',
        'http://id.example.org',
      ],
      ...['https://10.0.0.1', 'https://169.254.169.254/', 'https://[::1]', 'https://0x0a000001'],
    ]) {
      const { status, fault } = await update({ issuer });
      expect(status, issuer).to.equal(400);
      expect(fault?.message, issuer).to.match(/^issuer: /);
    }
  });

  it('tells what a provider says of itself', async () => {
    const { issuer } = scene.provider;
    const found = await test(issuer);
    expect(found).to.include({ ok: true, issuer, tokenEndpoint: `${issuer}/token` });
    expect(found.scopes).to.include('groups');
    expect((await lastRow('settings.oidcTested')).metadata).to.deep.equal({
      ...{ issuer, ok: true, clientAccepted: true },
    });
  });

  it('keeps no password that somebody writes into an address', async () => {
    await test('https://me:hunter2@id.example/realm?key=hunter2#hunter2');
    expect((await lastRow('settings.oidcTested')).metadata).to.deep.equal({
      ...{ issuer: 'https://id.example/realm', ok: false, clientAccepted: null },
    });
    await test('hunter2');
    expect((await lastRow('settings.oidcTested')).metadata).to.deep.include({ issuer: null, ok: false });
  });

  for (const [reason, change, says] of [
    [
      'another name',
      { issuer: 'https://other.example' },
      /calls itself "https:\/\/other\.example"; enter exactly that/,
    ],
    ['the address of all tenants', { issuer: 'https://login.example/{tenantid}/v2.0' }, /your own tenant/],
    ['no PKCE with S256', { code_challenge_methods_supported: ['plain'] }, /does not support PKCE with S256/],
    [
      'no key of its own',
      { id_token_signing_alg_values_supported: ['HS256', 'none'] },
      /configure RS256 or ES256/,
    ],
    ['no code flow', { response_types_supported: ['id_token'] }, /authorization code flow/],
    ['no token endpoint', { token_endpoint: undefined }, /names no token_endpoint/],
    [
      'only ways to show a secret that we have not',
      { token_endpoint_auth_methods_supported: ['tls_client_auth'] },
      /none of client_secret_basic/,
    ],
    [
      'an end of session that is no address',
      { end_session_endpoint: 'javascript:1' },
      /end_session_endpoint is not a web address/,
    ],
  ] as const)
    it(`names what keeps people from signing in: ${reason}`, async () => {
      scene.provider.changes = { discovery: (document) => ({ ...document, ...change }) };
      const { ok, problems } = await test(scene.provider.issuer);
      expect(ok).to.equal(false);
      expect(problems.join('\n')).to.match(says);
    });

  it('does not mind a provider that keeps quiet on PKCE and keys', async () => {
    scene.provider.changes = {
      discovery: ({
        code_challenge_methods_supported: _,
        id_token_signing_alg_values_supported: __,
        ...rest
      }) => rest,
    };
    expect(await test(scene.provider.issuer)).to.include({ ok: true });
  });

  it('says of what it cannot reach no more than that, where the operator has not listed it', async () => {
    const told = new Set<string>();
    for (const issuer of [
      'https://10.0.0.1',
      'https://169.254.169.254',
      'http://[::1]:9',
      'https://nowhere.invalid',
    ]) {
      const { ok, problems, tokenEndpoint } = await test(issuer);
      expect([ok, tokenEndpoint], issuer).to.deep.equal([false, null]);
      expect(problems).to.have.length(1);
      told.add(problems[0]?.replace(new URL(issuer).origin, 'X') ?? '');
    }
    expect([...told], 'closed, refused, unknown').to.have.length(1);
    const listed = await test('http://127.0.0.1:9');
    expect(listed.problems).to.deep.equal([
      'http://127.0.0.1:9 cannot be reached: the connection is refused; nothing listens at this port',
    ]);
  });

  it('ends what began at a provider when another takes its place, and when there is none any more', async () => {
    await update();
    const root = await scene.test.root();
    const first = await scene.signIn(scene.somebody());
    expect((await update({ clientSecret: '', displayName: 'Renamed' })).status).to.equal(200);
    expect(await userOf(scene.test.url, first.walker), 'the same provider').not.to.equal(null);
    expect((await update({ issuer: `${scene.provider.issuer}/other` })).status).to.equal(200);
    expect(await userOf(scene.test.url, first.walker)).to.equal(null);
    await update();
    const subject = scene.somebody();
    const second = await scene.signIn(subject);
    await root.mutate('settings.disableOidc');
    expect(await userOf(scene.test.url, second.walker)).to.equal(null);
    expect((await scene.signIn(subject)).page).to.equal('/sign-in?problem=oidc_unavailable');
    expect((await lastRow('settings.oidcDisabled')).diff.issuer).to.deep.equal([scene.provider.issuer, null]);
    expect(await root.query('user.me'), 'a session by password').to.include({ signedInBy: 'password' });
    await root.mutate('settings.disableOidc');
    await update();
    expect((await scene.signIn(subject)).user?.id, 'who is linked stays known').to.equal(second.user?.id);
  });

  it('locks no super admin out', async () => {
    await update();
    const { user, walker } = await scene.signIn(scene.somebody());
    await scene.db('users').where({ id: user?.id }).update({ is_super_admin: true });
    await scene.db('users').where({ email: 'root@example.org' }).update({ is_super_admin: false });
    const cookie = `${SESSION}=${walker.cookie(SESSION)}`;
    try {
      for (const [name, input] of [
        ['settings.disableOidc', {}],
        ['settings.updateOidc', valid({ issuer: `${scene.provider.issuer}/other` })],
      ] as const) {
        const answer = await callProcedure(scene.test.url, 'mutation', name, input, { cookie });
        expect([answer.status, answer.fault?.message.slice(0, 40)], name).to.deep.equal([
          412,
          'This provider is the only way to sign in',
        ]);
      }
    } finally {
      await scene.db('users').where({ email: 'root@example.org' }).update({ is_super_admin: true });
    }
    expect((await stored()).issuer).to.equal(scene.provider.issuer);
  });
});
