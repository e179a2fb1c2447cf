/** A provider that calls somebody otherwise than before: a super admin unlinks, and the next sign-in is joined. */
import { expect } from 'chai';
import { type Json, type ScimClient, scimOf } from '../../support/scenes/scim/client.ts';
import { useSingleSignOn } from '../../support/scenes/single-sign-on.ts';
import { makeUser, PASSWORD, signIn, type TestUser } from '../../support/users/person.ts';

const DAY_MS = 86_400_000;

describe('an account whose subject or issuer has changed', () => {
  const scene = useSingleSignOn();

  const unlink = (userId: string, issuer?: string, by: TestUser = scene.root) =>
    by.call('mutation', 'admin.unlinkProvider', { userId, ...(issuer && { issuer }) });
  const linksOf = (userId: string): Promise<{ subject: string }[]> =>
    scene.db('user_identities').where({ user_id: userId }).select('subject');
  const rowOf = (entityId: string, action: string) =>
    scene
      .db('audit_log')
      .where({ entity_id: entityId, action })
      .orderBy('created_at', 'desc')
      .first('metadata');
  /** Somebody who signs in at the provider alone. */
  async function known(claims: object = {}) {
    const subject = scene.somebody({ ...claims });
    const { user, walker } = await scene.signIn(subject);
    return { subject, walker, id: user?.id ?? '', email: user?.email ?? '' };
  }

  it('is joined by the next sign-in with its verified address once a super admin has unlinked it, and only once', async () => {
    const { id, email, walker } = await known();
    const again = scene.somebody({ email });
    expect((await scene.signIn(again)).page, 'not before').to.equal('/sign-in?problem=email_taken');
    expect((await unlink(id)).status).to.equal(200);
    expect(await scene.db('sessions').where({ user_id: id }), 'signed out').to.deep.equal([]);
    expect(walker).not.to.equal(null);
    const { user } = await scene.signIn(again);
    expect(user?.id).to.equal(id);
    expect(await linksOf(id)).to.deep.equal([{ subject: again }]);
    expect((await rowOf(id, 'user.providerLinked')).metadata).to.deep.equal({
      ...{ issuer: scene.provider.issuer, subject: again, by: 'unlinked' },
    });
    const third = await scene.signIn(scene.somebody({ email }));
    expect(third.page).to.equal('/sign-in?problem=email_taken');
  });

  it('is not joined by an address that the provider does not call verified', async () => {
    const { id, email } = await known();
    expect((await unlink(id)).status).to.equal(200);
    for (const email_verified of [false, undefined])
      expect((await scene.signIn(scene.somebody({ email, email_verified }))).page).to.equal(
        '/sign-in?problem=email_unverified',
      );
    expect(await linksOf(id)).to.deep.equal([]);
  });

  it('is not joined for ever: an address may be somebody else’s by then; unlinking once more allows it again', async () => {
    const { id, email } = await known();
    expect((await unlink(id)).status).to.equal(200);
    const at = new Date(Date.now() - 91 * DAY_MS);
    await scene.db('users').where({ id }).update({ relink_allowed_at: at });
    const subject = scene.somebody({ email });
    expect((await scene.signIn(subject)).page).to.equal('/sign-in?problem=email_taken');
    expect((await unlink(id)).status).to.equal(200);
    expect((await scene.signIn(subject)).user?.id).to.equal(id);
  });

  it('of a super admin or with a password is opened by no address: they link themselves', async () => {
    const admin = await known();
    await scene.db('users').where({ id: admin.id }).update({ is_super_admin: true });
    expect((await unlink(admin.id)).status).to.equal(200);
    expect((await scene.signIn(scene.somebody({ email: admin.email }))).page).to.include('email_taken');
    const reset = await scene.root.call('mutation', 'admin.resetPassword', { userId: admin.id });
    expect(reset.status, 'a reset lets them in').to.equal(200);
    await scene.db('users').where({ id: admin.id }).update({ is_super_admin: false });
  });

  it('loses the link of one issuer alone where that is named', async () => {
    const { id, subject } = await known();
    const before = 'https://before.example';
    await scene.db('user_identities').insert({ issuer: before, subject: 'other', user_id: id });
    expect((await unlink(id, before)).status).to.equal(200);
    expect(await linksOf(id)).to.deep.equal([{ subject }]);
    expect((await unlink(id, before)).status, 'no more').to.equal(412);
  });

  it('is unlinked with all others of its issuer; who has a password keeps it', async () => {
    const before = 'https://old.example';
    const own = await makeUser(scene.db, { email: 'has-password@example.org' });
    const person = await signIn(scene.test.url, 'has-password@example.org', PASSWORD);
    await scene.db('user_identities').insert({ issuer: before, subject: 'own', user_id: own });
    const { id, email } = await known();
    await scene.db('user_identities').where({ user_id: id }).update({ issuer: before });
    expect((await person.call('mutation', 'admin.unlinkIssuer', { issuer: before })).status).to.equal(403);
    const answer = await scene.root.mutate<object>('admin.unlinkIssuer', { issuer: before });
    expect(answer).to.deep.equal({ unlinked: 2, relinkable: 1 });
    expect((await scene.signIn(scene.somebody({ email }))).user?.id).to.equal(id);
    expect((await scene.signIn(scene.somebody({ email: 'has-password@example.org' }))).user).to.equal(null);
    const twice = await scene.root.call('mutation', 'admin.unlinkIssuer', { issuer: before });
    expect(twice.status).to.equal(412);
    const row = await scene.db('audit_log').where({ action: 'user.issuerUnlinked' }).first('metadata');
    expect(row.metadata).to.include({ issuer: before, unlinked: 2, relinkable: 1 });
  });

  describe('that SCIM keeps', () => {
    let scim: ScimClient;
    before(async () => {
      scim = await scimOf(scene.root);
    });
    async function create(user: Json): Promise<string> {
      const answer = await scim.call('POST', '/Users', {
        ...{ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], active: true },
        ...user,
      });
      expect(answer.status, answer.text).to.equal(201);
      return answer.json<Json>().id;
    }

    it('is joined by a subject that is its externalId, though addresses differ', async () => {
      const subject = scene.somebody({ email: 'new-name@example.org' });
      const id = await create({ userName: 'old-name@example.org', externalId: subject });
      const { user } = await scene.signIn(subject);
      expect(user?.id).to.equal(id);
      expect(user?.email, 'SCIM tells the address').to.equal('old-name@example.org');
      expect((await rowOf(id, 'user.providerLinked')).metadata).to.include({ by: 'externalId' });
    });

    it('is not where two accounts have the externalId, or somebody else is linked to it', async () => {
      const subject = scene.somebody();
      const ids = [
        await create({ userName: 'one@example.org', externalId: subject }),
        await create({ userName: 'two@example.org', externalId: subject }),
      ];
      const { user } = await scene.signIn(subject);
      expect(ids).not.to.include(user?.id);
    });

    it('is linked no more once SCIM has deleted it; brought back, it is linked anew', async () => {
      const subject = scene.somebody({ email: 'leaver@example.org' });
      const id = await create({ userName: 'leaver@example.org' });
      expect((await scene.signIn(subject)).user?.id).to.equal(id);
      expect((await scim.call('DELETE', `/Users/${id}`)).status).to.equal(204);
      expect(await linksOf(id)).to.deep.equal([]);
      expect(await create({ userName: 'leaver@example.org' })).to.equal(id);
      const rehired = scene.somebody({ email: 'leaver@example.org' });
      expect((await scene.signIn(rehired)).user?.id).to.equal(id);
      expect(await linksOf(id)).to.deep.equal([{ subject: rehired }]);
    });

    it('lets nobody in whom SCIM has deleted, as somebody new neither, and says that the account is locked', async () => {
      const subject = scene.somebody({ email: 'other-address@example.org' });
      const id = await create({ userName: 'deleted@example.org', externalId: subject });
      expect((await scene.signIn(subject)).user?.id).to.equal(id);
      expect((await scim.call('DELETE', `/Users/${id}`)).status).to.equal(204);
      expect((await scene.signIn(subject)).page).to.equal('/sign-in?problem=account_locked');
      const byAddress = scene.somebody({ email: 'deleted@example.org' });
      expect((await scene.signIn(byAddress)).page).to.equal('/sign-in?problem=account_locked');
      const unverified = scene.somebody({ email: 'deleted@example.org', email_verified: false });
      expect((await scene.signIn(unverified)).page, 'who only says so').to.equal(
        '/sign-in?problem=email_taken',
      );
      expect(await linksOf(id)).to.deep.equal([]);
    });
  });
});
