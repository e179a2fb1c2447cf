/** Users by SCIM: made, changed, deactivated, deleted, brought back, adopted; and never an account of somebody else. */
import { expect } from 'chai';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { expectError, type Json, useScim } from '../../support/scenes/scim/client.ts';
import { makeUser } from '../../support/users/person.ts';

describe('a user of SCIM', () => {
  const test = useController();
  const root = useRoot(test);
  const scim = useScim(root);

  const account = (id: string) => test.db('users').where({ id }).first();
  const get = (id: string) => scim.want(200, 'GET', `/Users/${id}`);
  const audited = async (entityId: string): Promise<Json[]> =>
    test.db('audit_log').where({ entity_id: entityId }).orderBy('created_at').orderBy('id');

  it('is made with what was given, told where it is, and signs in at the provider only', async () => {
    const answer = await scim.call('POST', '/Users', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      externalId: '00uAda',
      userName: 'Ada@Example.org',
      name: { formatted: 'Ada Lovelace', givenName: 'Ada', familyName: 'Lovelace', middleName: 'K' },
      displayName: 'Ada L.',
      emails: [
        { value: 'ada@home.example', type: 'home' },
        { value: 'ada@example.org', type: 'work', primary: true },
      ],
      title: 'Countess',
      password: 'hunter2-from-the-provider',
      active: true,
      groups: [{ value: 'made up' }],
      id: 'made up',
    });
    expect(answer.status, answer.text).to.equal(201);
    const user = answer.json<Json>();
    const location = `${scim.base}/Users/${user.id}`;
    expect(answer.headers.location).to.equal(location);
    expect(answer.headers['content-type']).to.match(/^application\/scim\+json/);
    expect(answer.headers['cache-control']).to.equal('no-store');
    expect(user).to.deep.equal({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      id: user.id,
      externalId: '00uAda',
      userName: 'Ada@Example.org',
      name: { formatted: 'Ada Lovelace', givenName: 'Ada', familyName: 'Lovelace' },
      displayName: 'Ada L.',
      emails: [
        { value: 'ada@home.example', type: 'home' },
        { value: 'ada@example.org', type: 'work', primary: true },
      ],
      active: true,
      groups: [],
      meta: {
        resourceType: 'User',
        created: user.meta.created,
        lastModified: user.meta.lastModified,
        location,
      },
    });
    expect(await get(user.id)).to.deep.equal(user);
    const row = await account(user.id);
    expect(row).to.include({ email: 'Ada@Example.org', name: 'Ada L.', auth_method: 'OIDC' });
    expect(row).to.include({ password_hash: null, is_super_admin: false, locked_at: null });
    const [entry] = await audited(user.id);
    expect(entry).to.include({ actor_type: 'scim', action: 'scimUser.created', entity_type: 'ScimUser' });
    expect(entry.metadata.userName).to.equal('Ada@Example.org');
    expect(JSON.stringify(await test.db('audit_log'))).not.to.include('hunter2-from-the-provider');
    expect(JSON.stringify(await test.db('scim_users'))).not.to.include('hunter2-from-the-provider');
  });

  it('whose userName is no address has that of its primary e-mail address', async () => {
    const id = await scim.user('jdoe', {
      name: { givenName: 'Jo', familyName: 'Doe' },
      emails: [{ value: 'first@x.example' }, { value: 'jo@x.example', primary: 'True' }],
    });
    expect(await account(id)).to.include({ email: 'jo@x.example', name: 'Jo Doe' });
    expect((await account(await scim.user('nobody'))).email).to.match(/@no-address\.invalid$/);
  });

  it('is one of its name, whatever the case: 409', async () => {
    await scim.user('twice@example.org');
    expectError(await scim.call('POST', '/Users', { userName: 'TWICE@example.org' }), 409, 'uniqueness');
    const other = { userName: 'other-name', emails: [{ value: 'Twice@Example.org' }] };
    expectError(await scim.call('POST', '/Users', other), 409, 'uniqueness');
  });

  it('is made once by ten requests at the same moment', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => scim.call('POST', '/Users', { userName: 'race@example.org' })),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, ...Array(9).fill(409)]);
    const sent = (n: number) => ({ userName: 'racer', emails: [{ value: `racer${n}@example.org` }] });
    const others = await Promise.all(
      Array.from({ length: 10 }, (_, n) => scim.call('POST', '/Users', sent(n))),
    );
    expect(others.map(({ status }) => status).sort()).to.deep.equal([201, ...Array(9).fill(409)]);
    expect(await test.db('users').where('email', 'like', 'racer%')).to.have.length(1);
  });

  it('is replaced by PUT: what is left out is gone, but for externalId and active', async () => {
    const id = await scim.user('put@example.org', {
      externalId: 'x-1',
      displayName: 'Before',
      name: { givenName: 'P' },
      active: false,
    });
    const put = await scim.want(200, 'PUT', `/Users/${id}`, { userName: 'put2@example.org' });
    expect(put).to.include({ userName: 'put2@example.org', externalId: 'x-1', active: false });
    expect(put).not.to.have.any.keys('displayName', 'name', 'emails');
    expect(await account(id)).to.include({ email: 'put2@example.org', name: 'put2@example.org' });
    expectError(await scim.call('PUT', `/Users/${id}`, { displayName: 'x' }), 400, 'invalidValue');
    const entries = await audited(id);
    expect(entries.at(-1)).to.include({ action: 'scimUser.updated' });
    expect(entries.at(-1).diff.userName).to.deep.equal(['put@example.org', 'put2@example.org']);
    expect(entries.at(-1).diff).not.to.have.any.keys('active', 'externalId');
  });

  it('keeps a name that was changed by hand until the provider says another one', async () => {
    const id = await scim.user('named@example.org', { displayName: 'Given' });
    await test.db('users').where({ id }).update({ name: 'By hand' });
    await scim.patch(`/Users/${id}`, { op: 'replace', path: 'externalId', value: 'e' });
    expect((await account(id)).name).to.equal('By hand');
    await scim.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: 'New' });
    expect((await account(id)).name).to.equal('New');
  });

  it('does not take the userName or the address of another account by PUT or PATCH', async () => {
    await makeUser(test.db, { email: 'local@example.org' });
    await scim.user('has@example.org');
    const id = await scim.user('wants@example.org');
    for (const userName of ['HAS@example.org', 'local@example.org']) {
      expectError(await scim.call('PUT', `/Users/${id}`, { userName }), 409, 'uniqueness');
      const path = { op: 'replace', path: 'userName', value: userName };
      expectError(await scim.patch(`/Users/${id}`, path), 409, 'uniqueness');
    }
    expect((await get(id)).userName).to.equal('wants@example.org');
    expect((await account(id)).email).to.equal('wants@example.org');
  });

  describe('that is deactivated', () => {
    const off = { op: 'replace', value: { active: false } };
    const on = { op: 'replace', value: { active: true } };

    it('loses its sessions at once, and gets in again when it is active', async () => {
      const id = await scim.user('leaver@example.org');
      await makeSession(id);
      const answer = await scim.patch(`/Users/${id}`, off);
      expect(answer.status).to.equal(200);
      expect(answer.json<Json>().active).to.equal(false);
      expect(await account(id)).to.include({ locked_by: 'scim' });
      expect((await account(id)).locked_at).to.be.an.instanceOf(Date);
      expect(await test.db('sessions').where({ user_id: id })).to.have.length(0);
      await scim.patch(`/Users/${id}`, on);
      expect(await account(id)).to.include({ locked_at: null, locked_by: null });
      expect((await audited(id)).map(({ action }) => action)).to.deep.equal([
        ...['scimUser.created', 'scimUser.deactivated', 'scimUser.reactivated'],
      ]);
    });

    it('stays locked where an administrator had locked it', async () => {
      const id = await scim.user('watched@example.org');
      await test.db('users').where({ id }).update({ locked_at: new Date(), locked_by: 'admin' });
      for (const operation of [off, on, on]) await scim.patch(`/Users/${id}`, operation);
      expect((await get(id)).active).to.equal(true);
      expect(await account(id)).to.include({ locked_by: 'admin' });
      await scim.want(204, 'DELETE', `/Users/${id}`);
      expect(await scim.user('watched@example.org')).to.equal(id);
      expect(await account(id)).to.include({ locked_by: 'admin' });
    });

    it('is locked again by the next request that says so, where an administrator had unlocked it', async () => {
      const id = await scim.user('twice-off@example.org', { active: false });
      expect(await account(id)).to.include({ locked_by: 'scim' });
      await test.db('users').where({ id }).update({ locked_at: null, locked_by: null });
      await scim.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: 'Other' });
      expect((await account(id)).locked_at, 'nothing was said of it').to.equal(null);
      await scim.patch(`/Users/${id}`, off);
      expect(await account(id)).to.include({ locked_by: 'scim' });
    });

    it('is never the last super admin who can sign in: 409 that says what to do', async () => {
      const id = await scim.user('chief@example.org');
      await test.db('users').where({ id }).update({ is_super_admin: true, password_hash: 'one' });
      const others = test.db('users').where({ is_super_admin: true }).whereNot({ id });
      await others.clone().update({ locked_at: new Date() });
      try {
        for (const attempt of [
          () => scim.patch(`/Users/${id}`, off),
          () => scim.call('PUT', `/Users/${id}`, { userName: 'chief@example.org', active: false }),
          () => scim.call('DELETE', `/Users/${id}`),
        ])
          expect(expectError(await attempt(), 409)).to.include('last super admin');
        expect((await account(id)).locked_at).to.equal(null);
        expect((await get(id)).active).to.equal(true);
      } finally {
        await others.clone().update({ locked_at: null });
      }
      expect((await scim.patch(`/Users/${id}`, off)).status).to.equal(200);
      await test.db('users').where({ id }).update({ is_super_admin: false });
    });

    it('leaves one of two super admins who are deactivated at the same moment', async () => {
      const ids = await Promise.all(['one', 'two'].map((name) => scim.user(`${name}-chief@example.org`)));
      await test.db('users').whereIn('id', ids).update({ is_super_admin: true, password_hash: 'one' });
      const others = test.db('users').where({ is_super_admin: true }).whereNotIn('id', ids);
      await others.clone().update({ locked_at: new Date() });
      try {
        const answers = await Promise.all(ids.map((id) => scim.patch(`/Users/${id}`, off)));
        expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409]);
      } finally {
        await test.db('users').whereIn('id', ids).update({ is_super_admin: false });
        await others.clone().update({ locked_at: null });
      }
    });
  });

  describe('that is deleted', () => {
    it('is locked, not there to SCIM any more, and brought back under its userName', async () => {
      const id = await scim.user('gone@example.org', { externalId: 'e-1', displayName: 'Gone' });
      await makeSession(id);
      await scim.group('Leavers', [id]);
      expect((await scim.call('DELETE', `/Users/${id}`)).text).to.equal('');
      for (const [method, body] of [['GET'], ['DELETE'], ['PUT', { userName: 'gone@example.org' }]] as const)
        expectError(await scim.call(method, `/Users/${id}`, body), 404);
      expectError(await scim.patch(`/Users/${id}`, { op: 'replace', value: { active: true } }), 404);
      for (const filter of ['userName eq "gone@example.org"', 'externalId eq "e-1"', `id eq "${id}"`])
        expect(await list(filter)).to.deep.equal([]);
      expect(await account(id)).to.include({ email: 'gone@example.org', locked_by: 'scim' });
      expect(await test.db('sessions').where({ user_id: id })).to.have.length(0);
      const group = await scim.want(200, 'GET', '/Groups?filter=displayName%20eq%20%22Leavers%22');
      expect(group.Resources[0].members).to.deep.equal([]);

      const again = await scim.want(201, 'POST', '/Users', {
        userName: 'GONE@example.org',
        displayName: 'Back',
      });
      expect(again).to.include({ id, userName: 'GONE@example.org', displayName: 'Back', active: true });
      expect(again).not.to.have.property('externalId');
      expect(await account(id)).to.include({ locked_at: null, name: 'Back', email: 'GONE@example.org' });
      const entries = await audited(id);
      expect(entries.map(({ action }) => action)).to.include.members(['scimUser.deleted']);
      expect(entries.at(-1).metadata).to.include({ broughtBack: true });
    });

    it('is brought back once by ten requests at the same moment', async () => {
      const id = await scim.user('phoenix@example.org');
      await scim.want(204, 'DELETE', `/Users/${id}`);
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => scim.call('POST', '/Users', { userName: 'phoenix@example.org' })),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, ...Array(9).fill(409)]);
    });

    it('comes back under another userName by its address', async () => {
      const id = await scim.user('married@example.org');
      await scim.want(204, 'DELETE', `/Users/${id}`);
      const more = { emails: [{ value: 'married@example.org' }] };
      expect(await scim.user('mrs-married', more)).to.equal(id);
    });
  });

  describe('and an account that is there already', () => {
    it('is adopted where a sign-in at the provider made it', async () => {
      const id = await makeUser(test.db, { email: 'by-oidc@example.org' });
      await test.db('users').where({ id }).update({ auth_method: 'OIDC', password_hash: null });
      expectError(await scim.call('GET', `/Users/${id}`), 404);
      expect(await scim.user('By-Oidc@example.org', { displayName: 'Adopted' })).to.equal(id);
      expect(await account(id)).to.include({ name: 'Adopted', email: 'By-Oidc@example.org' });
      expect((await audited(id)).at(-1).metadata).to.include({ adopted: true });
    });

    it('is not taken over where it has a password, or may everything: 409 that says what to do', async () => {
      const plain = await makeUser(test.db, { email: 'password@example.org' });
      const chief = await makeUser(test.db, { email: 'oidc-chief@example.org', isSuperAdmin: true });
      await test.db('users').where({ id: chief }).update({ auth_method: 'OIDC', password_hash: null });
      const before = [await account(plain), await account(chief)];
      for (const userName of ['password@example.org', 'oidc-chief@example.org']) {
        const detail = expectError(await scim.call('POST', '/Users', { userName }), 409, 'uniqueness');
        expect(detail).to.include('does not take over');
        const aside = { userName: `aside-${userName.split('@')[0]}`, emails: [{ value: userName }] };
        expectError(await scim.call('POST', '/Users', aside), 409, 'uniqueness');
      }
      expect([await account(plain), await account(chief)]).to.deep.equal(before);
      await test.db('users').where({ id: chief }).delete();
    });

    it('is not seen, changed, deleted or put into a group', async () => {
      const id = await makeUser(test.db, { email: 'unseen@example.org' });
      const before = await account(id);
      expectError(await scim.call('GET', `/Users/${id}`), 404);
      expectError(await scim.call('PUT', `/Users/${id}`, { userName: 'unseen@example.org' }), 404);
      expectError(await scim.patch(`/Users/${id}`, { op: 'replace', value: { active: false } }), 404);
      expectError(await scim.call('DELETE', `/Users/${id}`), 404);
      const group = { displayName: 'With a stranger', members: [{ value: id }] };
      // It is waited for, as if nobody had this id.
      expect((await scim.want(201, 'POST', '/Groups', group)).members).to.deep.equal([]);
      expect(await account(id)).to.deep.equal(before);
      expect(JSON.stringify(await scim.want(200, 'GET', '/Users?count=1000'))).not.to.include('unseen@');
    });
  });

  async function list(filter: string): Promise<Json[]> {
    return (await scim.want(200, 'GET', `/Users?filter=${encodeURIComponent(filter)}`)).Resources;
  }

  async function makeSession(userId: string): Promise<void> {
    await test.db('sessions').insert({
      ...{ id: `s-${userId}`, user_id: userId, token_hash: Buffer.alloc(32), method: 'oidc' },
      expires_at: new Date(Date.now() + 3_600_000),
    });
  }
});
