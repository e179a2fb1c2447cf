/** Groups by their full path, as Keycloak names them. */
import { expect } from 'chai';
import { useSingleSignOn } from '../../support/scenes/single-sign-on.ts';
import { expectRefused } from '../../support/users/person.ts';

describe('groups that are named by their path', () => {
  const scene = useSingleSignOn();
  const teams: Record<string, string> = {};
  before(async () => {
    for (const name of ['Data', 'Web'])
      teams[name] = (await scene.root.mutate<{ id: string }>('team.create', { name })).id;
  });

  const map = (more: object) =>
    scene.root.call<{ warnings: string[] }>('mutation', 'settings.updateOidcTeamMappings', {
      ...{ mappings: [], defaultRole: 'VIEWER', groupSyncEnabled: true, groupsScope: 'groups' },
      ...{ patterns: [], ...more },
    });
  const comes = async (...groups: string[]) => {
    const { user } = await scene.signIn(scene.somebody({ groups }));
    const rows = await scene.db('team_members').where({ user_id: user?.id }).select('team_id', 'role');
    const nameOf = (id: string) => Object.keys(teams).find((name) => teams[name] === id);
    return Object.fromEntries(rows.map(({ team_id, role }) => [nameOf(team_id), role]));
  };

  it('lead to the team of the mapping that has the whole path, and a subgroup of the same name does not', async () => {
    await map({ mappings: [{ group: '/data/editors', teamId: teams.Data, role: 'EDITOR' }] });
    expect(await comes('/data/editors')).to.deep.equal({ Data: 'EDITOR' });
    expect(await comes('/strangers/data/editors', '/x/editors', 'editors')).to.deep.equal({});
  });

  it('refuse a mapping by a name that may be several of them, and warn where it may be one', async () => {
    await comes('/data/leads', '/x/leads', '/y/guests');
    const several = await map({ mappings: [{ group: 'leads', teamId: teams.Data, role: 'ADMIN' }] });
    expect([several.status, several.fault?.message]).to.deep.equal([
      400,
      'mappings.0.group: "leads" may be /data/leads and /x/leads; write the whole path of the intended group',
    ]);
    const one = await map({ mappings: [{ group: 'guests', teamId: teams.Data, role: 'VIEWER' }] });
    expect(one.output?.warnings).to.deep.equal([
      'No group is called "guests", but /y/guests exists. Did you mean that one?',
    ]);
  });

  it('name the team by a pattern, in whatever case; of several patterns the highest role counts', async () => {
    const { status } = await map({
      patterns: [
        { pattern: '/(?<team>.+)/editors', role: 'EDITOR' },
        { pattern: '/(?<team>.+)/admins', role: 'ADMIN' },
      ],
    });
    expect(status).to.equal(200);
    expect(await comes('/data/editors', '/web/editors', '/web/admins', '/nobody/editors')).to.deep.equal({
      ...{ Data: 'EDITOR', Web: 'ADMIN' },
    });
  });

  it('lead nobody where a pattern fits several of them: refused when it is saved, told when they come later', async () => {
    const patterns = [{ pattern: '/.+/(?<team>[^/]+)/editors', role: 'EDITOR' }];
    expect((await map({ patterns })).status).to.equal(200);
    expect(await comes('/eu/web/editors')).to.deep.equal({ Web: 'EDITOR' });
    expect(await comes('/us/web/editors'), 'a second one of this name').to.deep.equal({});
    const { groups } = await scene.root.query<{ groups: { ambiguities: string[] } }>('settings.get');
    expect(groups.ambiguities.join()).to.match(
      /leads \/eu\/web\/editors and \/us\/web\/editors to the team "web"/,
    );
    expectRefused(await map({ patterns }), 400, /write a pattern that matches only one of them$/);
  });
});
