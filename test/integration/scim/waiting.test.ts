/** Members that are not here yet, requests that change nothing, and what is kept of refusals. */
import { expect } from 'chai';
import { countWaiting, untilWaiting } from '../../support/harness/lock-waiters.ts';
import { until } from '../../support/harness/until.ts';
import { expectError, type Json, PATCH_OP } from '../../support/scenes/scim/client.ts';
import { useScimScene } from '../../support/scenes/scim/scene.ts';

describe('SCIM', () => {
  const scene = useScimScene();

  const audited = async (action: string, entityId: string): Promise<Json[]> =>
    scene.test.db('audit_log').where({ action, entity_id: entityId }).orderBy('created_at');
  const membersOf = async (group: string): Promise<string[]> =>
    (await scene.scim.want(200, 'GET', `/Groups/${group}`)).members.map((one: Json) => one.value);
  const add = (...values: string[]) => ({
    op: 'add',
    path: 'members',
    value: values.map((value) => ({ value })),
  });

  describe('with a member whom it does not know', () => {
    it('takes the others, and tells of the unknown ones in the audit row of the group', async () => {
      const { scim, userId } = scene;
      const group = await scim.group('Operators');
      const answer = await scim.patch(`/Groups/${group}`, add(userId, 'gone-1', 'gone-2'));
      expect(answer.status, answer.text).to.equal(204);
      expect(await membersOf(group)).to.deep.equal([userId]);
      const [row] = await audited('scimGroup.updated', group);
      expect(row.metadata).to.include({ membersJoined: 1, membersWaiting: 2 });
      expect(row.metadata.waitsFor.toSorted()).to.deep.equal(['gone-1', 'gone-2']);
    });

    it('has them join once they are created, by external id or user name, with their teams', async () => {
      const { scim, root, test } = scene;
      const team = await root.mutate<{ id: string }>('team.create', { name: 'Later' });
      await root.mutate('settings.updateOidcTeamMappings', {
        mappings: [{ group: 'Latecomers', teamId: team.id, role: 'EDITOR' }],
        ...{ defaultRole: 'VIEWER', groupSyncEnabled: false },
      });
      const group = await scim.group('Latecomers', ['ext-late', 'Second@Example.org', 'never']);
      expect(await membersOf(group)).to.deep.equal([]);
      const first = await scim.user('first@example.org', { externalId: 'ext-late' });
      const second = await scim.user('second@example.org');
      expect((await membersOf(group)).toSorted()).to.deep.equal([first, second].toSorted());
      const roles = await test
        .db('team_members')
        .where({ team_id: team.id, source: 'group' })
        .select('user_id', 'role');
      expect(roles.map((row: Json) => row.user_id).toSorted()).to.deep.equal([first, second].toSorted());
      const [row] = await audited('scimUser.created', first);
      expect(row.metadata).to.include({ groupsThatWaited: 1 });
    });

    it('has them join at once where they were created meanwhile, and stay when the group is sent again', async () => {
      const { scim } = scene;
      const first = await scim.user('here@example.org', { externalId: 'ext-here' });
      const second = await scim.user('also-here@example.org');
      const named = ['ext-here', 'Also-Here@example.org'];
      const group = await scim.group('Named', named);
      expect((await membersOf(group)).toSorted()).to.deep.equal([first, second].toSorted());
      const members = named.map((value) => ({ value }));
      await scim.want(200, 'PUT', `/Groups/${group}`, { displayName: 'Named', members });
      expect((await membersOf(group)).toSorted()).to.deep.equal([first, second].toSorted());
      expect(await audited('scimGroup.updated', group)).to.deep.equal([]);
    });

    it('has them join where they are created while the group is being changed', async () => {
      const { scim, userId, test } = scene;
      const group = await scim.group('Raced');
      const tx = await test.db.transaction();
      await tx.raw('LOCK TABLE directory_group_members IN SHARE MODE');
      const changing = scim.patch(`/Groups/${group}`, add(userId, 'ext-raced'));
      let isCreated = false;
      try {
        await untilWaiting(test.db);
        const creating = scim.user('raced@example.org', { externalId: 'ext-raced' }).finally(() => {
          isCreated = true;
        });
        await until(async () => isCreated || (await countWaiting(test.db)) === 2, {
          what: 'the user to be created, or to wait',
        });
        await tx.commit();
        expect((await changing).status).to.equal(204);
        const both = [userId, await creating];
        expect((await membersOf(group)).toSorted()).to.deep.equal(both.toSorted());
      } finally {
        if (!tx.isCompleted()) await tx.rollback();
      }
    });

    it('has somebody who was deleted join again on return', async () => {
      const { scim } = scene;
      const id = await scim.user('returns@example.org');
      const group = await scim.group('Returning');
      await scim.want(204, 'DELETE', `/Users/${id}`);
      await scim.want(204, 'PATCH', `/Groups/${group}`, { schemas: [PATCH_OP], Operations: [add(id)] });
      expect(await membersOf(group)).to.deep.equal([]);
      expect(await scim.user('returns@example.org')).to.equal(id);
      expect(await membersOf(group)).to.deep.equal([id]);
    });

    it('waits no more for whom the group does not have any more', async () => {
      const { scim } = scene;
      const group = await scim.group('Short', ['a@late.example', 'b@late.example', 'c@late.example']);
      await scim.patch(`/Groups/${group}`, { op: 'remove', path: 'members[value eq "a@late.example"]' });
      await scim.want(200, 'PUT', `/Groups/${group}`, {
        displayName: 'Short',
        members: [{ value: 'c@late.example' }],
      });
      for (const name of ['a', 'b']) await scim.user(`${name}@late.example`);
      const c = await scim.user('c@late.example');
      expect(await membersOf(group)).to.deep.equal([c]);
    });
  });

  describe('with a request that changes nothing', () => {
    it('moves no lastModified of a user and writes no audit row', async () => {
      const { scim } = scene;
      const id = await scim.user('same@example.org', { displayName: 'Same', active: true });
      const before = await scim.want(200, 'GET', `/Users/${id}`);
      await scim.patch(`/Users/${id}`, { op: 'replace', value: { displayName: 'Same', active: 'True' } });
      await scim.want(200, 'PUT', `/Users/${id}`, before);
      expect(await scim.want(200, 'GET', `/Users/${id}`)).to.deep.equal(before);
      const rows = await scene.test.db('audit_log').where({ entity_id: id });
      expect(rows.map((row: Json) => row.action)).to.deep.equal(['scimUser.created']);
    });

    it('moves no lastModified of a group and writes no audit row, whoever is waited for', async () => {
      const { scim, userId } = scene;
      const id = await scim.group('Still', [userId]);
      const before = await scim.want(200, 'GET', `/Groups/${id}`);
      await scim.patch(`/Groups/${id}`, add(userId), { op: 'replace', path: 'displayName', value: 'Still' });
      await scim.want(200, 'PUT', `/Groups/${id}`, before);
      expect(await scim.want(200, 'GET', `/Groups/${id}`)).to.deep.equal(before);
      const rows = await scene.test.db('audit_log').where({ entity_id: id });
      expect(rows.map((row: Json) => row.action)).to.deep.equal(['scimGroup.created']);
    });
  });

  describe('with a request that it refuses', () => {
    it('leaves one line in the log and one in the settings, without the query of the address', async () => {
      const { scim, root, test } = scene;
      await scim.call('GET', '/Users?filter=userName%20like%20%22secret%22');
      const [last] = await root.query<Json[]>('settings.scimRefusals');
      expect(last).to.include({ method: 'GET', path: '/Users', status: 400, scimType: 'invalidFilter' });
      expect(last.detail).to.be.a('string').and.not.equal('');
      const line = test
        .log()
        .split('\n')
        .filter((one) => one.includes('a SCIM request was refused'))
        .at(-1);
      expect(JSON.parse(line ?? '{}')).to.include({ status: 400, scimType: 'invalidFilter' });
    });

    it('keeps the last 100, and none of those that come without the token', async () => {
      const { scim, root, test } = scene;
      await test.db.raw(
        `INSERT INTO scim_refusals (created_at, method, path, status, detail)
         SELECT now(), 'GET', '/Users', 400, 'old' FROM generate_series(1, 200)`,
      );
      await scim.call('GET', '/Users/nobody');
      await scim.call('GET', '/Users', undefined, { headers: { authorization: 'Bearer scim_wrong' } });
      const kept = await root.query<Json[]>('settings.scimRefusals');
      expect(kept).to.have.length(100);
      expect(kept[0]).to.include({ status: 404, path: '/Users/nobody' });
      expect(Number((await test.db('scim_refusals').count({ count: '*' }).first())?.count)).to.equal(100);
    });

    it('answers 501 for what RFC 7644 lets a service leave out', async () => {
      for (const [method, path] of [
        ['GET', '/Me'],
        ['POST', '/Bulk'],
        ['POST', '/.search'],
      ] as const)
        expectError(await scene.scim.call(method, path, method === 'POST' ? {} : undefined), 501);
    });

    it('answers 400 where schemas names another schema than that of the request', async () => {
      const { scim, userId, groupId } = scene;
      const schemas = ['urn:ietf:params:scim:schemas:core:2.0:Nothing'];
      for (const [method, path, body] of [
        ['POST', '/Users', { userName: 'wrong@example.org' }],
        ['PUT', `/Users/${userId}`, { userName: 'ada@example.org' }],
        ['POST', '/Groups', { displayName: 'Wrong' }],
        ['PATCH', `/Groups/${groupId}`, { Operations: [add()] }],
        ['POST', '/Users/.search', {}],
      ] as const)
        expectError(await scim.call(method, path, { schemas, ...body }), 400, 'invalidSyntax');
    });

    it('calls it mutability where what is required is to be removed', async () => {
      const { scim, groupId } = scene;
      const id = await scim.user('required@example.org');
      for (const [path, attribute] of [
        [`/Users/${id}`, 'userName'],
        [`/Groups/${groupId}`, 'displayName'],
      ] as const)
        expectError(await scim.patch(path, { op: 'remove', path: attribute }), 400, 'mutability');
    });
  });
});
