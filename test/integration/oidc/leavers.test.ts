/** Somebody who is gone at the provider: what of theirs rests here, when, and what wakes it. */
import { expect } from 'chai';
import { refreshUsers } from '../../../controller/identity/oidc/index.ts';
import type { UserSummary } from '../../../schemas/api/identity/people.ts';
import { send } from '../../support/clients/http.ts';
import { SESSION, useSingleSignOn } from '../../support/scenes/single-sign-on.ts';
import { makeUser, PASSWORD, signIn, type TestUser } from '../../support/users/person.ts';
import { Walker } from '../../support/users/walk.ts';

const DAY_MS = 86_400_000;

describe('somebody whom the provider confirms no more', () => {
  const scene = useSingleSignOn();
  let teamId: string;
  before(async () => {
    ({ id: teamId } = await scene.root.mutate<{ id: string }>('team.create', { name: 'By claim' }));
    await scene.root.mutate('settings.updateOidcTeamMappings', {
      ...{ mappings: [{ group: 'editors', teamId, role: 'EDITOR' }], defaultRole: 'VIEWER' },
      ...{ groupSyncEnabled: true, groupsScope: 'groups' },
    });
  });
  afterEach(async () => {
    scene.provider.changes = {};
    scene.provider.givesRefreshTokens = false;
    await scene.root.mutate('settings.updateAccess', { confirmationDays: 30, requestOfflineAccess: false });
  });

  const confirmedDaysAgo = (userId: string, days: number) =>
    scene
      .db('user_identities')
      .where({ user_id: userId })
      .update({ confirmed_at: new Date(Date.now() - days * DAY_MS) });
  /** What git prints of the answer to a personal token. */
  async function gitSays(token: string): Promise<string> {
    const authorization = `Basic ${Buffer.from(`x:${token}`).toString('base64')}`;
    const path = new URL(scene.test.controller.cloneUrl).pathname;
    const answer = await send(`${scene.test.url}${path}/info/refs?service=git-upload-pack`, {
      headers: { authorization },
    });
    return `${answer.status} ${answer.text}`;
  }
  /** Somebody who is known, in no team of the repository. */
  const KNOWN = /^403 You are in no team/;
  const RESTS = /^403 Your account rests: .* Sign in at http/;
  const tokenOf = async (walker: Walker): Promise<string> => {
    const answer = await send(`${scene.test.url}/api/trpc/user.createToken`, {
      headers: { cookie: walker.cookies },
      body: { json: { name: 'laptop' } },
    });
    return answer.json<{ result: { data: { json: { token: string } } } }>().result.data.json.token;
  };
  const roleOf = async (walker: Walker): Promise<string | null> => {
    const input = encodeURIComponent(JSON.stringify({ json: { teamId } }));
    const answer = await walker.get(`${scene.test.url}/api/trpc/team.teamRole?input=${input}`);
    return answer.status === 200
      ? answer.json<{ result: { data: { json: { role: string | null } } } }>().result.data.json.role
      : null;
  };
  const summaryOf = async (userId: string): Promise<UserSummary | undefined> =>
    (await scene.root.query<UserSummary[]>('admin.listUsers')).find(({ id }) => id === userId);
  const claims = { groups: ['editors'] };
  const refresh = async () => {
    await scene
      .db('user_identities')
      .whereNotNull('refresh_due_at')
      .update({ refresh_due_at: new Date(0) });
    await refreshUsers(scene.test.controller.systemContext('test'));
  };
  const identityOf = (userId: string) => scene.db('user_identities').where({ user_id: userId }).first();

  it('comes in by no token and no session after thirty days, and the next sign-in wakes both', async () => {
    const subject = scene.somebody(claims);
    const { user, walker } = await scene.signIn(subject);
    const id = user?.id ?? '';
    const token = await tokenOf(walker);
    expect(await gitSays(token)).to.match(KNOWN);
    await confirmedDaysAgo(id, 29.9);
    expect(await gitSays(token), 'a day before').to.match(KNOWN);
    await confirmedDaysAgo(id, 30.1);
    expect(await gitSays(token)).to.match(RESTS);
    expect(await gitSays(`${token}x`), 'of nobody').to.match(/^401 /);
    expect((await walker.get(`${scene.test.url}/api/auth/session`)).status).to.equal(401);
    await scene.signIn(subject);
    expect(await gitSays(token), 'awake').to.match(KNOWN);
  });

  it('has no role of a group any more, where a password lets them in; what was set by hand stays', async () => {
    const email = 'both@example.org';
    const id = await makeUser(scene.db, { email });
    const person: TestUser = await signIn(scene.test.url, email, PASSWORD);
    const walker = new Walker();
    walker.setCookie(SESSION, person.cookie.split(/[=;]/)[1] ?? '');
    const subject = scene.somebody(claims);
    await scene.signIn(subject, { walker, path: '/api/auth/oidc/login?link=1&next=%2Fprofile' });
    const again = new Walker();
    again.setCookie(SESSION, (await signIn(scene.test.url, email, PASSWORD)).cookie.split(/[=;]/)[1] ?? '');
    expect(await roleOf(again)).to.equal('EDITOR');
    await confirmedDaysAgo(id, 31);
    expect(await roleOf(again)).to.equal(null);
    expect((await again.get(`${scene.test.url}/api/auth/session`)).status, 'still in').to.equal(200);
    expect(await summaryOf(id)).to.include({ rests: 'roles' });
    await scene.db('team_members').where({ team_id: teamId, user_id: id }).update({ source: 'manual' });
    expect(await roleOf(again)).to.equal('EDITOR');
  });

  it('does not rest while SCIM keeps the account as active, nor where nothing was ever linked', async () => {
    const { user, walker } = await scene.signIn(scene.somebody());
    const id = user?.id ?? '';
    await scene.db('scim_users').insert({ user_id: id, user_name: user?.email });
    await confirmedDaysAgo(id, 400);
    expect((await walker.get(`${scene.test.url}/api/auth/session`)).status).to.equal(200);
    expect(await summaryOf(id)).to.include({ restsAt: null, rests: null });
    const own = (await scene.root.query<UserSummary[]>('admin.listUsers')).find(
      ({ email }) => email === scene.root.email,
    );
    expect(own).to.include({ restsAt: null, confirmedAt: null });
  });

  it('rests after as many days as are set, which Settings → Users shows with the date', async () => {
    const { user, walker } = await scene.signIn(scene.somebody());
    const id = user?.id ?? '';
    await confirmedDaysAgo(id, 8);
    const at = (await summaryOf(id))?.restsAt ?? '';
    expect(new Date(at).getTime() - Date.now()).to.be.within(21.9 * DAY_MS, 22 * DAY_MS);
    await scene.root.mutate('settings.updateAccess', { confirmationDays: 7 });
    expect((await walker.get(`${scene.test.url}/api/auth/session`)).status).to.equal(401);
    const row = await scene
      .db('audit_log')
      .where({ action: 'settings.accessUpdated' })
      .orderBy('created_at', 'desc')
      .first();
    expect(row.diff).to.deep.equal({ confirmationDays: [30, 7] });
    for (const confirmationDays of [0, 366, 1.5])
      expect(
        (await scene.root.call('mutation', 'settings.updateAccess', { confirmationDays })).status,
        String(confirmationDays),
      ).to.equal(400);
  });

  describe('with a refresh token', () => {
    const offline = () => scene.root.mutate('settings.updateAccess', { requestOfflineAccess: true });

    it('is asked for where super admins want it, sealed, and used within the hour', async () => {
      const { user: before } = await scene.signIn(scene.somebody());
      expect(await identityOf(before?.id ?? '')).to.include({
        sealed_refresh_token: null,
        refresh_due_at: null,
      });
      await offline();
      const { user } = await scene.signIn(scene.somebody());
      const row = await identityOf(user?.id ?? '');
      expect(row.sealed_refresh_token).to.match(/^v1\./);
      expect(row.refresh_is_offline).to.equal(true);
      expect(row.refresh_due_at - Date.now()).to.be.within(29 * 60_000, 60 * 60_000);
      await confirmedDaysAgo(user?.id ?? '', 20);
      await refresh();
      const after = await identityOf(user?.id ?? '');
      expect(Date.now() - after.confirmed_at).to.be.below(60_000);
      expect(after.sealed_refresh_token, 'rotated').not.to.equal(row.sealed_refresh_token);
      await refresh();
      expect((await identityOf(user?.id ?? '')).withdrawn_at, 'the next one is taken too').to.equal(null);
    });

    it('rests at once when the provider refuses it, with an audit row; the next sign-in wakes everything', async () => {
      await offline();
      const subject = scene.somebody(claims);
      const { user, walker } = await scene.signIn(subject);
      const id = user?.id ?? '';
      const token = await tokenOf(walker);
      const person = scene.provider.people.get(subject) ?? {};
      scene.provider.people.delete(subject);
      await refresh();
      expect(await gitSays(token)).to.match(RESTS);
      expect((await walker.get(`${scene.test.url}/api/auth/session`)).status).to.equal(401);
      const row = await scene
        .db('audit_log')
        .where({ entity_id: id, action: 'user.confirmationWithdrawn' })
        .first();
      expect(row.metadata).to.deep.equal({ issuer: scene.provider.issuer });
      expect((await summaryOf(id))?.rests).to.equal('account');
      scene.provider.people.set(subject, person);
      await scene.signIn(subject);
      expect(await gitSays(token)).to.match(KNOWN);
    });

    it('keeps everything while the provider does not answer, or answers 500', async () => {
      await offline();
      const { user, walker } = await scene.signIn(scene.somebody());
      const before = await identityOf(user?.id ?? '');
      scene.provider.changes.before = ({ url }, response) => {
        if (url !== '/token') return false;
        response.writeHead(500).end('{"error":"server_error"}');
        return true;
      };
      await refresh();
      await scene.provider.down();
      await refresh();
      await scene.provider.up();
      const after = await identityOf(user?.id ?? '');
      expect([after.confirmed_at, after.withdrawn_at, after.sealed_refresh_token]).to.deep.equal([
        ...[before.confirmed_at, null, before.sealed_refresh_token],
      ]);
      expect((await walker.get(`${scene.test.url}/api/auth/session`)).status).to.equal(200);
    });

    it('does not rest by a refusal after a refresh whose answer was lost: the token may have been replaced', async () => {
      await offline();
      const subject = scene.somebody();
      const { user } = await scene.signIn(subject);
      await scene.db('user_identities').where({ user_id: user?.id }).update({ refresh_began_at: new Date() });
      scene.provider.people.delete(subject);
      await refresh();
      expect(await identityOf(user?.id ?? '')).to.include({ withdrawn_at: null, sealed_refresh_token: null });
    });

    it('does not rest where a token of the session there ends with that session', async () => {
      scene.provider.givesRefreshTokens = true;
      const subject = scene.somebody();
      const { user, walker } = await scene.signIn(subject);
      expect((await identityOf(user?.id ?? '')).refresh_is_offline).to.equal(false);
      scene.provider.people.delete(subject);
      await refresh();
      expect(await identityOf(user?.id ?? '')).to.include({ withdrawn_at: null, sealed_refresh_token: null });
      expect((await walker.get(`${scene.test.url}/api/auth/session`)).status).to.equal(200);
    });

    describe('goes by the settings at the time of the answer:', () => {
      const options = (changes: object) =>
        scene.root.mutate('settings.updateOidc', { ...scene.client, options: changes });
      beforeEach(offline);
      afterEach(() => options({ superAdminGroups: [], allowedGroups: [] }));

      /** A refresh with something that happens before the provider answers. */
      const refreshDuring = async (happen: () => Promise<unknown>) => {
        const asked = Promise.withResolvers<void>();
        const answer = Promise.withResolvers<void>();
        scene.provider.changes.hold = ({ url }) => {
          if (url !== '/token') return null;
          asked.resolve();
          return answer.promise;
        };
        const refreshed = refresh();
        try {
          await asked.promise;
          await happen();
        } finally {
          answer.resolve();
          await refreshed;
        }
      };

      it('a group that makes super admins no more makes none', async () => {
        await options({ superAdminGroups: ['ops'] });
        const { user } = await scene.signIn(scene.somebody({ groups: ['ops'] }));
        const isSuperAdmin = async () =>
          (await scene.db('users').where({ id: user?.id }).first('is_super_admin')).is_super_admin;
        expect(await isSuperAdmin()).to.equal(true);
        await refreshDuring(() => options({ superAdminGroups: [] }));
        expect(await isSuperAdmin()).to.equal(false);
      });

      it('a group that is allowed by then excludes nobody', async () => {
        await options({ allowedGroups: ['editors'] });
        const subject = scene.somebody(claims);
        const { user } = await scene.signIn(subject);
        scene.provider.people.set(subject, { ...scene.provider.people.get(subject), groups: ['writers'] });
        await refreshDuring(() => options({ allowedGroups: ['editors', 'writers'] }));
        expect((await identityOf(user?.id ?? '')).withdrawn_at).to.equal(null);
        await options({ allowedGroups: ['editors'] });
        await refresh();
        expect((await identityOf(user?.id ?? '')).withdrawn_at).not.to.equal(null);
      });

      it('an answer to another client changes nothing', async () => {
        const subject = scene.somebody(claims);
        const { user } = await scene.signIn(subject);
        const id = user?.id ?? '';
        scene.provider.people.delete(subject);
        await refreshDuring(() => scene.db('oidc_settings').update({ client_id: 'another' }));
        await scene.db('oidc_settings').update({ client_id: scene.client.clientId });
        expect(await identityOf(id)).to.include({ withdrawn_at: null });
        expect((await identityOf(id)).sealed_refresh_token).not.to.equal(null);
      });
    });

    it('follows groups that have changed at the provider', async () => {
      await offline();
      const subject = scene.somebody(claims);
      const { user } = await scene.signIn(subject);
      const role = () => scene.db('team_members').where({ team_id: teamId, user_id: user?.id }).first('role');
      expect(await role()).to.deep.equal({ role: 'EDITOR' });
      scene.provider.people.set(subject, { ...scene.provider.people.get(subject), groups: [] });
      await refresh();
      expect(await role()).to.equal(undefined);
    });
  });
});
