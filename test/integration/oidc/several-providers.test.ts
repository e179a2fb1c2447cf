/** Two identity providers side by side: nothing of one counts for the other. */
import { expect } from 'chai';
import { send } from '../../support/clients/http.ts';
import { CALLBACK, type SignedIn, userOf, useSingleSignOn } from '../../support/scenes/single-sign-on.ts';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  startIdentityProvider,
  type TestIdentityProvider,
} from '../../support/servers/identity-provider.ts';
import { Walker } from '../../support/users/walk.ts';

const LOGIN = '/api/auth/oidc/login';
const PARTNERS = `${LOGIN}?provider=partners`;

describe('two identity providers', () => {
  const scene = useSingleSignOn();
  let partners: TestIdentityProvider;
  before(async () => {
    partners = await startIdentityProvider({ headgate: scene.test.url });
    await add();
  });
  after(async () => {
    await partners?.stop();
  });

  const client = () => ({
    ...{ providerId: 'partners', issuer: partners.issuer, clientId: CLIENT_ID },
    ...{ clientSecret: CLIENT_SECRET, displayName: 'Partners' },
  });
  const add = (options: object = {}) => scene.root.mutate('settings.updateOidc', { ...client(), options });
  const signInAt = async (subject: string, claims: object): Promise<SignedIn> => {
    partners.people.set(subject, { email_verified: true, name: 'Partner', ...claims });
    partners.person = subject;
    return scene.signIn('nobody', { path: PARTNERS });
  };

  it('are both offered, in their order', async () => {
    const answer = await send(`${scene.test.url}/api/auth/providers`);
    expect(answer.json()).to.deep.equal({
      providers: [
        { id: 'password', name: 'Email and password' },
        { id: 'oidc', name: 'Example ID', url: LOGIN },
        { id: 'partners', name: 'Partners', url: PARTNERS },
      ],
    });
  });

  it('know different people by the same subject', async () => {
    const subject = scene.somebody();
    const here = await scene.signIn(subject);
    const there = await signInAt(subject, { email: 'same-subject@partner.example' });
    expect(there.user?.id).to.be.a('string').and.not.equal(here.user?.id);
    const links = await scene.db('user_identities').where({ subject }).select('issuer', 'user_id');
    expect(new Map(links.map((row) => [row.issuer, row.user_id]))).to.deep.equal(
      new Map([
        [scene.provider.issuer, here.user?.id],
        [partners.issuer, there.user?.id],
      ]),
    );
  });

  it('lead to the first where a page names none, and to none that there is not', async () => {
    const answer = await new Walker().get(`${scene.test.url}${LOGIN}`);
    expect(answer.headers.location?.startsWith(scene.provider.issuer)).to.equal(true);
    const none = await new Walker().get(`${scene.test.url}${LOGIN}?provider=nobody`);
    expect(none.headers.location).to.equal('/sign-in?problem=oidc_unavailable');
  });

  it('end no sign-in that was begun at the other: RFC 9207', async () => {
    const walker = new Walker();
    const begun = await walker.walk(`${scene.test.url}${LOGIN}`, {
      stop: (at) => at.startsWith(scene.provider.issuer),
    });
    const state = new URL(begun.url).searchParams.get('state') ?? '';
    partners.people.set('attacker', { email: 'attacker@partner.example', email_verified: true });
    partners.person = 'attacker';
    const other = new Walker();
    const { url } = await other.walk(`${scene.test.url}${PARTNERS}`, {
      stop: (at) => at.startsWith(`${scene.test.url}${CALLBACK}`),
    });
    const mixed = new URL(url);
    mixed.searchParams.set('state', state);
    const { headers } = await walker.get(mixed.href);
    expect(headers.location).to.equal('/sign-in?problem=oidc_refused');
    expect(await userOf(scene.test.url, walker)).to.equal(null);
  });

  it('keep groups of the same name apart by a prefix, and take none of the other’s away', async () => {
    const { id: teamId } = await scene.root.mutate<{ id: string }>('team.create', { name: 'inner circle' });
    await scene.root.mutate('settings.updateOidcTeamMappings', {
      mappings: [{ group: 'admins', teamId, role: 'ADMIN' }],
      ...{ defaultRole: 'VIEWER', groupSyncEnabled: true, groupsScope: 'groups', groupsClaim: 'groups' },
    });
    await add({ groupPrefix: 'partners:' });
    const email = 'both@partner.example';
    const there = await signInAt('of-both', { email, groups: ['admins'] });
    const roles = () => scene.db('team_members').where({ user_id: there.user?.id }).pluck('role');
    expect(await roles(), 'the partners’ admins are not ours').to.deep.equal([]);
    // Linked to both: the second link goes by the account that is signed in.
    const subject = scene.somebody({ email: 'other@example.org', groups: ['admins'] });
    scene.provider.person = subject;
    there.walker.dropCookies('_');
    await there.walker.walk(`${scene.test.url}${LOGIN}?link=1&next=/settings`, {
      stop: (at) => at.startsWith(`${scene.test.url}/settings`),
      headers: { 'sec-fetch-site': 'same-origin' },
    });
    expect(await roles()).to.deep.equal(['ADMIN']);
    await signInAt('of-both', { email, groups: [] });
    expect(await roles(), 'after a sign-in at the other').to.deep.equal(['ADMIN']);
  });

  it('join accounts of SCIM at the provider alone whose SCIM is', async () => {
    await scene.root.mutate('settings.updateScim', { enabled: true });
    const { token } = await scene.root.mutate<{ token: string }>('settings.generateScimToken');
    const email = 'kept@example.org';
    const made = await send(`${scene.test.url}/api/scim/v2/Users`, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      body: {
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
        userName: email,
        externalId: 'ext-1',
        emails: [{ value: email }],
      },
    });
    expect(made.status).to.equal(201);
    const { id } = made.json<{ id: string }>();
    expect((await signInAt('ext-1', { email })).page).to.equal('/sign-in?problem=email_taken');
    scene.provider.people.set('ext-1', { email, email_verified: true, name: 'Kept' });
    expect((await scene.signIn('ext-1')).user?.id).to.equal(id);
  });

  it('are each of an issuer of its own', async () => {
    const { status, fault } = await scene.root.call('mutation', 'settings.updateOidc', {
      ...client(),
      providerId: 'again',
    });
    expect([status, fault?.message]).to.deep.equal([
      400,
      'issuer: the provider "partners" has this issuer already; change that provider',
    ]);
  });

  it('end alone: sessions that began at the other go on', async () => {
    const here = await scene.signIn(scene.somebody());
    const there = await signInAt('leaving', { email: 'leaving@partner.example' });
    await scene.root.mutate('settings.disableOidc', { providerId: 'partners' });
    expect(await userOf(scene.test.url, there.walker)).to.equal(null);
    expect(await userOf(scene.test.url, here.walker)).not.to.equal(null);
  });
});
