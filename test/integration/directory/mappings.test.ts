/** What groups mean for teams: said by a super admin, checked, and followed by everybody in the same moment. */
import { expect } from 'chai';
import type { Role } from '../../../schemas/api/common.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { makeUser } from '../../support/users/person.ts';

interface Followed {
  added: number;
  changed: number;
  removed: number;
}
const UNKNOWN = '01arz3ndektsv4rrffq69g5fav';

describe('mappings of groups', () => {
  const test = useController();
  const root = useRoot(test);
  let web: string;
  let data: string;
  let people = 0;

  before(async () => {
    const make = async (name: string) => (await root.mutate<{ id: string }>('team.create', { name })).id;
    [web, data] = [await make('Web'), await make('Data')];
  });
  beforeEach(async () => {
    await test.db('directory_groups').delete();
    await test.db('user_identities').delete();
    await test.db('group_settings').delete();
    await test.db('team_mappings').delete();
    await test.db('team_members').where({ source: 'group' }).delete();
  });

  type Mapping = readonly [group: string, teamId: string, role: Role];
  const input = (mappings: readonly Mapping[], more: object = {}) => ({
    mappings: mappings.map(([group, teamId, role]) => ({ group, teamId, role })),
    ...{ defaultRole: 'VIEWER', groupSyncEnabled: true, ...more },
  });
  const map = (...given: Parameters<typeof input>) =>
    root.mutate<Followed>('settings.updateOidcTeamMappings', input(...given));
  const refused = async (...given: Parameters<typeof input>) => {
    const { status, fault } = await root.call('mutation', 'settings.updateOidcTeamMappings', input(...given));
    return `${status} ${fault?.message}`;
  };
  const roles = (more: object) =>
    root.mutate<Followed>('settings.updateOidcRoleMapping', { defaultRole: 'VIEWER', ...more });
  const settings = () => test.db('group_settings').first();

  /** Somebody in these groups; of OIDC where an identity is asked for. */
  async function person(
    groups: readonly string[],
    options: { source?: 'oidc' | 'scim'; identity?: boolean } = {},
  ) {
    const id = await makeUser(test.db, { email: `person${++people}@example.org` });
    for (const name of groups) {
      const group = {
        id: `${options.source ?? 'oidc'}-${name}`,
        source: options.source ?? 'oidc',
        display_name: name,
      };
      await test.db('directory_groups').insert(group).onConflict('id').ignore();
      await test.db('directory_group_members').insert({ group_id: group.id, user_id: id });
    }
    if (options.identity)
      await test.db('user_identities').insert({ issuer: 'https://i', subject: id, user_id: id });
    return id;
  }
  const roleIn = async (teamId: string, userId: string): Promise<string | null> =>
    (await test.db('team_members').where({ team_id: teamId, user_id: userId }).first())?.role ?? null;

  it('are followed by all whom groups name, and told in numbers', async () => {
    const [a, b, c] = [await person(['dev']), await person(['dev', 'lead']), await person([])];
    expect(
      await map([
        ['dev', web, 'EDITOR'],
        ['lead', web, 'ADMIN'],
        ['lead', data, 'VIEWER'],
      ]),
    ).to.deep.equal({ added: 3, changed: 0, removed: 0, warnings: [] });
    expect([
      await roleIn(web, a),
      await roleIn(web, b),
      await roleIn(data, b),
      await roleIn(web, c),
    ]).to.deep.equal(['EDITOR', 'ADMIN', 'VIEWER', null]);
    expect(
      await map([
        ['dev', web, 'VIEWER'],
        ['lead', data, 'VIEWER'],
      ]),
    ).to.deep.equal({ added: 0, changed: 2, removed: 0, warnings: [] });
    expect(await map([])).to.deep.equal({ added: 0, changed: 0, removed: 3, warnings: [] });
    expect(await map([])).to.deep.equal({ added: 0, changed: 0, removed: 0, warnings: [] });
  });

  it('leave what somebody set by hand, and end the sessions of those whose role changes', async () => {
    const [manual, synced] = [await person(['dev']), await person(['dev'])];
    await test.db('team_members').insert({ team_id: web, user_id: manual, role: 'ADMIN' });
    await map([['dev', web, 'EDITOR']]);
    for (const id of [manual, synced])
      await test.db('sessions').insert({
        id: `s-${id}`,
        user_id: id,
        token_hash: Buffer.alloc(32),
        expires_at: new Date(Date.now() + 3_600_000),
      });
    await map([['dev', web, 'VIEWER']]);
    expect(await roleIn(web, manual)).to.equal('ADMIN');
    const left = await test.db('sessions').whereIn('user_id', [manual, synced]).select('user_id');
    expect(left).to.deep.equal([{ user_id: manual }]);
  });

  it('count groups of the claim only while group sync is on; those of SCIM always', async () => {
    const [oidc, scim] = [await person(['dev']), await person(['dev'], { source: 'scim' })];
    await map([['dev', web, 'EDITOR']], { groupSyncEnabled: false });
    expect([await roleIn(web, oidc), await roleIn(web, scim)]).to.deep.equal([null, 'EDITOR']);
    await map([['dev', web, 'EDITOR']], { groupSyncEnabled: true });
    expect([await roleIn(web, oidc), await roleIn(web, scim)]).to.deep.equal(['EDITOR', 'EDITOR']);
  });

  it('compare names exactly, without white space at the ends of what was entered', async () => {
    const [a, b] = [await person(['dev']), await person(['Dev'])];
    await map([['  dev ', web, 'EDITOR']]);
    expect([await roleIn(web, a), await roleIn(web, b)]).to.deep.equal(['EDITOR', null]);
  });

  it('give the default team to people of OIDC whom none matches, with the role that their groups say', async () => {
    const [plain, editor, admin] = [
      await person(['x'], { identity: true }),
      await person(['writers'], { identity: true }),
      await person(['writers', 'chiefs'], { identity: true }),
    ];
    const [matched, local] = [await person(['dev'], { identity: true }), await person(['x'])];
    await map([['dev', web, 'EDITOR']], { defaultTeamId: data });
    expect(
      await roles({ defaultRole: 'VIEWER', adminGroups: 'chiefs, other', editorGroups: ' writers ,x y' }),
    ).to.deep.equal({ added: 0, changed: 2, removed: 0, warnings: [] });
    expect(
      await Promise.all([plain, editor, admin, matched, local].map((id) => roleIn(data, id))),
    ).to.deep.equal(['VIEWER', 'EDITOR', 'ADMIN', null, null]);
    await roles({ defaultRole: 'EDITOR', adminGroups: '', editorGroups: '' });
    expect(await Promise.all([plain, admin].map((id) => roleIn(data, id)))).to.deep.equal([
      'EDITOR',
      'EDITOR',
    ]);
    expect((await map([['dev', web, 'EDITOR']])).removed, 'without a default team').to.equal(3);
  });

  it('keep texts that are left out, and clear those that are empty', async () => {
    await map([], { groupsScope: ' groups ', groupsClaim: 'realm_access.roles' });
    await roles({ adminGroups: 'chiefs', editorGroups: 'writers' });
    expect(await settings()).to.include({
      groups_scope: 'groups',
      groups_claim: 'realm_access.roles',
      admin_groups: 'chiefs',
      editor_groups: 'writers',
    });
    await map([]);
    await roles({ adminGroups: '' });
    expect(await settings()).to.include({
      groups_scope: 'groups',
      groups_claim: 'realm_access.roles',
      admin_groups: null,
      editor_groups: 'writers',
    });
    await roles({ groupsClaim: '' });
    await map([], { groupsScope: '' });
    expect(await settings()).to.include({ groups_scope: null, groups_claim: null });
  });

  it('refuse a team that does not exist, a pair that is there twice, and a blank name', async () => {
    expect(await refused([['dev', UNKNOWN, 'EDITOR']])).to.equal(`404 The team ${UNKNOWN} not found`);
    expect(await refused([], { defaultTeamId: UNKNOWN })).to.match(/^404 /);
    expect(
      await refused([
        ['dev', web, 'EDITOR'],
        ['dev ', web, 'VIEWER'],
      ]),
    ).to.match(/^400 mappings\.1: the group "dev" leads to this team already/);
    expect(await refused([['  ', web, 'EDITOR']])).to.match(/^400 mappings\.0\.group is blank/);
    expect(await refused(Array.from({ length: 1_001 }, (_, n) => [`g${n}`, web, 'VIEWER']))).to.match(
      /^400 /,
    );
    expect(await test.db('team_mappings')).to.have.length(0);
    const { length } = await test
      .db('audit_log')
      .where({ action: 'settings.teamMappingsUpdated', entity_id: null });
    expect(length).to.equal(0);
  });

  it('keep their order', async () => {
    await map([
      ['z', web, 'EDITOR'],
      ['a', data, 'VIEWER'],
      ['m', web, 'ADMIN'],
    ]);
    const rows = await test.db('team_mappings').orderBy('position').select('group_name');
    expect(rows.map(({ group_name }) => group_name)).to.deep.equal(['z', 'a', 'm']);
  });

  it('leave rows in the audit log: one of what was said, one of each team', async () => {
    const a = await person(['dev']);
    await map([['dev', web, 'EDITOR']], { defaultTeamId: data });
    await map(
      [
        ['dev', web, 'ADMIN'],
        ['lead', data, 'VIEWER'],
      ],
      { defaultTeamId: data, groupSyncEnabled: false },
    );
    const rows = await test
      .db('audit_log')
      .where({ action: 'settings.teamMappingsUpdated' })
      .orderBy('created_at', 'desc');
    expect(rows[0].diff).to.deep.equal({
      groupSyncEnabled: [true, false],
      mappings: [['dev → Web (EDITOR)'], ['dev → Web (ADMIN)', 'lead → Data (VIEWER)']],
    });
    expect(rows[0].metadata.memberships).to.deep.equal({ added: 0, changed: 0, removed: 1 });
    expect(rows[0].entity_type).to.equal('Settings');
    const [ofTeam] = await test
      .db('audit_log')
      .where({ action: 'team.membersSynced', team_id: web })
      .orderBy('created_at', 'desc');
    const { email } = await test.db('users').where({ id: a }).first();
    expect(ofTeam.diff).to.deep.equal({ [email]: ['EDITOR', null] });
    expect(ofTeam).to.include({ actor_type: 'user', user_email: root.email });
  });

  it('of two that are said at the same moment are one or the other, and followed', async function () {
    this.timeout(20_000);
    const ids = [];
    for (let n = 0; n < 20; n += 1) ids.push(await person(['dev']));
    for (let round = 0; round < 4; round += 1) {
      await Promise.all([
        map([['dev', web, 'EDITOR']]),
        map([['dev', data, 'ADMIN']]),
        roles({}),
        map([['dev', web, 'VIEWER']]),
      ]);
      const [mapping, ...more] = await test.db('team_mappings');
      expect(more).to.deep.equal([]);
      const members = await test.db('team_members').whereIn('user_id', ids);
      expect(members).to.have.length(20);
      for (const { team_id, role } of members)
        expect({ team_id, role }).to.deep.equal({ team_id: mapping.team_id, role: mapping.role });
    }
  });

  it('go with the team that they lead to', async () => {
    const team = (await root.mutate<{ id: string }>('team.create', { name: 'Short-lived' })).id;
    await person(['dev']);
    await map([['dev', team, 'EDITOR']], { defaultTeamId: team });
    await test.db('teams').where({ id: team }).delete();
    expect(await test.db('team_mappings')).to.have.length(0);
    expect((await settings()).default_team_id).to.equal(null);
    expect(await map([])).to.deep.equal({ added: 0, changed: 0, removed: 0, warnings: [] });
  });
});
