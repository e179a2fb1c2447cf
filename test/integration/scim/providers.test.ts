/** Whole syncs, as identity providers send them. */
import { expect } from 'chai';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { type ScimClient, scimOf } from '../../support/scenes/scim/client.ts';
import { PROVIDERS } from '../../support/scenes/scim/providers/index.ts';
import { play } from '../../support/scenes/scim/providers/run.ts';

describe('a sync by', () => {
  const test = useController();
  const root = useRoot(test);
  let scim: ScimClient;
  let teamId: string;

  before(async () => {
    ({ id: teamId } = await root.mutate<{ id: string }>('team.create', { name: 'Web' }));
    scim = await scimOf(root);
    await root.mutate('settings.updateOidcTeamMappings', {
      mappings: [
        { group: 'Engineers', teamId, role: 'EDITOR' },
        { group: 'Readers', teamId, role: 'VIEWER' },
        { group: 'Leads', teamId, role: 'ADMIN' },
      ],
      ...{ defaultRole: 'VIEWER', groupSyncEnabled: false },
    });
  });

  for (const run of PROVIDERS) it(run.provider, () => play(scim, run).then(() => undefined));

  const roleOf = async (email: string) =>
    (
      await test
        .db('team_members as m')
        .join('users as u', 'u.id', 'm.user_id')
        .where({ 'u.email': email, 'm.team_id': teamId })
        .first('m.role')
    )?.role ?? null;
  const lockOf = async (email: string) => (await test.db('users').where({ email }).first()).locked_by;

  it('leaves people in the teams, and locked, as the providers have said in the end', async () => {
    expect(await roleOf('Grace.Hopper@contoso.example')).to.equal('VIEWER');
    expect(await lockOf('Grace.Hopper@contoso.example')).to.equal(null);
    expect(await lockOf('5b50642d-79fc-4410-9e90@contoso.example')).to.equal('scim');
    expect(await lockOf('mary@contoso.example')).to.equal('scim');
    expect(await roleOf('ken@okta.example')).to.equal(null);
    expect(await lockOf('ken@okta.example')).to.equal('scim');
    expect(await roleOf('dennis@okta.example')).to.equal('ADMIN');
    expect(await lockOf('barbara@onelogin.example')).to.equal('scim');
    expect(await lockOf('test-user@jumpcloud.example')).to.equal(null);
    expect(await lockOf('aug@authentik.example')).to.equal('scim');
  });

  it('of everything a second time changes no account', async () => {
    const read = () =>
      test.db('users').orderBy('id').select('id', 'email', 'name', 'auth_method', 'is_super_admin');
    const before = await read();
    const page = await scim.want(200, 'GET', '/Users?count=1000');
    for (const { id, meta: _, ...user } of page.Resources) await scim.want(200, 'PUT', `/Users/${id}`, user);
    expect(await read()).to.deep.equal(before);
    const again = await scim.want(200, 'GET', '/Users?count=1000');
    const plain = (body: typeof page) =>
      body.Resources.map(({ meta: _, ...user }: object & { meta: object }) => user);
    expect(plain(again)).to.deep.equal(plain(page));
  });
});
