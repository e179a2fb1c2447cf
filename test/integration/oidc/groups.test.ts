/** What groups a provider names, and what follows for teams. */
import { expect } from 'chai';
import { useSingleSignOn } from '../../support/scenes/single-sign-on.ts';

describe('groups of the identity provider at sign-in', () => {
  for (const userinfoOnly of [false, true])
    describe(userinfoOnly ? 'told by userinfo' : 'told in the ID token', () => {
      const scene = useSingleSignOn({ userinfoOnly });
      const teams: Record<string, string> = {};
      before(async () => {
        for (const name of ['alpha', 'beta', 'everybody'])
          teams[name] = (await scene.root.mutate<{ id: string }>('team.create', { name })).id;
      });
      beforeEach(() => sync());

      const sync = (more: object = {}) =>
        scene.root.mutate('settings.updateOidcTeamMappings', {
          mappings: [
            { group: 'engineers', teamId: teams.alpha, role: 'EDITOR' },
            { group: 'leads', teamId: teams.alpha, role: 'ADMIN' },
            { group: 'engineers', teamId: teams.beta, role: 'VIEWER' },
          ],
          ...{
            defaultRole: 'VIEWER',
            groupSyncEnabled: true,
            groupsScope: 'groups',
            groupsClaim: 'groups',
            ...more,
          },
        });
      const rolesOf = async (userId: string | undefined): Promise<Record<string, string>> => {
        const rows = await scene.db('team_members').where({ user_id: userId }).select('team_id', 'role');
        const names = Object.entries(teams);
        return Object.fromEntries(
          rows.map(({ team_id, role }) => [names.find(([, id]) => id === team_id)?.[0] ?? team_id, role]),
        );
      };
      const BOTH = { alpha: 'EDITOR', beta: 'VIEWER' };
      const lastSignIn = async (userId: string | undefined) =>
        (
          await scene
            .db('audit_log')
            .where({ entity_id: userId, action: 'user.signedIn' })
            .orderBy('id', 'desc')
            .first()
        ).metadata;

      it('gives the mapped roles, and takes them with the groups', async () => {
        const subject = scene.somebody({ groups: ['engineers', 'strangers'] });
        const person = scene.provider.people.get(subject) ?? {};
        const { user } = await scene.signIn(subject);
        expect(await rolesOf(user?.id)).to.deep.equal(BOTH);
        expect((await lastSignIn(user?.id)).memberships).to.include({ added: 2, changed: 0, removed: 0 });
        scene.provider.people.set(subject, { ...person, groups: ['leads', 'engineers'] });
        await scene.signIn(subject);
        expect(await rolesOf(user?.id)).to.deep.equal({ ...BOTH, alpha: 'ADMIN' });
        scene.provider.people.set(subject, { ...person, groups: [] });
        await scene.signIn(subject);
        expect(await rolesOf(user?.id)).to.deep.equal({});
      });

      it('takes them too where the claim is left out, as many do for nobody’s groups', async () => {
        const subject = scene.somebody({ groups: 'engineers' });
        const { user } = await scene.signIn(subject);
        expect(await rolesOf(user?.id), 'a single text').to.deep.equal(BOTH);
        scene.provider.people.set(subject, { ...scene.provider.people.get(subject), groups: undefined });
        await scene.signIn(subject);
        expect(await rolesOf(user?.id)).to.deep.equal({});
      });

      const UNKNOWN = [
        ['left out for being too many (Entra ID)', { groups: undefined, _claim_names: { groups: 'src1' } }],
        ['no list', { groups: { engineers: true } }],
        ['a list of other things', { groups: ['engineers', 7] }],
        ['a number', { groups: 7 }],
        ['1,001 names', { groups: Array.from({ length: 1_001 }, (_, n) => `group ${n}`) }],
        ['a name of 257 letters', { groups: ['x'.repeat(257)] }],
        ['a name with a NUL', { groups: ['a\0b'] }],
      ] as const;
      // What is read is read by the same rules, wherever it was told.
      for (const [reason, claims] of userinfoOnly ? UNKNOWN.slice(0, 1) : UNKNOWN)
        it(`keeps those of before where they are ${reason}`, async () => {
          const subject = scene.somebody({ groups: ['engineers'] });
          const person = scene.provider.people.get(subject);
          const { user } = await scene.signIn(subject);
          scene.provider.people.set(subject, { ...person, ...claims });
          expect((await scene.signIn(subject)).user?.id).to.equal(user?.id);
          expect(await rolesOf(user?.id)).to.deep.equal(BOTH);
          expect((await lastSignIn(user?.id)).groupsKept).to.be.a('string');
          expect(scene.test.log()).to.include('the groups of a sign-in are unknown');
        });

      if (!userinfoOnly) {
        it('finds them where the provider keeps them', async () => {
          await sync({ groupsClaim: 'realm_access.roles' });
          const { user } = await scene.signIn(scene.somebody({ realm_access: { roles: ['engineers'] } }));
          expect(await rolesOf(user?.id)).to.deep.equal(BOTH);
        });

        it('leaves them alone, and asks for no scope, while group sync is off', async () => {
          const subject = scene.somebody({ groups: ['engineers'] });
          await sync({ groupSyncEnabled: false });
          const { user } = await scene.signIn(subject);
          expect(await rolesOf(user?.id)).to.deep.equal({});
          expect(await scene.db('directory_group_members').where({ user_id: user?.id })).to.deep.equal([]);
        });

        it('puts whoever matches nothing into the default team', async () => {
          await sync({ defaultTeamId: teams.everybody });
          const { user } = await scene.signIn(scene.somebody({ groups: ['strangers'] }));
          expect(await rolesOf(user?.id)).to.deep.equal({ everybody: 'VIEWER' });
        });

        it('leaves what somebody set by hand', async () => {
          const subject = scene.somebody({ groups: ['engineers'] });
          const { user } = await scene.signIn(subject);
          await scene.root.mutate('team.updateMemberRole', {
            teamId: teams.alpha,
            userId: user?.id,
            role: 'ADMIN',
          });
          scene.provider.people.set(subject, { ...scene.provider.people.get(subject), groups: [] });
          await scene.signIn(subject);
          expect(await rolesOf(user?.id)).to.deep.equal({ alpha: 'ADMIN' });
        });
        return;
      }

      it('lets nobody in whom userinfo takes for somebody else', async () => {
        scene.provider.changes = { userinfo: (claims) => ({ ...claims, sub: 'another' }) };
        expect((await scene.signIn(scene.somebody())).page).to.equal('/sign-in?problem=oidc_refused');
        scene.provider.changes = { userinfo: ({ sub: _, ...claims }) => claims };
        expect((await scene.signIn(scene.somebody())).page).to.equal('/sign-in?problem=oidc_refused');
      });

      it('keeps groups, and makes no account, while userinfo cannot be asked', async () => {
        const subject = scene.somebody({ groups: ['engineers'] });
        const { user } = await scene.signIn(subject);
        scene.provider.changes = {
          before(request, response) {
            if (!request.url?.startsWith('/me')) return false;
            response.writeHead(500).end();
            return true;
          },
        };
        expect((await scene.signIn(subject)).user).to.include({ id: user?.id, email: user?.email });
        expect(await rolesOf(user?.id)).to.deep.equal(BOTH);
        expect((await scene.signIn(scene.somebody())).page).to.equal('/sign-in?problem=oidc_unavailable');
      });
    });
});
