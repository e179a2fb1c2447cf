/** Everybody who has an account, as super admins make, change and delete them. */
import { expect } from 'chai';
import type { Knex } from 'knex';
import { lockUserRow } from '../../../controller/identity/access/users/users-store.ts';
import type { GroupOverview, TeamOverview, UserSummary } from '../../../schemas/api/identity/people.ts';
import { useController } from '../../support/harness/controller.ts';
import { whileWaiting } from '../../support/harness/lock-waiters.ts';
import { until } from '../../support/harness/until.ts';
import { type Member, makeGroup, useTestUsers } from '../../support/users/people.ts';
import { expectRefused, PASSWORD, type TestUser, trySignIn } from '../../support/users/person.ts';

describe('a super admin', () => {
  const test = useController();
  const people = useTestUsers(test);
  let root: TestUser;
  let teamId: string;

  before(async () => {
    root = await test.root();
    teamId = await people.team(root);
  });

  const act = <T>(name: string, input: object, by: TestUser = root) =>
    by.call<T>('mutation', `admin.${name}`, input);
  const list = () => root.query<UserSummary[]>('admin.listUsers');
  const idOf = async (email: string): Promise<string> =>
    (await test.db('users').where({ email }).first('id')).id;

  describe('makes accounts', () => {
    it('with a temporary password, as VIEWER of a team unless told', async () => {
      const email = 'Ada@example.org';
      const { output } = await act<{ id: string; password: string; expiresAt: string }>('createUser', {
        ...{ email, name: ' Ada Lovelace ', teamId },
      });
      expect(await people.roleOf(teamId, output?.id ?? '')).to.deep.equal({
        role: 'VIEWER',
        source: 'manual',
      });
      const answer = await trySignIn(test.url, 'ada@EXAMPLE.org', output?.password ?? '');
      expect(answer.status).to.equal(200);
      expect(answer.json<{ user: object }>().user).to.include({
        ...{ name: 'Ada Lovelace', email, isSuperAdmin: false, owes: 'CHANGE_PASSWORD' },
      });
      expect(await people.audited('user.created')).to.deep.include({
        diff: { email: [null, email], name: [null, 'Ada Lovelace'] },
      });
      expect(await people.audited('team.memberAdded')).to.include({ team_id: teamId });
      expect(JSON.stringify(await test.db('audit_log'))).not.to.include(output?.password);
    });

    it('one for an address, whatever its case and however many ask at once', async () => {
      const answers = await Promise.all(
        ['grace@example.org', 'GRACE@example.org', 'Grace@Example.org'].map((email) =>
          act('createUser', { email, name: 'Grace' }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409]);
    });

    it('with a role only where a team is named, and in teams that exist', async () => {
      const input = { email: 'nobody@example.org', name: 'Nobody' };
      expect((await act('createUser', { ...input, role: 'ADMIN' })).status).to.equal(400);
      expect((await act('createUser', { ...input, teamId: 'none' })).status).to.equal(404);
      expect(await test.db('users').where({ email: input.email })).to.deep.equal([]);
      for (const email of ['no address', 'a@b@', '@example.org', `${'x'.repeat(400)}@example.org`])
        expect((await act('createUser', { ...input, email })).status, email).to.equal(400);
    });
  });

  describe('deletes accounts', () => {
    it('with all that is their own; what they did stays', async () => {
      const other = await people.join({ [teamId]: 'EDITOR' });
      await other.mutate('user.createToken', { name: 'laptop' });
      const { id } = await other.mutate<{ id: string }>('environment.create', {
        teamId,
        name: 'made by other',
      });
      const { id: pipelineId } = await other.mutate<{ id: string }>('pipeline.create', {
        ...{ environmentId: id, name: 'orders' },
      });
      const input = { pipelineId, configYaml: 'sources: {}\n' };
      await other.call('mutation', 'pipeline.createVersion', input);
      expect((await act('deleteUser', { userId: other.userId })).status).to.equal(200);
      expect(await people.isSignedIn(other)).to.equal(false);
      for (const table of ['sessions', 'personal_tokens', 'team_members'])
        expect(await test.db(table).where({ user_id: other.userId }), table).to.deep.equal([]);
      expect((await root.call('query', 'pipeline.get', { id: pipelineId })).status).to.equal(200);
      const rows = await test.db('audit_log').where({ user_id: other.userId });
      expect(rows.map(({ user_email }) => user_email)).to.include(other.email);
      expect((await trySignIn(test.url, other.email, PASSWORD)).status).to.equal(401);
      expect((await act('deleteUser', { userId: other.userId })).status, 'once more').to.equal(404);
    });

    it('so that no foreign key stands in the way, and none takes more than what is theirs alone', async () => {
      const { rows } = await test.db.raw<{ rows: { table: string; rule: string }[] }>(
        `SELECT conrelid::regclass::text AS table, confdeltype AS rule FROM pg_constraint
         WHERE contype = 'f' AND confrelid = 'users'::regclass`,
      );
      expect(rows.filter(({ rule }) => rule !== 'n' && rule !== 'c')).to.deep.equal([]);
      const gone = rows.filter(({ rule }) => rule === 'c').map(({ table }) => table);
      expect([...new Set(gone)].sort()).to.deep.equal([
        ...[
          'ai_conversations',
          'directory_group_members',
          'personal_tokens',
          'scim_users',
          'sessions',
          'taps',
        ],
        ...['team_members', 'totp_backup_codes', 'user_identities', 'user_preferences'],
      ]);
    });

    it('but not their own, and none that a team hangs on', async () => {
      expect((await act('deleteUser', { userId: await idOf(root.email) })).status).to.equal(412);
      const team = await people.team(root, 'Hanging on one');
      await test.db('team_members').where({ team_id: team }).delete();
      const admin = await people.join({ [team]: 'ADMIN' });
      const { status, fault } = await act('deleteUser', { userId: admin.userId });
      expect(status).to.equal(412);
      expect(fault?.message).to.include('"Hanging on one"');
      expect(await people.isSignedIn(admin)).to.equal(true);
      await test.db('users').where({ id: admin.userId }).update({ locked_at: new Date() });
      expect((await act('deleteUser', { userId: admin.userId })).status, 'locked').to.equal(200);
    });
  });

  describe('makes others super admins', () => {
    it('and takes it back; the sessions end both times', async () => {
      const other = await people.join();
      const toggle = (isSuperAdmin: boolean) =>
        act('toggleSuperAdmin', { userId: other.userId, isSuperAdmin });
      expect((await toggle(true)).status).to.equal(200);
      expect(await people.isSignedIn(other)).to.equal(false);
      expect(await people.userRow(other.userId)).to.include({ is_super_admin: true });
      expect(await people.audited('user.superAdminChanged')).to.deep.include({
        diff: { isSuperAdmin: [false, true] },
      });
      expect((await toggle(true)).status, 'again').to.equal(200);
      expect((await toggle(false)).status).to.equal(200);
      expect(await people.userRow(other.userId)).to.include({ is_super_admin: false });
    });

    it('and one of them who can sign in is always left', async () => {
      const userId = await idOf(root.email);
      expectRefused(await act('toggleSuperAdmin', { userId, isSuperAdmin: false }), 412, 'last super admin');
      const other = await people.join({}, { isSuperAdmin: true });
      await test.db('users').where({ id: other.userId }).update({ locked_at: new Date() });
      const locked = await act('toggleSuperAdmin', { userId, isSuperAdmin: false });
      expect(locked.status, 'the other one is locked').to.equal(412);
      const past = new Date(Date.now() - 1_000);
      await test
        .db('users')
        .where({ id: other.userId })
        .update({ locked_at: null, must_change_password: true, password_expires_at: past });
      const expired = await act('toggleSuperAdmin', { userId, isSuperAdmin: false });
      expect(expired.status, 'the temporary password of the other one has ended').to.equal(412);
      await test
        .db('users')
        .where({ id: other.userId })
        .update({ password_hash: null, must_change_password: false, password_expires_at: null });
      const noWayIn = await act('toggleSuperAdmin', { userId, isSuperAdmin: false });
      expect(noWayIn.status, 'the other one has neither a password nor a provider').to.equal(412);
      expect((await act('deleteUser', { userId: other.userId })).status).to.equal(200);
    });

    it('also where two act on each other at the same moment', async () => {
      const rootId = await idOf(root.email);
      const pairs = [
        ['toggleSuperAdmin', { isSuperAdmin: false }],
        ['lockUser', {}],
        ['deleteUser', {}],
      ] as const;
      for (const [name, more] of pairs) {
        const other = await people.join({}, { isSuperAdmin: true });
        const third = await people.join({}, { isSuperAdmin: true });
        // The first administrator is out of the way, so that these two are the last.
        await test.db('users').where({ id: rootId }).update({ locked_at: new Date() });
        try {
          const answers = await Promise.all([
            act(name, { userId: third.userId, ...more }, other),
            act(name, { userId: other.userId, ...more }, third),
          ]);
          expect(answers.map(({ status }) => status).sort(), name).to.be.deep.oneOf([
            [200, 412],
            // The second one was no super admin any more when they asked, or not signed in.
            [200, 403],
            [200, 401],
          ]);
          const left = await test.db('users').where({ is_super_admin: true, locked_at: null });
          expect(left, name).to.have.length(1);
        } finally {
          await test.db('users').where({ id: rootId }).update({ locked_at: null });
          await test.db('users').whereIn('id', [other.userId, third.userId]).delete();
        }
        root = await test.root();
      }
    });

    it('waiting for whoever signs in as one of them, with nothing held that the sign-in may want', async () => {
      const other = await people.join({}, { isSuperAdmin: true });
      const signingIn = await test.db.transaction();
      await lockUserRow(signingIn, other.userId);
      const ending = act('endSessions', { userId: other.userId });
      const waits = `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'relation' AND datname = current_database()`;
      await until(async () => (await test.db.raw(waits)).rows.length > 0, {
        what: 'it to wait for the table',
      });
      await signingIn('users').where({ id: other.userId }).update({ last_sign_in_at: new Date() });
      await signingIn.commit();
      expect((await ending).status).to.equal(200);
      expect((await act('deleteUser', { userId: other.userId })).status).to.equal(200);
    });

    it('but not themselves again, where they are demoted while their request waits', async () => {
      const other = await people.join({}, { isSuperAdmin: true });
      const { userId } = other;
      const demoted = {
        lock: (tx: Knex) => lockUserRow(tx, userId),
        change: async (tx: Knex) => {
          await tx('users').where({ id: userId }).update({ is_super_admin: false });
          await tx('sessions').where({ user_id: userId }).delete();
        },
      };
      const call = () => act('toggleSuperAdmin', { userId, isSuperAdmin: true }, other);
      expectRefused(await whileWaiting(test.db, demoted, call), 401);
      expect(await people.userRow(userId)).to.include({ is_super_admin: false });
    });

    it('or demote themselves, and their own session goes on with what is left', async () => {
      const other = await people.join({ [teamId]: 'VIEWER' }, { isSuperAdmin: true });
      const { status } = await act('toggleSuperAdmin', { userId: other.userId, isSuperAdmin: false }, other);
      expect(status).to.equal(200);
      expect(await people.isSignedIn(other)).to.equal(true);
      expect((await other.call('query', 'admin.listUsers')).status).to.equal(403);
    });
  });

  describe('puts people into teams', () => {
    it('with a role, and changes it by hand', async () => {
      const other = await people.join();
      const assign = (role: string) => act('assignToTeam', { userId: other.userId, teamId, role });
      expect((await assign('VIEWER')).status).to.equal(200);
      expect(await people.isSignedIn(other), 'nothing was taken away').to.equal(true);
      await test.db('team_members').where({ user_id: other.userId }).update({ source: 'group' });
      expect((await assign('ADMIN')).status).to.equal(200);
      expect(await people.roleOf(teamId, other.userId)).to.deep.equal({ role: 'ADMIN', source: 'manual' });
      expect(await people.isSignedIn(other)).to.equal(false);
      expect((await act('assignToTeam', { userId: 'none', teamId, role: 'VIEWER' })).status).to.equal(404);
    });

    it('and out of them, but for what a group gives', async () => {
      const other = await people.join({ [teamId]: 'EDITOR' });
      await test.db('team_members').where({ user_id: other.userId }).update({ source: 'group' });
      const of = { userId: other.userId, teamId };
      expectRefused(await act('removeFromTeam', of), 412, 'default team');
      await test.db('team_members').where({ user_id: other.userId }).update({ source: 'manual' });
      expect((await act('removeFromTeam', of)).status).to.equal(200);
      expect((await act('removeFromTeam', of)).status).to.equal(404);
    });

    it('keeping their own session when they leave a team themselves', async () => {
      const other = await people.join({ [teamId]: 'EDITOR' }, { isSuperAdmin: true });
      expect((await act('removeFromTeam', { userId: other.userId, teamId }, other)).status).to.equal(200);
      expect(await people.isSignedIn(other)).to.equal(true);
      await act('deleteUser', { userId: other.userId });
    });
  });

  describe('looks after accounts', () => {
    it('locking any but their own, and lifting every lock', async () => {
      const other = await people.join();
      const lock = () => act('lockUser', { userId: other.userId });
      expect((await act('lockUser', { userId: await idOf(root.email) })).status).to.equal(412);
      await test.db('users').where({ id: other.userId }).update({ locked_at: new Date(), locked_by: 'scim' });
      expect((await lock()).status, 'a lock of SCIM becomes theirs').to.equal(200);
      expect(await people.userRow(other.userId)).to.include({ locked_by: 'admin' });
      expect((await lock()).status).to.equal(412);
      await test.db('users').where({ id: other.userId }).update({ locked_by: 'scim' });
      expect((await act('unlockUser', { userId: other.userId })).status).to.equal(200);
      expect(await people.userRow(other.userId)).to.include({ locked_at: null, locked_by: null });
      expect((await act('unlockUser', { userId: other.userId })).status).to.equal(412);
    });

    it('with a new password, where there is one here', async () => {
      const other = await people.join();
      const { output } = await act<{ temporaryPassword: string }>('resetPassword', { userId: other.userId });
      expect((await trySignIn(test.url, other.email, output?.temporaryPassword ?? '')).status).to.equal(200);
      const linked = await people.join();
      await test.db('users').where({ id: linked.userId }).update({ auth_method: 'OIDC' });
      expect((await act('resetPassword', { userId: linked.userId })).status, 'has one too').to.equal(200);
      await test.db('users').where({ id: linked.userId }).update({ password_hash: null });
      const provider = { issuer: 'https://id.example.org', client_id: 'headgate' };
      await test.db('oidc_settings').insert({ ...provider, token_endpoint_auth_method: 'none' });
      await test
        .db('user_identities')
        .insert({ issuer: provider.issuer, subject: 's', user_id: linked.userId });
      try {
        expectRefused(await act('resetPassword', { userId: linked.userId }), 412, 'identity provider');
        await test.db('oidc_settings').update({ issuer: 'https://another.example.org' });
        const given = await act('resetPassword', { userId: linked.userId });
        expect(given.status, 'nobody else lets them in').to.equal(200);
      } finally {
        await test.db('oidc_settings').delete();
      }
    });

    it('whose phone is lost', async () => {
      const other = await people.join();
      const reset = () => act('resetTwoFactor', { userId: other.userId });
      expect((await reset()).status).to.equal(412);
      await test
        .db('users')
        .where({ id: other.userId })
        .update({ totp_enabled: true, sealed_totp_secret: 'sealed', totp_last_step: 7 });
      await test.db('totp_backup_codes').insert({ user_id: other.userId, code_hash: Buffer.alloc(32) });
      expect((await reset()).status).to.equal(200);
      expect(await people.userRow(other.userId)).to.include({
        ...{ totp_enabled: false, sealed_totp_secret: null, totp_last_step: null },
      });
      expect(await test.db('totp_backup_codes').where({ user_id: other.userId })).to.deep.equal([]);
      expect(await people.isSignedIn(other)).to.equal(false);
      expect((await trySignIn(test.url, other.email, PASSWORD)).status).to.equal(200);
    });

    it('whose sessions shall end', async () => {
      const other = await people.join();
      await trySignIn(test.url, other.email, PASSWORD);
      const { output } = await act<{ ended: number }>('endSessions', { userId: other.userId });
      expect(output).to.deep.equal({ ended: 2 });
      expect(await people.isSignedIn(other)).to.equal(false);
    });
  });

  describe('sees', () => {
    it('everybody with teams and groups, and what keeps them', async () => {
      const team = await people.team(root, 'Seen');
      const other = await people.join({ [team]: 'EDITOR' });
      await makeGroup(test.db, { name: 'Unmapped', userIds: [other.userId] });
      await test.db('scim_users').insert({ user_id: other.userId, user_name: other.email });
      const found = (await list()).find(({ id }) => id === other.userId);
      expect(found).to.deep.include({
        ...{ email: other.email, authMethod: 'PASSWORD', isSuperAdmin: false, provisioned: true },
        ...{ twoFactorEnabled: false, lockedAt: null, lockedBy: null, mustChangePassword: false },
        teams: [{ id: team, name: 'Seen', role: 'EDITOR', source: 'manual' }],
        groups: ['Unmapped'],
        linkedTo: [],
      });
      await test.db('users').where({ id: other.userId }).update({ locked_at: new Date() });
      const locked = (await list()).find(({ id }) => id === other.userId);
      expect(locked?.lockedBy, 'of before it was noted').to.equal('admin');
    });

    it('every team, with how many could administer it', async () => {
      const team = await people.team(root, 'Counted');
      const admin: Member = await people.join({ [team]: 'ADMIN' });
      await people.join({ [team]: 'VIEWER' });
      await test.db('users').where({ id: admin.userId }).update({ locked_at: new Date() });
      const found = (await root.query<TeamOverview[]>('admin.listTeams')).find(({ id }) => id === team);
      expect(found).to.include({ name: 'Counted', memberCount: 3, adminCount: 1, environmentCount: 0 });
    });

    it('every group: empty ones that SCIM keeps, and once what both sides tell of', async () => {
      const one = await people.join();
      const two = await people.join();
      await makeGroup(test.db, { name: 'Both ways', userIds: [one.userId, two.userId] });
      await makeGroup(test.db, { name: 'Nobody yet', userIds: [] });
      const claimed = (id: string, name: string) => ({ id, source: 'oidc', display_name: name });
      await test
        .db('directory_groups')
        .insert([
          claimed('claimed-both', 'Both ways'),
          claimed('claimed-case', 'both ways'),
          claimed('claimed-before', 'Left by all'),
        ]);
      await test.db('directory_group_members').insert([
        { group_id: 'claimed-both', user_id: one.userId },
        { group_id: 'claimed-case', user_id: one.userId },
      ]);
      const groups = await root.query<GroupOverview[]>('admin.listGroups');
      expect(groups.filter(({ name }) => name !== 'Unmapped')).to.have.deep.members([
        { name: 'Both ways', memberCount: 2, leadsTo: [], superAdmins: false },
        { name: 'both ways', memberCount: 1, leadsTo: [], superAdmins: false },
        { name: 'Nobody yet', memberCount: 0, leadsTo: [], superAdmins: false },
      ]);
    });

    it('a thousand people at once', async () => {
      await test.db.raw(
        `INSERT INTO users (id, email, name) SELECT 'many-' || n, 'many-' || n || '@example.org', 'Many ' || n
         FROM generate_series(1, 1000) n`,
      );
      await test.db.raw(
        `INSERT INTO team_members (team_id, user_id, role) SELECT ?, 'many-' || n, 'VIEWER' FROM generate_series(1, 1000) n`,
        [teamId],
      );
      try {
        const many = (await list()).filter(({ id }) => id.startsWith('many-'));
        expect(many).to.have.length(1_000);
        expect(many.every(({ teams }) => teams.length === 1)).to.equal(true);
        const { members } = await root.query<{ members: unknown[] }>('team.get', { id: teamId });
        expect(members).to.have.length.above(1_000);
      } finally {
        await test.db('users').whereLike('id', 'many-%').delete();
      }
    });
  });
});
