/** Groups by SCIM, and the memberships of teams that follow them in the same moment. */
import { expect } from 'chai';
import type { Role } from '../../../schemas/api/common.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { expectError, type Json, useScim } from '../../support/scenes/scim/client.ts';

describe('a group of SCIM', () => {
  const test = useController();
  const root = useRoot(test);
  const scim = useScim(root);
  let teams: Record<'web' | 'data' | 'ops', string>;
  let people = 0;

  before(async () => {
    const make = async (name: string) => (await root.mutate<{ id: string }>('team.create', { name })).id;
    teams = { web: await make('Web'), data: await make('Data'), ops: await make('Ops') };
    await map([
      ['Engineers', 'web', 'EDITOR'],
      ['Leads', 'web', 'ADMIN'],
      ['Readers', 'web', 'VIEWER'],
      ['Engineers', 'data', 'VIEWER'],
      ['Operators', 'ops', 'EDITOR'],
    ]);
  });

  type Mapping = readonly [string, keyof typeof teams, Role];
  const map = (mappings: readonly Mapping[], more: object = {}) =>
    root.mutate<Json>('settings.updateOidcTeamMappings', {
      mappings: mappings.map(([group, team, role]) => ({ group, teamId: teams[team], role })),
      ...{ defaultRole: 'VIEWER', groupSyncEnabled: false, ...more },
    });
  const person = () => scim.user(`person${++people}@example.org`);
  /** Team to role, of memberships that came from groups; those by hand with a `!`. */
  async function roles(userId: string): Promise<Record<string, string>> {
    const rows = await test.db('team_members').where({ user_id: userId });
    const named = (id: string) => Object.entries(teams).find(([, one]) => one === id)?.[0] ?? id;
    return Object.fromEntries(
      rows.map(({ team_id, role, source }) => [named(team_id), source === 'group' ? role : `${role}!`]),
    );
  }
  const members = async (id: string): Promise<string[]> =>
    (await scim.want(200, 'GET', `/Groups/${id}`)).members.map(({ value }: Json) => value).sort();
  const patched = async (id: string, ...operations: object[]) => {
    const answer = await scim.patch(`/Groups/${id}`, ...operations);
    expect(answer.status, answer.text).to.equal(204);
    expect(answer.text).to.equal('');
  };
  const add = (...ids: string[]) => ({ op: 'add', path: 'members', value: ids.map((value) => ({ value })) });
  const remove = (id: string) => ({ op: 'remove', path: `members[value eq "${id}"]` });
  const drop = (...groups: string[]) =>
    Promise.all(groups.map((id) => scim.want(204, 'DELETE', `/Groups/${id}`)));
  const audited = async (entityId: string): Promise<Json[]> =>
    test.db('audit_log').where({ entity_id: entityId }).orderBy('created_at').orderBy('id');

  it('is made with its members, and their teams follow', async () => {
    const [a, b] = [await person(), await person()];
    const answer = await scim.call('POST', '/Groups', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName: 'Engineers',
      externalId: 'g-1',
      members: [{ value: a, display: 'any' }, { value: b }, { value: a }],
    });
    expect(answer.status, answer.text).to.equal(201);
    const group = answer.json<Json>();
    expect(answer.headers.location).to.equal(`${scim.base}/Groups/${group.id}`);
    expect(group).to.include({ displayName: 'Engineers', externalId: 'g-1' });
    expect(group.schemas).to.deep.equal(['urn:ietf:params:scim:schemas:core:2.0:Group']);
    expect(group.members).to.have.length(2);
    expect(group.members[0]).to.deep.equal({
      value: a,
      display: `person${people - 1}@example.org`,
      type: 'User',
      $ref: `${scim.base}/Users/${a}`,
    });
    for (const id of [a, b]) expect(await roles(id)).to.deep.equal({ web: 'EDITOR', data: 'VIEWER' });
    const user = await scim.want(200, 'GET', `/Users/${a}`);
    expect(user.groups).to.deep.equal([
      { value: group.id, display: 'Engineers', type: 'direct', $ref: `${scim.base}/Groups/${group.id}` },
    ]);
    const [entry] = await audited(group.id);
    expect(entry).to.include({ actor_type: 'scim', action: 'scimGroup.created', entity_type: 'ScimGroup' });
    expect(entry.diff.displayName).to.deep.equal([null, 'Engineers']);
    expect(entry.diff.members[1]).to.have.length(2);
    const ofTeam = (await audited(teams.data)).at(-1);
    expect(ofTeam).to.include({ action: 'team.membersSynced', team_id: teams.data, actor_type: 'scim' });
    expect(ofTeam.metadata).to.deep.equal({ name: 'Data', added: 2, changed: 0, removed: 0 });
    expect(ofTeam.diff[`person${people}@example.org`]).to.deep.equal([null, 'VIEWER']);
    await drop(group.id);
  });

  it('gives the highest role of several groups, and takes what no group is left for', async () => {
    const id = await person();
    const readers = await scim.group('Readers', [id]);
    const leads = await scim.group('Leads', [id]);
    const engineers = await scim.group('Engineers', [id]);
    expect(await roles(id)).to.deep.equal({ web: 'ADMIN', data: 'VIEWER' });
    await patched(leads, remove(id));
    expect(await roles(id)).to.deep.equal({ web: 'EDITOR', data: 'VIEWER' });
    await drop(engineers);
    expect(await roles(id)).to.deep.equal({ web: 'VIEWER' });
    await patched(readers, remove(id));
    expect(await roles(id)).to.deep.equal({});
    await drop(readers, leads);
  });

  it('ends the sessions of whoever loses or changes a role, and of nobody else', async () => {
    const [loses, gains] = [await person(), await person()];
    const group = await scim.group('Engineers', [loses]);
    for (const userId of [loses, gains])
      await test.db('sessions').insert({
        ...{ id: `s-${userId}`, user_id: userId, token_hash: Buffer.alloc(32), method: 'oidc' },
        expires_at: new Date(Date.now() + 3_600_000),
      });
    await patched(group, remove(loses), add(gains));
    const left = await test.db('sessions').whereIn('user_id', [loses, gains]).select('user_id');
    expect(left).to.deep.equal([{ user_id: gains }]);
    await drop(group);
  });

  it('never touches a membership that somebody set by hand', async () => {
    const id = await person();
    await test.db('team_members').insert({ team_id: teams.web, user_id: id, role: 'VIEWER' });
    const leads = await scim.group('Leads', [id]);
    const engineers = await scim.group('Engineers', [id]);
    expect(await roles(id)).to.deep.equal({ web: 'VIEWER!', data: 'VIEWER' });
    await drop(leads, engineers);
    expect(await roles(id)).to.deep.equal({ web: 'VIEWER!' });
  });

  it('without a mapping is kept with its members, and gives nothing', async () => {
    const id = await person();
    const group = await scim.group('Chess club', [id]);
    expect(await members(group)).to.deep.equal([id]);
    expect(await roles(id)).to.deep.equal({});
    await drop(group);
  });

  it('gives no default team: that is for whom a sign-in by OIDC was seen', async () => {
    const id = await person();
    await root.mutate('settings.updateOidcTeamMappings', {
      ...{ mappings: [], defaultTeamId: teams.ops, defaultRole: 'EDITOR', groupSyncEnabled: false },
    });
    const group = await scim.group('Chess club', [id]);
    expect(await roles(id)).to.deep.equal({});
    await test.db('user_identities').insert({ issuer: 'https://idp.example', subject: id, user_id: id });
    await scim.want(204, 'DELETE', `/Groups/${group}`);
    expect(await roles(id)).to.deep.equal({ ops: 'EDITOR' });
    await test.db('user_identities').where({ user_id: id }).delete();
    await map([
      ['Engineers', 'web', 'EDITOR'],
      ['Leads', 'web', 'ADMIN'],
      ['Readers', 'web', 'VIEWER'],
      ['Engineers', 'data', 'VIEWER'],
      ['Operators', 'ops', 'EDITOR'],
    ]);
    expect(await roles(id)).to.deep.equal({});
  });

  it('that is renamed gives what its new name is mapped to', async () => {
    const [a, b] = [await person(), await person()];
    const group = await scim.group('Chess club', [a, b]);
    await patched(group, { op: 'replace', path: 'displayName', value: 'Operators' });
    for (const id of [a, b]) expect(await roles(id)).to.deep.equal({ ops: 'EDITOR' });
    await patched(group, { op: 'Replace', value: { id: group, displayName: 'Readers' } });
    for (const id of [a, b]) expect(await roles(id)).to.deep.equal({ web: 'VIEWER' });
    const entries = await audited(group);
    expect(entries.map(({ action }) => action)).to.deep.equal([
      ...['scimGroup.created', 'scimGroup.renamed', 'scimGroup.renamed'],
    ]);
    expect(entries.at(-1).diff).to.deep.equal({ displayName: ['Operators', 'Readers'] });
    await drop(group);
  });

  it('is one of its name, whatever the case: 409; its own it may write otherwise', async () => {
    const group = await scim.group('Unique');
    const other = await scim.group('Other');
    expectError(await scim.call('POST', '/Groups', { displayName: 'UNIQUE' }), 409, 'uniqueness');
    const rename = { op: 'replace', path: 'displayName', value: 'unique' };
    expectError(await scim.patch(`/Groups/${other}`, rename), 409, 'uniqueness');
    expectError(await scim.call('PUT', `/Groups/${other}`, { displayName: 'uniquE' }), 409, 'uniqueness');
    await patched(group, rename);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => scim.call('POST', '/Groups', { displayName: 'Raced' })),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, ...Array(7).fill(409)]);
    await drop(group, other);
  });

  it('has exactly the members that PUT names, and keeps an externalId that PUT leaves out', async () => {
    const [a, b, c] = [await person(), await person(), await person()];
    const group = await scim.group('Operators', [a, b], { externalId: 'kept' });
    const put = await scim.want(200, 'PUT', `/Groups/${group}`, {
      displayName: 'Operators',
      members: [{ value: b }, { value: c }],
    });
    expect(put.externalId).to.equal('kept');
    expect(put.members.map(({ value }: Json) => value).sort()).to.deep.equal([b, c].sort());
    expect(await roles(a)).to.deep.equal({});
    for (const id of [b, c]) expect(await roles(id)).to.deep.equal({ ops: 'EDITOR' });
    const { members: none } = await scim.want(200, 'PUT', `/Groups/${group}`, { displayName: 'Operators' });
    expect(none).to.deep.equal([]);
    for (const id of [b, c]) expect(await roles(id)).to.deep.equal({});
    const other = { displayName: 'Operators', externalId: 'other' };
    expect((await scim.want(200, 'PUT', `/Groups/${group}`, other)).externalId).to.equal('other');
    await drop(group);
  });

  it('takes changes of one request one after the other', async () => {
    const [a, b, c] = [await person(), await person(), await person()];
    const group = await scim.group('Operators', [a]);
    await patched(group, add(b), remove(a), add(a, c), remove(b));
    expect(await members(group)).to.deep.equal([a, c].sort());
    await patched(group, { op: 'replace', path: 'members', value: [{ value: b }] }, add(c), remove(c));
    expect(await members(group)).to.deep.equal([b]);
    await patched(group, { op: 'remove', path: 'members' }, add(a));
    expect(await members(group)).to.deep.equal([a]);
    await drop(group);
  });

  it('is not changed at all where one of its changes is refused', async () => {
    const [a, b] = [await person(), await person()];
    const group = await scim.group('Operators', [a]);
    const rename = { op: 'replace', path: 'displayName', value: 'Elsewhere' };
    const answer = await scim.patch(`/Groups/${group}`, rename, add(b), remove(a), {
      ...{ op: 'remove', path: 'displayName' },
    });
    expect(expectError(answer, 400, 'mutability')).to.include('displayName is required');
    expect(await members(group)).to.deep.equal([a]);
    expect((await scim.want(200, 'GET', `/Groups/${group}`)).displayName).to.equal('Operators');
    expect(await roles(b)).to.deep.equal({});
    await drop(group);
  });

  it('lets nobody leave whom it does not have, and nobody join twice', async () => {
    const a = await person();
    const group = await scim.group('Operators', [a]);
    await patched(group, remove('nobody'), add(a), { op: 'remove', path: 'members', value: [] });
    expect(await members(group)).to.deep.equal([a]);
    await drop(group);
  });

  it('that is deleted is gone: 404, and its name is free', async () => {
    const group = await scim.group('Short-lived');
    await drop(group);
    for (const [method, body] of [['GET'], ['DELETE'], ['PUT', { displayName: 'x' }]] as const)
      expectError(await scim.call(method, `/Groups/${group}`, body), 404);
    expectError(await scim.patch(`/Groups/${group}`, add()), 404);
    expect((await audited(group)).at(-1)).to.include({ action: 'scimGroup.deleted' });
    await drop(await scim.group('short-lived'));
  });

  it('of a claim is none of the business of SCIM', async () => {
    await test.db('directory_groups').insert({ id: 'claimed', source: 'oidc', display_name: 'Claimed' });
    expectError(await scim.call('GET', '/Groups/claimed'), 404);
    expectError(await scim.call('PUT', '/Groups/claimed', { displayName: 'x' }), 404);
    expectError(await scim.patch('/Groups/claimed', add()), 404);
    expectError(await scim.call('DELETE', '/Groups/claimed'), 404);
    expect(JSON.stringify(await scim.want(200, 'GET', '/Groups?count=1000'))).not.to.include('Claimed');
    await drop(await scim.group('Claimed'));
  });

  describe('and others that change at the same moment', () => {
    it('keeps what every one of twenty requests to one group says', async () => {
      const ids = await Promise.all(Array.from({ length: 20 }, person));
      const group = await scim.group('Operators', ids.slice(0, 10));
      const answers = await Promise.all(
        ids.map((id, n) => scim.patch(`/Groups/${group}`, n < 10 ? remove(id) : add(id))),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(20).fill(204));
      expect(await members(group)).to.deep.equal(ids.slice(10).sort());
      for (const [n, id] of ids.entries())
        expect(await roles(id)).to.deep.equal(n < 10 ? {} : { ops: 'EDITOR' });
      await drop(group);
    });

    it('brings one user through changes of several groups to what these say together', async () => {
      const ids = await Promise.all(Array.from({ length: 6 }, person));
      const groups = await Promise.all(['Readers', 'Engineers', 'Leads'].map((name) => scim.group(name)));
      for (let round = 0; round < 4; round += 1) {
        const answers = await Promise.all(
          groups.map((group) =>
            scim.patch(`/Groups/${group}`, round % 2 ? { op: 'remove', path: 'members' } : add(...ids)),
          ),
        );
        expect(answers.map(({ status }) => status)).to.deep.equal([204, 204, 204]);
        for (const id of ids)
          expect(await roles(id), `round ${round}`).to.deep.equal(
            round % 2 ? {} : { web: 'ADMIN', data: 'VIEWER' },
          );
      }
      await drop(...groups);
    });

    it('leaves no member that was deleted', async () => {
      const ids = await Promise.all(Array.from({ length: 8 }, person));
      const group = await scim.group('Operators');
      await Promise.all([
        ...ids.map((id) => scim.want(204, 'DELETE', `/Users/${id}`)),
        ...ids.map((id) => scim.patch(`/Groups/${group}`, add(id))),
      ]);
      expect(await members(group)).to.deep.equal([]);
      for (const id of ids) expect(await roles(id)).to.deep.equal({});
      await drop(group);
    });

    it('follows the mappings that stand in the end', async function () {
      this.timeout(30_000);
      const ids = await Promise.all(Array.from({ length: 8 }, person));
      const group = await scim.group('Raced mapping');
      for (let round = 0; round < 3; round += 1) {
        const role = round % 2 ? 'EDITOR' : 'ADMIN';
        await Promise.all([
          map([['Raced mapping', 'ops', role]]),
          ...ids.map((id) => scim.patch(`/Groups/${group}`, round % 2 ? remove(id) : add(id))),
        ]);
        for (const id of ids)
          expect(await roles(id), `round ${round}`).to.deep.equal(round % 2 ? {} : { ops: role });
      }
      await drop(group);
    });
  });
});
