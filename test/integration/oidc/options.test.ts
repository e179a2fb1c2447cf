/** What may be said of an identity provider beside issuer and client, and what administrators learn of its sign-ins. */
import { expect } from 'chai';
import type { OidcTest, OidcView } from '../../../schemas/api/identity/identity-providers.ts';
import { send } from '../../support/clients/http.ts';
import { type SignedIn, userOf, useSingleSignOn } from '../../support/scenes/single-sign-on.ts';
import { codeOf } from '../../support/users/authenticator.ts';
import { callProcedure, expectRefused } from '../../support/users/person.ts';
import { Walker } from '../../support/users/walk.ts';

describe('the options of an identity provider', () => {
  const scene = useSingleSignOn();
  afterEach(async () => {
    scene.provider.changes = {};
    await scene.root.mutate('settings.disableOidc', {});
    await scene.root.mutate('settings.updateOidc', scene.client);
  });

  const call = (more: object) =>
    scene.root.call<{ warnings: string[] }>('mutation', 'settings.updateOidc', { ...scene.client, ...more });
  const say = async (options: object, more: object = {}) => {
    const { status, output, fault } = await call({ options, ...more });
    expect(status, fault?.message).to.equal(200);
    return output?.warnings ?? [];
  };
  const test = (more: object = {}) =>
    scene.root.mutate<OidcTest>('settings.testOidc', { issuer: scene.provider.issuer, ...more });
  const view = async (): Promise<OidcView | undefined> =>
    (await scene.root.query<{ oidcProviders: OidcView[] }>('settings.get')).oidcProviders[0];
  const failure = async () =>
    (await scene.db('audit_log').where({ action: 'user.signInFailed' }).orderBy('id', 'desc').first())
      .metadata;

  it('go along in the request: parameters, prompt, acr_values, and the address that was typed', async () => {
    await say({
      ...{ extraParameters: { hd: 'example.org' }, prompt: ' select_account  consent ', acrValues: 'gold' },
      ...{ scopes: ' groups ', sendsLoginHint: true },
    });
    const hint = encodeURIComponent('ada@example.org');
    const { headers } = await new Walker().get(`${scene.test.url}/api/auth/oidc/login?login_hint=${hint}`);
    const asked = Object.fromEntries(new URL(headers.location ?? '').searchParams);
    expect(asked).to.include({
      ...{ hd: 'example.org', prompt: 'select_account consent', acr_values: 'gold' },
      ...{ scope: 'openid profile email groups', login_hint: 'ada@example.org' },
    });
    await say({ sendsLoginHint: false });
    const without = await new Walker().get(`${scene.test.url}/api/auth/oidc/login?login_hint=${hint}`);
    expect(without.headers.location).not.to.include('login_hint');
  });

  for (const [options, says] of [
    [
      { extraParameters: { redirect_uri: 'https://evil.example' } },
      /^options\.extraParameters\.redirect_uri is set by/,
    ],
    [{ extraParameters: { 'a b': 'x' } }, /"a b" is not a valid parameter name/],
    [{ prompt: 'none' }, /^options\.prompt: "none" is not one of/],
    [{ scopes: 'a"b' }, /^options\.scopes: enter names/],
    [{ allowedDomains: ['exa mple'] }, /^options\.allowedDomains: "exa mple" is not a domain/],
    [{ caCertificate: 'none' }, /^options\.caCertificate: enter certificates in PEM/],
    [
      { caCertificate: '-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----' },
      /^options\.caCertificate/,
    ],
  ] as const)
    it(`cannot be ${JSON.stringify(options).slice(0, 60)}`, async () => {
      expectRefused(await call({ options }), 400, says);
    });

  it('are taken without the blanks that were pasted along, as issuer, client and secret are', async () => {
    const { issuer, clientId, clientSecret } = scene.client;
    await say({}, { issuer: ` ${issuer}\n`, clientId: ` ${clientId} `, clientSecret: `${clientSecret}\n` });
    expect((await scene.signIn(scene.somebody())).user).not.to.equal(null);
  });

  it('let in certain domains alone', async () => {
    await say({ allowedDomains: ['@Example.ORG'] });
    expect((await scene.signIn(scene.somebody())).user).not.to.equal(null);
    const stranger = scene.somebody({ email: 'x@sub.example.org' });
    expect((await scene.signIn(stranger)).page).to.equal('/sign-in?problem=not_allowed');
    expect(await failure()).to.include({
      ...{ problem: 'not_allowed', reason: 'the address is in none of the allowed domains' },
      ...{ issuer: scene.provider.issuer, subject: stranger, email: 'x@sub.example.org' },
    });
    const unverified = scene.somebody({ email: 'y@example.org', email_verified: undefined });
    expect((await scene.signIn(unverified)).page).to.equal('/sign-in?problem=email_unverified');
    expect((await failure()).reason).to.match(/^the address is not verified/);
  });

  it('let in certain groups alone, and somebody who was in before no more than others', async () => {
    const subject = scene.somebody({ groups: ['/staff'] });
    const person = scene.provider.people.get(subject) ?? {};
    await say({ allowedGroups: ['/staff'], scopes: 'groups' });
    expect((await scene.signIn(subject)).user).not.to.equal(null);
    for (const groups of [['/guests'], [], undefined]) {
      scene.provider.people.set(subject, { ...person, groups });
      expect((await scene.signIn(subject)).page, JSON.stringify(groups)).to.equal(
        '/sign-in?problem=not_allowed',
      );
    }
    scene.provider.people.set(subject, { ...person, groups: 'x'.repeat(300) });
    expect((await scene.signIn(subject)).page, 'not understood').to.equal('/sign-in?problem=not_allowed');
  });

  it('make super admins by a group, for as long as they are in it', async () => {
    const subject = scene.somebody({ groups: ['/ops/admins'] });
    const person = scene.provider.people.get(subject) ?? {};
    await say({ superAdminGroups: ['/ops/admins'], scopes: 'groups' });
    const { user } = await scene.signIn(subject);
    const isOne = async () => (await scene.db('users').where({ id: user?.id }).first()).is_super_admin;
    expect(await isOne()).to.equal(true);
    scene.provider.people.set(subject, { ...person, groups: ['/x/ops/admins'] });
    await scene.signIn(subject);
    expect(await isOne(), 'another path').to.equal(false);
    scene.provider.people.set(subject, { ...person, groups: ['/ops/admins'] });
    await scene.signIn(subject);
    expect(await isOne()).to.equal(true);
    await say({ superAdminGroups: [] });
    expect(await isOne(), 'when the setting changes').to.equal(false);
    const rows = await scene
      .db('audit_log')
      .where({ entity_id: user?.id, action: 'user.superAdminChanged' })
      .orderBy('id')
      .select('diff');
    expect(rows.map(({ diff }) => diff.isSuperAdmin)).to.deep.equal([
      ...[
        [false, true],
        [true, false],
      ],
      ...[
        [false, true],
        [true, false],
      ],
    ]);
  });

  it('leave whom somebody has made a super admin one, whatever the groups say', async () => {
    const subject = scene.somebody();
    const { user } = await scene.signIn(subject);
    await scene.root.mutate('admin.toggleSuperAdmin', { userId: user?.id, isSuperAdmin: true });
    await say({ superAdminGroups: ['/ops/admins'], scopes: 'groups' });
    await scene.signIn(subject);
    expect((await scene.db('users').where({ id: user?.id }).first()).is_super_admin).to.equal(true);
  });

  it('show the client by a private key: RFC 7523', async () => {
    const pem = scene.provider.clientKey.private.export({ type: 'pkcs8', format: 'pem' }).toString();
    const byKey = { clientId: 'by-key', tokenEndpointAuthMethod: 'private_key_jwt' };
    const none = await call({ ...byKey, clientSecret: 'no key' });
    expect([none.status, none.fault?.message]).to.satisfy(
      ([status, message]: [number, string]) =>
        status === 400 && /^clientSecret: enter a private key/.test(message),
    );
    await say({ clientKeyId: scene.provider.clientKey.kid }, { ...byKey, clientSecret: pem });
    expect((await scene.signIn(scene.somebody())).user).not.to.equal(null);
    expect((await scene.db('oidc_settings').first()).sealed_client_secret).to.match(/^v1\./);
    expect(await test()).to.include({ ok: true, clientAccepted: true });
  });

  it('are tried with the client: a secret that is wrong is told before anybody signs in', async () => {
    expect(await test()).to.include({ ok: true, clientAccepted: true });
    const wrong = await test({ clientSecret: 'wrong' });
    expect(wrong).to.include({ ok: false, clientAccepted: false });
    expect(wrong.problems.join()).to.match(
      /^The provider does not accept the client id and secret: invalid_client/,
    );
    const unknown = await test({
      clientId: 'nobody',
      clientSecret: 'x',
      tokenEndpointAuthMethod: 'client_secret_post',
    });
    expect(unknown.clientAccepted).to.equal(false);
    expect(await test({ clientId: 'nobody' }), 'without its secret').to.include({ clientAccepted: null });
  });

  it('warn of scopes that the provider does not list, when they are saved and when they are tried', async () => {
    const warnings = await say({ scopes: 'team-list', groupsScope: 'groups' });
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.match(/^The provider does not list the scope "team-list"/);
    expect((await test()).warnings).to.deep.equal(warnings);
    const followed = await scene.root.mutate<{ warnings: string[] }>('settings.updateOidcTeamMappings', {
      ...{ mappings: [], defaultRole: 'VIEWER', groupSyncEnabled: true, groupsScope: 'teams' },
    });
    expect(followed.warnings.join()).to.match(/does not list the scope "teams"|^$/);
    await scene.root.mutate('settings.updateOidcTeamMappings', {
      ...{ mappings: [], defaultRole: 'VIEWER', groupSyncEnabled: false, groupsScope: '' },
    });
  });

  it('are shown with why the last sign-in failed, in the provider’s own words', async () => {
    scene.provider.changes = {
      before: (request, response) => {
        if (!request.url?.startsWith('/token')) return false;
        response.writeHead(401, { 'content-type': 'application/json' });
        response.end(
          '{"error":"invalid_client","error_description":"AADSTS7000215: the secret\\u0007 has expired"}',
        );
        return true;
      },
    };
    expect((await scene.signIn(scene.somebody())).page).to.equal('/sign-in?problem=oidc_refused');
    const { lastFailure } = (await view()) ?? {};
    expect(lastFailure?.message).to.equal(
      'the provider does not accept the client id and secret: invalid_client (401): AADSTS7000215: the secret has expired',
    );
    expect(scene.test.log()).to.include('AADSTS7000215');
  });

  it('are shown with a claim that the last sign-in lacked, until one has it', async () => {
    await say({ superAdminGroups: ['/ops'], groupsClaim: 'realm_access.roles', scopes: 'groups' });
    const { user } = await scene.signIn(scene.somebody());
    const { metadata } = await scene
      .db('audit_log')
      .where({ entity_id: user?.id, action: 'user.signedIn' })
      .first();
    expect(metadata).to.include({ missingClaim: 'realm_access.roles' });
    expect((await view())?.lastWarning?.message).to.match(/has the claim "realm_access\.roles"/);
    await scene.signIn(scene.somebody({ realm_access: { roles: ['x'] } }));
    expect((await view())?.lastWarning).to.equal(null);
  });

  it('never answer a browser with JSON, whatever goes wrong', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const link = await send(`${scene.test.url}/api/auth/oidc/login?link=1`, { headers });
    expect([link.status, link.headers.location]).to.deep.equal([302, '/sign-in?problem=link_refused']);
    let last = link;
    for (let tries = 0; tries < 125 && last.headers.location !== '/sign-in?problem=too_many'; tries += 1)
      last = await send(`${scene.test.url}/api/auth/oidc/callback?state=x`, { headers });
    expect([last.status, last.headers.location]).to.deep.equal([302, '/sign-in?problem=too_many']);
    const program = await send(`${scene.test.url}/api/auth/oidc/callback?state=x`);
    expect(program.status, 'of a program').to.equal(429);
  });

  describe('the second factor of whoever signs in at an identity provider', () => {
    let teamId: string;
    before(async () => {
      ({ id: teamId } = await scene.root.mutate<{ id: string }>('team.create', { name: 'careful' }));
      await scene.db('teams').where({ id: teamId }).update({ require_two_factor: true });
      // Who makes a team is in it.
      await scene.db('team_members').where({ team_id: teamId }).delete();
    });

    const say = (secondFactor: string) =>
      scene.root.mutate('settings.updateOidc', { ...scene.client, options: { secondFactor } });
    const member = async (): Promise<string> => {
      const subject = scene.somebody();
      const { user } = await scene.signIn(subject);
      await scene.root.mutate('admin.assignToTeam', { userId: user?.id, teamId, role: 'EDITOR' });
      return subject;
    };
    const call = ({ walker }: SignedIn, name: string, input: object = {}) =>
      callProcedure(scene.test.url, 'mutation', name, input, { cookie: walker.cookies });
    const owes = async ({ walker }: SignedIn) => (await userOf(scene.test.url, walker))?.owes;

    it('is asked for here unless told: set up at first, and given at each sign-in from then on', async () => {
      await say('ASK');
      const subject = await member();
      const first = await scene.signIn(subject);
      expect(await owes(first)).to.equal('SET_UP_TWO_FACTOR');
      const { output } = await call(first, 'user.setupTotp');
      const { secret, backupCodes } = output as { secret: string; backupCodes: string[] };
      expect((await call(first, 'user.verifyAndEnableTotp', { code: codeOf(secret) })).status).to.equal(200);
      expect(await owes(first), 'in the session that set it up').to.equal(null);
      const second = await scene.signIn(subject);
      expect(await owes(second)).to.equal('PROVE_TWO_FACTOR');
      expect((await call(second, 'user.updateProfile', { name: 'Ada' })).status).to.equal(403);
      expect((await call(second, 'user.proveTwoFactor', { code: '000000' })).status).to.equal(400);
      expect((await call(second, 'user.proveTwoFactor', { code: backupCodes[0] })).status).to.equal(200);
      expect(await owes(second)).to.equal(null);
      expect((await call(second, 'user.updateProfile', { name: 'Ada' })).status).to.equal(200);
    });

    it('is met by what the provider says of it, where that counts: RFC 8176', async () => {
      await say('CLAIMS');
      const subject = await member();
      for (const [claims, owed] of [
        [{ amr: ['pwd', 'mfa'] }, null],
        [{ acr: 'mfa' }, null],
        [{ amr: ['pwd'] }, 'SET_UP_TWO_FACTOR'],
        [{}, 'SET_UP_TWO_FACTOR'],
      ] as const) {
        scene.provider.changes = { idToken: (told) => ({ ...told, ...claims }) };
        expect(await owes(await scene.signIn(subject)), JSON.stringify(claims)).to.equal(owed);
      }
    });

    it('is left to the provider, where that is said', async () => {
      await say('PROVIDER');
      expect(await owes(await scene.signIn(await member()))).to.equal(null);
    });

    it('is set up here by nobody without a password of whom no team asks for it', async () => {
      await say('ASK');
      const free = await scene.signIn(scene.somebody());
      expectRefused(
        await call(free, 'user.setupTotp'),
        412,
        /your identity provider asks for the second factor/,
      );
    });
  });
});
