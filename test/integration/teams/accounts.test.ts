/** Locks and temporary passwords by the ADMINs of a team: who is within their reach, and what becomes of the account. */
import { expect } from 'chai';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { type Member, useTestUsers } from '../../support/users/people.ts';
import { expectRefused, PASSWORD, type TestUser, trySignIn } from '../../support/users/person.ts';

const WAYS = ['lockMember', 'unlockMember', 'resetMemberPassword'] as const;

describe('the account of a member', () => {
  const test = useController();
  const people = useTestUsers(test);
  const root = useRoot(test);
  let teamId: string;
  let admin: Member;

  before(async () => {
    teamId = await people.team(root);
    admin = await people.join({ [teamId]: 'ADMIN' });
  });

  const act = (way: (typeof WAYS)[number], userId: string, by: TestUser = admin) =>
    by.call<{ temporaryPassword: string; expiresAt: string }>('mutation', `team.${way}`, { teamId, userId });
  const setLock = (userId: string, by: 'admin' | 'scim') =>
    test.db('users').where({ id: userId }).update({ locked_at: new Date(), locked_by: by });
  const provision = (userId: string, more: object = {}) =>
    test.db('scim_users').insert({ user_id: userId, user_name: `${userId}@example.org`, ...more });
  const signsIn = async ({ email }: TestUser, password = PASSWORD) =>
    (await trySignIn(test.url, email, password)).status;

  it('is locked with its sessions at once, and unlocked', async () => {
    const other = await people.join({ [teamId]: 'EDITOR' });
    expect((await act('lockMember', other.userId)).status).to.equal(200);
    expect(await people.isSignedIn(other)).to.equal(false);
    expect(await test.db('sessions').where({ user_id: other.userId })).to.deep.equal([]);
    expect(await signsIn(other)).to.equal(401);
    expect(await people.userRow(other.userId)).to.include({ locked_by: 'admin' });
    expect(await people.audited('user.locked')).to.deep.include({
      ...{ user_email: admin.email, entity_id: other.userId, team_id: teamId },
      diff: { lockedBy: [null, 'admin'] },
    });
    expect((await act('lockMember', other.userId)).status, 'once more').to.equal(412);
    expect((await act('unlockMember', other.userId)).status).to.equal(200);
    expect(await signsIn(other)).to.equal(200);
    expect((await act('unlockMember', other.userId)).status, 'once more').to.equal(412);
  });

  it('gets a temporary password that is shown once, and is good for its own change', async () => {
    const other = await people.join({ [teamId]: 'EDITOR' });
    const { output } = await act('resetMemberPassword', other.userId);
    const password = output?.temporaryPassword ?? '';
    expect(password).to.have.length.above(15);
    expect(await people.isSignedIn(other)).to.equal(false);
    expect(await signsIn(other), 'with the old one').to.equal(401);
    const answer = await trySignIn(test.url, other.email, password);
    expect(answer.status).to.equal(200);
    expect(answer.json<{ user: { owes: string } }>().user.owes).to.equal('CHANGE_PASSWORD');
    const row = await people.userRow(other.userId);
    expect(row).to.include({ must_change_password: true });
    expect((row.password_expires_at as Date).toISOString()).to.equal(output?.expiresAt);
    expect(JSON.stringify(await test.db('audit_log'))).not.to.include(password);
    expect(test.log()).not.to.include(password);
  });

  it('loses its personal tokens with a reset: whoever had it may have made them', async () => {
    const other = await people.join({ [teamId]: 'EDITOR' });
    await other.mutate('user.createToken', { name: 'made by somebody else' });
    expect((await act('resetMemberPassword', other.userId)).status).to.equal(200);
    expect(await test.db('personal_tokens').where({ user_id: other.userId })).to.deep.equal([]);
    expect(await people.audited('user.passwordReset')).to.have.nested.property('metadata.tokensDeleted', 1);
  });

  it('is not theirs where they have put its owner in by the address, until a super admin says so', async () => {
    const other = await people.join();
    await admin.mutate('team.addMember', { teamId, email: other.email, role: 'VIEWER' });
    for (const way of WAYS) {
      const { status, fault } = await act(way, other.userId);
      expect([status, fault?.message]).to.deep.equal([
        403,
        'An ADMIN has added this user to the team, which gives no right over the account: ask a super admin',
      ]);
    }
    await admin.mutate('team.updateMemberRole', { teamId, userId: other.userId, role: 'EDITOR' });
    expect((await act('lockMember', other.userId)).status, 'by their own word').to.equal(403);
    await root.mutate('admin.assignToTeam', { teamId, userId: other.userId, role: 'EDITOR' });
    expect((await act('lockMember', other.userId)).status).to.equal(200);
  });

  it('is not theirs to take over: a super admin, somebody of another team, themselves', async () => {
    const other = await people.team(root);
    const superAdmin = await people.join({ [teamId]: 'VIEWER' }, { isSuperAdmin: true });
    const elsewhere = await people.join({ [teamId]: 'VIEWER', [other]: 'VIEWER' });
    for (const [userId, reason] of [
      [superAdmin.userId, 'super admin'],
      [elsewhere.userId, 'a team in which you are not ADMIN'],
      [admin.userId, 'your own account'],
    ] as const)
      for (const way of WAYS) {
        const { status, fault } = await act(way, userId);
        expect(status, `${way}: ${fault?.message}`).to.equal(403);
        expect(fault?.message).to.include(reason);
      }
    expect(await people.isSignedIn(superAdmin)).to.equal(true);
    expect(await people.isSignedIn(elsewhere)).to.equal(true);
    expect((await act('lockMember', elsewhere.userId, root)).status, 'by a super admin').to.equal(200);
  });

  it('is theirs where they are ADMIN in all of its teams', async () => {
    const other = await people.team(root);
    const both = await people.join({ [teamId]: 'ADMIN', [other]: 'ADMIN' });
    const member = await people.join({ [teamId]: 'VIEWER', [other]: 'EDITOR' });
    expect((await act('lockMember', member.userId, both)).status).to.equal(200);
  });

  it('is not there for who is in no team, or only in another one', async () => {
    const stranger = await people.join({ [await people.team(root)]: 'VIEWER' });
    for (const way of WAYS) {
      expect((await act(way, stranger.userId)).status).to.equal(404);
      expect((await act(way, stranger.userId, root)).status).to.equal(404);
    }
  });

  it('keeps the lock of the identity provider, and its word under a lock of somebody here', async () => {
    const one = await people.join({ [teamId]: 'VIEWER' });
    await setLock(one.userId, 'scim');
    const two = await people.join({ [teamId]: 'VIEWER' });
    await setLock(two.userId, 'admin');
    await provision(two.userId, { active: false });
    const three = await people.join({ [teamId]: 'VIEWER' });
    await setLock(three.userId, 'admin');
    await provision(three.userId, { deleted_at: new Date() });
    for (const { userId } of [one, two, three])
      for (const by of [admin, root]) {
        expectRefused(await act('unlockMember', userId, by), 412, 'identity provider');
        expect((await people.userRow(userId)).locked_at).not.to.equal(null);
      }
    expect((await act('lockMember', one.userId)).status, 'locked already').to.equal(412);
    expect(await people.userRow(one.userId)).to.include({ locked_by: 'scim' });
  });

  it('gets no password where an identity provider keeps it', async () => {
    const one = await people.join({ [teamId]: 'VIEWER' });
    await test.db('users').where({ id: one.userId }).update({ auth_method: 'OIDC' });
    const two = await people.join({ [teamId]: 'VIEWER' });
    await provision(two.userId);
    for (const { userId } of [one, two]) {
      const { status, fault } = await act('resetMemberPassword', userId);
      expect(status).to.equal(412);
      expect(fault?.message).to.include('signs in at the identity provider');
    }
    expect(await people.isSignedIn(two)).to.equal(true);
  });

  it('is out of reach once they join another team, however close in time', async () => {
    const other = await people.team(root);
    for (let round = 0; round < 5; round += 1) {
      const member = await people.join({ [teamId]: 'VIEWER' });
      const [joined, reset] = await Promise.all([
        root.call('mutation', 'admin.assignToTeam', { userId: member.userId, teamId: other, role: 'ADMIN' }),
        act('resetMemberPassword', member.userId),
      ]);
      expect(joined.status).to.equal(200);
      expect(reset.status).to.be.oneOf([200, 403]);
      expect((await act('resetMemberPassword', member.userId)).status).to.equal(403);
    }
  });
});
