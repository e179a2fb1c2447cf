/** Who is in a team, as its ADMINs decide: joining, roles, leaving; and what keeps a team from having nobody. */
import { expect } from 'chai';
import type { Knex } from 'knex';
import type { TeamDetail } from '../../../schemas/api/identity/people.ts';
import type { UiEvent } from '../../../schemas/api/ui-events.ts';
import { openStream } from '../../support/clients/http.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { whileWaiting } from '../../support/harness/lock-waiters.ts';
import { until } from '../../support/harness/until.ts';
import { type Member, makeGroup, useTestUsers } from '../../support/users/people.ts';
import type { TestUser } from '../../support/users/person.ts';
import { expectRefused } from '../../support/users/person.ts';

describe('the members of a team', () => {
  const test = useController();
  const people = useTestUsers(test);
  const root = useRoot(test);
  let teamId: string;
  let admin: Member;

  beforeEach(async () => {
    teamId = await people.team(root);
    // Whoever makes a team is its first ADMIN.
    await test.db('team_members').where({ team_id: teamId }).delete();
    admin = await people.join({ [teamId]: 'ADMIN' });
  });

  const add = (email: string, role = 'VIEWER', by: TestUser = admin) =>
    by.call('mutation', 'team.addMember', { teamId, email, role });
  const remove = (userId: string, by: TestUser = admin) =>
    by.call('mutation', 'team.removeMember', { teamId, userId });
  const change = (userId: string, role: string, by: TestUser = admin) =>
    by.call('mutation', 'team.updateMemberRole', { teamId, userId, role });
  const team = (by: TestUser = admin) => by.query<TeamDetail>('team.get', { id: teamId });

  describe('joining', () => {
    it('takes the address of an account in whatever case, and counts at once', async () => {
      const other = await people.join();
      expect((await add(other.email.toUpperCase(), 'EDITOR')).status).to.equal(200);
      expect(await people.roleOf(teamId, other.userId)).to.deep.equal({ role: 'EDITOR', source: 'manual' });
      expect(await other.query('team.teamRole', { teamId })).to.deep.equal({ role: 'EDITOR' });
      expect(await people.audited('team.memberAdded')).to.deep.include({
        ...{ user_email: admin.email, entity_type: 'TeamMember', entity_id: other.userId, team_id: teamId },
        diff: { role: [null, 'EDITOR'] },
      });
    });

    it('needs an account, and says who makes one', async () => {
      const { status, fault } = await add('nobody@example.org');
      expect(status).to.equal(404);
      expect(fault?.message).to.include('nobody@example.org').and.include('a super admin can create it');
    });

    it('refuses a member; one by group sync with what takes the membership over', async () => {
      expect((await add(admin.email)).status).to.equal(409);
      const other = await people.join({ [teamId]: 'VIEWER' });
      await test.db('team_members').where({ user_id: other.userId }).update({ source: 'group' });
      const { status, fault } = await add(other.email);
      expect(status).to.equal(409);
      expect(fault?.message).to.include('group sync').and.include('change their role');
    });

    it('of the same person many times at once makes one membership', async () => {
      const other = await people.join();
      const answers = await Promise.all(Array.from({ length: 6 }, () => add(other.email)));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, ...Array(5).fill(409)]);
    });
  });

  describe('another role', () => {
    it('ends the sessions, and counts when they sign in again', async () => {
      const other = await people.join({ [teamId]: 'VIEWER' });
      expect((await change(other.userId, 'ADMIN')).status).to.equal(200);
      expect(await people.isSignedIn(other)).to.equal(false);
      expect(await people.roleOf(teamId, other.userId)).to.deep.equal({ role: 'ADMIN', source: 'manual' });
      expect(await people.audited('team.memberRoleChanged')).to.deep.include({
        diff: { role: ['VIEWER', 'ADMIN'] },
      });
    });

    it('that is the same role ends nothing', async () => {
      const other = await people.join({ [teamId]: 'VIEWER' });
      expect((await change(other.userId, 'VIEWER')).status).to.equal(200);
      expect(await people.isSignedIn(other)).to.equal(true);
    });

    it('takes over by hand what group sync gave', async () => {
      const other = await people.join({ [teamId]: 'VIEWER' });
      await test.db('team_members').where({ user_id: other.userId }).update({ source: 'group' });
      expect((await change(other.userId, 'VIEWER')).status).to.equal(200);
      expect(await people.roleOf(teamId, other.userId)).to.deep.equal({ role: 'VIEWER', source: 'manual' });
      expect(await people.audited('team.memberRoleChanged')).to.deep.include({
        diff: { source: ['group', 'manual'] },
      });
    });

    it('is not for somebody who is in no team, or in another one', async () => {
      const stranger = await people.join();
      expect((await change(stranger.userId, 'ADMIN')).status).to.equal(404);
      expect((await remove(stranger.userId)).status).to.equal(404);
    });
  });

  describe('leaving', () => {
    it('ends the sessions; nothing of the team is seen any more', async () => {
      const other = await people.join({ [teamId]: 'EDITOR' });
      expect((await remove(other.userId)).status).to.equal(200);
      expect(await people.isSignedIn(other)).to.equal(false);
      expect(await people.roleOf(teamId, other.userId)).to.equal(null);
      expect(await people.audited('team.memberRemoved')).to.deep.include({
        diff: { role: ['EDITOR', null] },
      });
    });

    it('of somebody whom a group put there is for the group', async () => {
      const other = await people.join({ [teamId]: 'EDITOR' });
      await test.db('team_members').where({ user_id: other.userId }).update({ source: 'group' });
      const name = `platform of ${teamId}`;
      await makeGroup(test.db, { name, userIds: [other.userId], teamId, role: 'EDITOR' });
      expectRefused(await remove(other.userId), 412, `"${name}"`, 'remove them there');
      expect(await people.roleOf(teamId, other.userId)).not.to.equal(null);
      expect(await people.isSignedIn(other)).to.equal(true);
    });

    it('leaves what groups give instead', async () => {
      const other = await people.join({ [teamId]: 'ADMIN' });
      const name = `viewers of ${teamId}`;
      await makeGroup(test.db, { name, userIds: [other.userId], teamId, role: 'VIEWER' });
      expect((await remove(other.userId)).status).to.equal(200);
      expect(await people.roleOf(teamId, other.userId)).to.deep.equal({ role: 'VIEWER', source: 'group' });
      expect(await people.audited('team.membersSynced')).to.include({ team_id: teamId });
    });
  });

  describe('an ADMIN whose rights end while a request waits for the team', () => {
    /** Ends the sessions too, as the change of a membership does. */
    const changing = (change: (tx: Knex) => Promise<unknown>) => ({
      lock: (tx: Knex) => tx('teams').where({ id: teamId }).forNoKeyUpdate().first('id'),
      change: async (tx: Knex) => {
        await change(tx);
        await tx('sessions').where({ user_id: admin.userId }).delete();
      },
    });
    const membership = (tx: Knex) => tx('team_members').where({ team_id: teamId, user_id: admin.userId });
    beforeEach(() => people.join({ [teamId]: 'ADMIN' }));

    it('does not join again', async () => {
      const removed = changing((tx) => membership(tx).delete());
      expectRefused(await whileWaiting(test.db, removed, () => add(admin.email, 'ADMIN')), 401);
      expect(await people.roleOf(teamId, admin.userId)).to.equal(null);
    });

    it('gets no earlier role back', async () => {
      const demoted = changing((tx) => membership(tx).update({ role: 'VIEWER' }));
      expectRefused(await whileWaiting(test.db, demoted, () => change(admin.userId, 'ADMIN')), 401);
      expect(await people.roleOf(teamId, admin.userId)).to.include({ role: 'VIEWER' });
    });

    it('changes nothing of the team', async () => {
      const { name } = await team();
      for (const [procedure, input] of [
        ['team.rename', { name: 'Mine' }],
        ['team.updateRequireTwoFactor', { requireTwoFactor: false }],
      ] as const) {
        const other = await people.join({ [teamId]: 'ADMIN' });
        const removed = {
          ...changing(async () => undefined),
          change: (tx: Knex) => tx('sessions').where({ user_id: other.userId }).delete(),
        };
        const call = () => other.call('mutation', procedure, { teamId, ...input });
        expectRefused(await whileWaiting(test.db, removed, call), 401);
      }
      expect((await team()).name).to.equal(name);
    });
  });

  describe('the last ADMIN', () => {
    const refused = (answer: Awaited<ReturnType<typeof remove>>) => {
      expect(answer.status).to.equal(412);
      expect(answer.fault?.message).to.include('last ADMIN').and.include('another member');
    };

    it('cannot be removed or demoted, by themselves or by a super admin', async () => {
      refused(await remove(admin.userId));
      refused(await change(admin.userId, 'EDITOR'));
      refused(await remove(admin.userId, root));
      const of = { teamId, userId: admin.userId };
      refused(await root.call('mutation', 'admin.removeFromTeam', of));
      refused(await root.call('mutation', 'admin.assignToTeam', { ...of, role: 'VIEWER' }));
      expect(await people.isSignedIn(admin)).to.equal(true);
      expect((await people.roleOf(teamId, admin.userId))?.role).to.equal('ADMIN');
    });

    it('is the last one too where all others are locked', async () => {
      const other = await people.join({ [teamId]: 'ADMIN' });
      await test.db('users').where({ id: other.userId }).update({ locked_at: new Date() });
      refused(await remove(admin.userId));
      expect((await remove(other.userId)).status, 'the locked one').to.equal(200);
    });

    it('may go where a group makes them ADMIN again', async () => {
      const name = `admins of ${teamId}`;
      await makeGroup(test.db, { name, userIds: [admin.userId], teamId, role: 'ADMIN' });
      expect((await remove(admin.userId)).status).to.equal(200);
      expect(await people.roleOf(teamId, admin.userId)).to.deep.equal({ role: 'ADMIN', source: 'group' });
    });

    it('is left of two who are removed, demoted and deleted at the same moment', async () => {
      for (const ways of [
        [(id: string) => remove(id, root), (id: string) => remove(id, root)],
        [(id: string) => change(id, 'VIEWER', root), (id: string) => remove(id, root)],
        [
          (id: string) => root.call('mutation', 'admin.deleteUser', { userId: id }),
          (id: string) => root.call('mutation', 'admin.deleteUser', { userId: id }),
        ],
      ] as const) {
        const other = await people.join({ [teamId]: 'ADMIN' });
        const [one, two] = await Promise.all([ways[0](admin.userId), ways[1](other.userId)]);
        expect([one.status, two.status].sort(), one.fault?.message ?? two.fault?.message).to.deep.equal([
          200, 412,
        ]);
        const left = await test.db('team_members').where({ team_id: teamId, role: 'ADMIN' });
        expect(left).to.have.length(1);
        await test.db('team_members').where({ team_id: teamId }).delete();
        admin = await people.join({ [teamId]: 'ADMIN' });
      }
    });
  });

  describe('the team itself', () => {
    it('is told with everybody in it, and with who is out of reach', async () => {
      const viewer = await people.join({ [teamId]: 'VIEWER' });
      const elsewhere = await people.join({ [teamId]: 'EDITOR', [await people.team(root)]: 'VIEWER' });
      const told = await team();
      expect(told).to.include({ id: teamId, role: 'ADMIN', requireTwoFactor: false, environmentCount: 0 });
      const reach = new Map(told.members.map(({ userId, accountOutOfReach }) => [userId, accountOutOfReach]));
      expect(reach.get(viewer.userId)).to.equal(null);
      expect(reach.get(admin.userId)).to.include('your own account');
      expect(reach.get(elsewhere.userId)).to.include('ask a super admin');
      expect((await team(viewer)).members.every((one) => one.accountOutOfReach !== null)).to.equal(true);
      expect((await team(root)).members.every((one) => one.accountOutOfReach === null)).to.equal(true);
    });

    it('has a role for whoever asks: in it, in any, in none', async () => {
      const nobody = await people.join();
      expect(await nobody.query('team.myRole')).to.deep.equal({ role: null });
      expect((await nobody.call('query', 'team.teamRole', { teamId })).status).to.equal(403);
      const editor = await people.join({ [teamId]: 'VIEWER', [await people.team(root)]: 'EDITOR' });
      expect(await editor.query('team.myRole')).to.deep.equal({ role: 'EDITOR' });
      expect(await editor.query('team.teamRole', { teamId })).to.deep.equal({ role: 'VIEWER' });
      expect(await root.query('team.teamRole', { teamId })).to.deep.equal({ role: 'ADMIN' });
    });

    it('takes another name, but none that another team has', async () => {
      const name = `Renamed ${teamId}`;
      expect((await admin.call('mutation', 'team.rename', { teamId, name: ` ${name} ` })).status).to.equal(
        200,
      );
      expect((await team()).name).to.equal(name);
      await people.team(root, `Taken ${teamId}`);
      const taken = { teamId, name: `TAKEN ${teamId}` };
      expect((await admin.call('mutation', 'team.rename', taken)).status).to.equal(409);
    });

    it('is deleted without environments only, and its members lose their sessions', async () => {
      const { id } = await root.mutate<{ id: string }>('environment.create', { teamId, name: 'staging' });
      expectRefused(await root.call('mutation', 'team.delete', { teamId }), 412, 'staging');
      await root.mutate('environment.delete', { id });
      await root.mutate('team.delete', { teamId });
      expect(await people.isSignedIn(admin)).to.equal(false);
      expect((await root.call('query', 'team.get', { id: teamId })).status).to.equal(404);
      expect(await people.audited('team.deleted')).to.include({ entity_id: teamId, team_id: teamId });
    });

    it('leads those whom its mapping brought to the default team, once it is deleted', async () => {
      const fallback = await people.team(root);
      const other = await people.join({ [teamId]: 'VIEWER' });
      await test.db('team_members').where({ user_id: other.userId }).update({ source: 'group' });
      const name = `mapped to ${teamId}`;
      await makeGroup(test.db, { name, userIds: [other.userId], teamId });
      await test.db('user_identities').insert({
        ...{ issuer: 'https://id.example.org', subject: other.userId, user_id: other.userId },
      });
      await test.db('group_settings').insert({ id: 'groups', default_team_id: fallback });
      try {
        await root.mutate('team.delete', { teamId });
        expect(await people.roleOf(fallback, other.userId)).to.deep.equal({
          role: 'VIEWER',
          source: 'group',
        });
      } finally {
        await test.db('group_settings').delete();
      }
    });

    it('is not deleted while somebody makes an environment in it', async () => {
      for (let round = 0; round < 5; round += 1) {
        const id = await people.team(root);
        const [made, deleted] = await Promise.all([
          root.call('mutation', 'environment.create', { teamId: id, name: 'staging' }),
          root.call('mutation', 'team.delete', { teamId: id }),
        ]);
        expect([`${made.status} ${deleted.status}`]).to.include.oneOf(['200 412', '404 200']);
      }
    });
  });

  describe('a second factor for all', () => {
    const ask = (by: TestUser, requireTwoFactor = true) =>
      by.call('mutation', 'team.updateRequireTwoFactor', { teamId, requireTwoFactor });

    it('is not asked for by who has none and would be shut out', async () => {
      const { status, fault } = await ask(admin);
      expect(status).to.equal(412);
      expect(fault?.message).to.include('your own second factor first');
    });

    it('is asked for by who has one, and by who signs in elsewhere', async () => {
      await test.db('users').where({ id: admin.userId }).update({ totp_enabled: true });
      expect((await ask(admin)).status).to.equal(200);
      expect((await team()).requireTwoFactor).to.equal(true);
      expect((await ask(admin, false)).status).to.equal(200);
      await test.db('users').where({ id: admin.userId }).update({ totp_enabled: false });
      await test.db('sessions').where({ user_id: admin.userId }).update({ method: 'oidc' });
      expect((await ask(admin)).status).to.equal(200);
      expect(await people.audited('team.requireTwoFactorChanged')).to.deep.include({
        diff: { requireTwoFactor: [false, true] },
      });
    });

    it('counts at once for sessions that are open', async () => {
      const other = await people.join({ [teamId]: 'VIEWER' });
      await test.db('users').where({ id: admin.userId }).update({ totp_enabled: true });
      await ask(admin);
      const { status, fault } = await other.call('query', 'team.myRole');
      expect(status).to.equal(403);
      expect(fault?.data.owes).to.equal('SET_UP_TWO_FACTOR');
    });
  });

  it('are told to open pages, and the page of who was removed ends', async () => {
    const other = await people.join({ [teamId]: 'VIEWER' });
    const page = ({ cookie }: TestUser) => openStream(`${test.url}/api/events`, { cookie });
    const [theirs, own] = [await page(admin), await page(other)];
    try {
      await remove(other.userId);
      const told = () => theirs.events<UiEvent>('changed').flatMap(({ topics }) => topics);
      await until(() => told().includes('teams'), { what: 'the page to be told' });
      await until(() => own.ended(), { what: 'the page of who was removed to end' });
    } finally {
      theirs.close();
      own.close();
    }
  });
});
