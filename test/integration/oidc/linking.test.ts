/** Whose account a provider's word opens: nobody's who was there before, unless they said so themselves. */
import { expect } from 'chai';
import { send } from '../../support/clients/http.ts';
import { untilWaiting } from '../../support/harness/lock-waiters.ts';
import { SESSION, useSingleSignOn } from '../../support/scenes/single-sign-on.ts';
import { makeUser, PASSWORD, signIn, type TestUser } from '../../support/users/person.ts';
import { Walker } from '../../support/users/walk.ts';

describe('accounts and what a provider says of an address', () => {
  const scene = useSingleSignOn();
  let accounts = 0;

  const newAccount = async () => {
    const email = `account-${++accounts}@example.org`;
    return { email, id: await makeUser(scene.db, { email }) };
  };
  /** As SCIM has made it. */
  const provisioned = async (more: { deleted?: boolean } = {}) => {
    const account = await newAccount();
    await scene.db('users').where({ id: account.id }).update({ auth_method: 'OIDC', password_hash: null });
    const deleted_at = more.deleted ? new Date() : null;
    await scene.db('scim_users').insert({ user_id: account.id, user_name: account.email, deleted_at });
    return account;
  };
  const linksOf = (userId: string): Promise<{ subject: string }[]> =>
    scene.db('user_identities').where({ user_id: userId }).select('subject');
  const refused = async (claims: object, problem: string, userId: string | null) => {
    const { page, user } = await scene.signIn(scene.somebody({ ...claims }));
    expect(page).to.equal(`/sign-in?problem=${problem}`);
    expect(user).to.equal(null);
    if (userId === null) return;
    const row = await scene.db('audit_log').where({ entity_id: userId, action: 'user.signInFailed' }).first();
    expect(row.metadata).to.include({ method: 'oidc', problem });
  };

  it('lets nobody into an account with a password by its address', async () => {
    const { email, id } = await newAccount();
    await refused({ email }, 'email_taken', id);
    await refused({ email: email.toUpperCase() }, 'email_taken', id);
    expect(await linksOf(id)).to.deep.equal([]);
  });

  it('lets nobody into the first administrator’s', () =>
    refused({ email: 'root@example.org' }, 'email_taken', null));

  it('lets nobody into an account that is linked to another subject', async () => {
    const subject = scene.somebody();
    const { user } = await scene.signIn(subject);
    await refused({ email: user?.email }, 'email_taken', user?.id ?? '');
    expect(await linksOf(user?.id ?? '')).to.deep.equal([{ subject }]);
  });

  it('lets somebody into the account that SCIM has made for them, from then on by their subject', async () => {
    const { email, id } = await provisioned();
    const subject = scene.somebody({ email });
    expect((await scene.signIn(subject)).user?.id).to.equal(id);
    scene.provider.people.set(subject, { email: 'other@example.org', email_verified: true, name: 'Other' });
    const { user } = await scene.signIn(subject);
    expect(user, 'SCIM tells the address').to.include({ id, email });
    await refused({ email }, 'email_taken', id);
  });

  it('does not where the address is not verified, or SCIM has deleted it', async () => {
    const unverified = await provisioned();
    await refused({ email: unverified.email, email_verified: false }, 'email_unverified', unverified.id);
    await refused({ email: unverified.email, email_verified: 'false' }, 'email_unverified', unverified.id);
    const deleted = await provisioned({ deleted: true });
    await refused({ email: deleted.email }, 'email_taken', deleted.id);
  });

  it('lets nobody into a super admin’s, nor into one with a password, by what SCIM says of its address', async () => {
    for (const more of [{ is_super_admin: true }, { password_hash: 'one' }]) {
      const { email, id } = await provisioned();
      await scene.db('users').where({ id }).update(more);
      await refused({ email }, 'email_taken', id);
      expect(await linksOf(id)).to.deep.equal([]);
    }
  });

  it('makes no account of an address of which nothing is said, unless the provider is said to verify them', async () => {
    const { email, id } = await provisioned();
    expect((await scene.signIn(scene.somebody({ email, email_verified: undefined }))).user?.id).to.equal(id);
    await refused({ email_verified: undefined }, 'email_unverified', null);
    const verifies = (verifiesEmails: boolean) =>
      scene.root.mutate('settings.updateOidc', { ...scene.client, options: { verifiesEmails } });
    await verifies(true);
    expect((await scene.signIn(scene.somebody({ email_verified: undefined }))).user).not.to.equal(null);
    await refused({ email_verified: false }, 'email_unverified', null);
    await verifies(false);
  });

  it('makes no account without an address, nor of one that is none or is not verified', async () => {
    await refused({ email: undefined }, 'no_email', null);
    for (const email of [
      'nobody',
      'a b@example.org',
      'a\nb@example.org',
      `${'a'.repeat(320)}@example.org`,
      7,
      ['x@y.z'],
    ])
      await refused({ email }, 'no_email', null);
    await refused({ email_verified: false }, 'email_unverified', null);
  });

  it('lets in nobody whose account is locked, known or new to the provider', async () => {
    const subject = scene.somebody();
    const { user } = await scene.signIn(subject);
    await scene.db('users').where({ id: user?.id }).update({ locked_at: new Date(), locked_by: 'admin' });
    expect((await scene.signIn(subject)).page).to.equal('/sign-in?problem=account_locked');
    const { email, id } = await provisioned();
    await scene.db('users').where({ id }).update({ locked_at: new Date(), locked_by: 'scim' });
    await refused({ email }, 'account_locked', id);
  });

  it('knows nobody by what another issuer called them', async () => {
    const { email, id } = await newAccount();
    const subject = scene.somebody({ email });
    await scene.db('user_identities').insert({ issuer: 'https://before.example', subject, user_id: id });
    expect((await scene.signIn(subject)).page).to.equal('/sign-in?problem=email_taken');
  });

  describe('linked from the profile', () => {
    const LINK = '/api/auth/oidc/login?link=1&next=%2Fprofile%3Ftab%3Dsign-in';
    const browserOf = async (email: string) => {
      const person = await signIn(scene.test.url, email, PASSWORD);
      const walker = new Walker({ 'x-forwarded-for': `10.2.0.${accounts & 255}` });
      walker.setCookie(SESSION, person.cookie.split(/[=;]/)[1] ?? '');
      return { person, walker };
    };
    const linked = async () => {
      const { email, id } = await newAccount();
      const { person, walker } = await browserOf(email);
      const subject = scene.somebody();
      const { page } = await scene.signIn(subject, { walker, path: LINK });
      expect(page).to.equal('/profile?tab=sign-in&linked=1');
      return { email, id, person, walker, subject };
    };

    it('signs in to the account from then on, which keeps its name, address and password', async () => {
      const { email, id, person, subject } = await linked();
      expect(await person.query('user.me')).to.include({ linkedToProvider: true, authMethod: 'PASSWORD' });
      const { user } = await scene.signIn(subject);
      expect(user).to.include({ id, email });
      await signIn(scene.test.url, email, PASSWORD);
      const row = await scene.db('audit_log').where({ entity_id: id, action: 'user.providerLinked' }).first();
      expect(row).to.include({ user_id: id });
      expect(row.metadata).to.deep.equal({ issuer: scene.provider.issuer, subject });
    });

    it('is refused where somebody else has that subject, or they have one already', async () => {
      const { walker, subject } = await linked();
      const again = await scene.signIn(subject, { walker, path: LINK });
      expect(again.page, 'the same once more').to.equal('/profile?tab=sign-in&linked=1');
      const second = await scene.signIn(scene.somebody(), { walker, path: LINK });
      expect(second.page).to.equal('/profile?tab=sign-in&problem=already_linked');
      const other = await browserOf((await newAccount()).email);
      const stolen = await scene.signIn(subject, { walker: other.walker, path: LINK });
      expect(stolen.page).to.equal('/profile?tab=sign-in&problem=already_linked');
    });

    it('belongs to the session that has begun it: not to another, nor to nobody', async () => {
      const { email, id } = await newAccount();
      const victim = await newAccount();
      const { walker } = await browserOf(email);
      scene.provider.person = scene.somebody();
      const toCallback = async () =>
        walker.walk(`${scene.test.url}${LINK}`, {
          stop: (at) => at.startsWith(`${scene.test.url}/api/auth/oidc/callback`),
          headers: { 'sec-fetch-site': 'same-origin' },
        });
      const { url } = await toCallback();
      walker.setCookie(SESSION, (await browserOf(victim.email)).walker.cookie(SESSION) ?? '');
      expect((await walker.get(url)).headers.location).to.equal('/profile?tab=sign-in&problem=oidc_expired');
      walker.setCookie(SESSION, (await browserOf(email)).walker.cookie(SESSION) ?? '');
      const second = await toCallback();
      walker.setCookie(SESSION, '');
      expect((await walker.get(second.url)).headers.location).to.equal(
        '/profile?tab=sign-in&problem=oidc_expired',
      );
      expect([...(await linksOf(id)), ...(await linksOf(victim.id))]).to.deep.equal([]);
    });

    it('comes to nothing where the session ends while the provider is asked, as by a reset of the account', async () => {
      const { email, id } = await newAccount();
      const { walker } = await browserOf(email);
      const reset = await scene.db.transaction();
      await reset('users').where({ id }).forUpdate().first('id');
      const linking = scene.signIn(scene.somebody(), { walker, path: LINK });
      await untilWaiting(scene.db);
      await reset('sessions').where({ user_id: id }).delete();
      await reset.commit();
      expect((await linking).page).to.include('problem=oidc_expired');
      expect(await linksOf(id)).to.deep.equal([]);
    });

    it('is begun by nobody who is not signed in, has something else to do first, or comes from another site', async () => {
      const url = `${scene.test.url}${LINK}`;
      const own = { 'sec-fetch-site': 'same-origin' };
      expect((await send(url, { headers: own })).status).to.equal(401);
      const { email, id } = await newAccount();
      const { person } = await browserOf(email);
      const statusWith = async (headers: Record<string, string>) =>
        (await send(url, { headers: { cookie: person.cookie, ...headers } })).status;
      for (const foreign of [
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { 'sec-fetch-site': 'none' },
        { 'sec-fetch-site': 'cross-site', referer: `${scene.test.url}/profile` },
        { referer: 'https://evil.example/' },
        {},
      ])
        expect(await statusWith(foreign as Record<string, string>), JSON.stringify(foreign)).to.equal(403);
      expect(await statusWith({ referer: `${scene.test.url}/profile` }), 'plain http').to.equal(302);
      await scene.db('users').where({ id }).update({ must_change_password: true });
      expect(await statusWith(own), 'a password that was given').to.equal(403);
    });

    it('makes one link of two at once', async () => {
      const one = await newAccount();
      const two = await newAccount();
      const subject = scene.somebody();
      scene.provider.person = subject;
      const ways = [];
      for (const { email } of [one, two]) {
        const { walker } = await browserOf(email);
        const { url } = await walker.walk(`${scene.test.url}${LINK}`, {
          stop: (at) => at.startsWith(`${scene.test.url}/api/auth/oidc/callback`),
          headers: { 'sec-fetch-site': 'same-origin' },
        });
        ways.push({ walker, url });
      }
      const ends = await Promise.all(
        ways.map(async ({ walker, url }) => (await walker.get(url)).headers.location),
      );
      expect(ends.sort()).to.deep.equal([
        '/profile?tab=sign-in&linked=1',
        '/profile?tab=sign-in&problem=already_linked',
      ]);
      expect([...(await linksOf(one.id)), ...(await linksOf(two.id))]).to.deep.equal([{ subject }]);
    });

    it('is taken back by them, and the subject is somebody new from then on', async () => {
      const { id, person, subject, email } = await linked();
      const elsewhere: TestUser = await signIn(scene.test.url, email, PASSWORD);
      await person.mutate('user.unlinkProvider');
      expect(await person.query('user.me')).to.include({ linkedToProvider: false });
      expect((await elsewhere.call('query', 'user.me')).status, 'other sessions').to.equal(401);
      expect(await linksOf(id)).to.deep.equal([]);
      const { user } = await scene.signIn(subject);
      expect(user?.id).not.to.equal(id);
      expect((await person.call('mutation', 'user.unlinkProvider')).status, 'twice').to.equal(412);
    });

    it('is not taken back by whoever has no password', async () => {
      const { walker, user } = await scene.signIn(scene.somebody());
      const answer = await send(`${scene.test.url}/api/trpc/user.unlinkProvider`, {
        headers: { cookie: walker.cookies },
        body: { json: {} },
      });
      expect(answer.status).to.equal(412);
      expect(await linksOf(user?.id ?? '')).to.have.length(1);
    });
  });
});
