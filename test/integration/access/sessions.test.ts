/** What ends a session and a personal token, and what neither may become. Rights are those of this very moment. */
import { expect } from 'chai';
import type { Knex } from 'knex';
import { deleteExpiredSessions } from '../../../controller/identity/access/index.ts';
import { lockUserRow } from '../../../controller/identity/access/users/users-store.ts';
import { mintToken } from '../../../controller/platform/crypto/tokens.ts';
import { send } from '../../support/clients/http.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { whileWaiting } from '../../support/harness/lock-waiters.ts';
import { testEnvironment } from '../../support/scenes/two-teams.ts';
import {
  cookieOf,
  expectRefused,
  makeUser,
  PASSWORD,
  signIn,
  signUp,
  type TestUser,
  trySignIn,
} from '../../support/users/person.ts';

const DAY_MS = 86_400_000;

describe('a session', () => {
  const test = useController();
  let place: { teamId: string; environmentId: string };
  let users = 0;

  const join = async (role: 'VIEWER' | 'EDITOR' | 'ADMIN'): Promise<TestUser & { userId: string }> => {
    const email = `member-${++users}@example.org`;
    const userId = await makeUser(test.db, { email, teams: { [place.teamId]: role } });
    return { ...(await signIn(test.url, email)), userId };
  };
  const session = (cookie: string) => send(`${test.url}/api/auth/session`, { headers: { cookie } });
  const signOut = (cookie: string) =>
    send(`${test.url}/api/auth/sign-out`, { body: {}, headers: { cookie } });
  const statusOf = async (person: TestUser) => (await person.call('query', 'user.me')).status;
  const tryCreate = async (person: TestUser, name: string) =>
    (await person.call('mutation', 'environment.create', { name, teamId: place.teamId })).status;

  before(async () => {
    place = await testEnvironment(await test.root());
  });

  it('tells who is signed in', async () => {
    const person = await join('VIEWER');
    const answer = await session(person.cookie);
    expect(answer.status).to.equal(200);
    expect(answer.json<{ user: object }>().user).to.include({
      ...{ email: person.email, isSuperAdmin: false, owes: null },
    });
    expect((await session('')).status).to.equal(401);
  });

  it('ends with the sign-out, and the cookie is taken away', async () => {
    const person = await join('VIEWER');
    const answer = await signOut(person.cookie);
    expect(answer.status).to.equal(200);
    expect(answer.headers['set-cookie']?.[0]).to.match(
      /^headgate\.session-token=; .*expires=Thu, 01 Jan 1970/,
    );
    expect(await statusOf(person)).to.equal(401);
    expect((await signOut(person.cookie)).status, 'once more').to.equal(200);
  });

  it('ends alone: another one of the same user goes on', async () => {
    const person = await join('VIEWER');
    const other = await signIn(test.url, person.email);
    await signOut(person.cookie);
    expect(await statusOf(other)).to.equal(200);
  });

  it('ends at once when its user is locked', async () => {
    const person = await join('ADMIN');
    await test.db('users').where({ id: person.userId }).update({ locked_at: new Date() });
    expect(await statusOf(person)).to.equal(401);
    expect(await tryCreate(person, 'by a locked user')).to.equal(401);
  });

  it('ends when its time is over', async () => {
    const person = await join('VIEWER');
    await test
      .db('sessions')
      .where({ user_id: person.userId })
      .update({ expires_at: new Date(Date.now() - 1) });
    expect(await statusOf(person)).to.equal(401);
  });

  describe('that nobody uses', () => {
    const age = (person: { userId: string }, column: 'last_seen_at' | 'created_at', hours: number) =>
      test
        .db('sessions')
        .where({ user_id: person.userId })
        .update({ [column]: new Date(Date.now() - hours * 3_600_000) });

    it('ends after a day, and not before', async () => {
      const person = await join('VIEWER');
      await age(person, 'last_seen_at', 23.9);
      expect(await statusOf(person)).to.equal(200);
      expect(await statusOf(person), 'it was used').to.equal(200);
      await age(person, 'last_seen_at', 24.1);
      expect(await statusOf(person)).to.equal(401);
      await deleteExpiredSessions(test.db);
      expect(await test.db('sessions').where({ user_id: person.userId })).to.deep.equal([]);
    });

    it('ends a day after the sign-in where it was never used', async () => {
      const person = await join('VIEWER');
      await test.db('sessions').where({ user_id: person.userId }).update({ last_seen_at: null });
      await age(person, 'created_at', 24.1);
      expect(await statusOf(person)).to.equal(401);
    });

    it('is written down as used once in five minutes at most', async () => {
      const person = await join('VIEWER');
      const seen = async (): Promise<Date> =>
        (await test.db('sessions').where({ user_id: person.userId }).first()).last_seen_at;
      await statusOf(person);
      const first = await seen();
      await statusOf(person);
      expect(await seen()).to.deep.equal(first);
      await age(person, 'last_seen_at', 5.1 / 60);
      await statusOf(person);
      expect((await seen()).getTime()).to.be.closeTo(Date.now(), 60_000);
    });
  });

  it('does not end a good one when those that are over are cleared away', async () => {
    const person = await join('VIEWER');
    await deleteExpiredSessions(test.db);
    expect(await statusOf(person)).to.equal(200);
  });

  describe('in the list of its owner', () => {
    const list = (person: TestUser) =>
      person.query<{ id: string; current: boolean; userAgent: string | null; ipAddress: string }[]>(
        'user.listSessions',
      );

    it('stands beside the others of them, the newest first, and says which one asks', async () => {
      const person = await join('VIEWER');
      await join('VIEWER');
      const agent = { 'user-agent': `Browser ${'x'.repeat(400)}` };
      await trySignIn(test.url, person.email, PASSWORD, agent);
      const sessions = await list(person);
      expect(sessions.map(({ current }) => current)).to.deep.equal([false, true]);
      expect(sessions[0]?.userAgent).to.equal(agent['user-agent'].slice(0, 256));
      expect(sessions[1]).to.include({ ipAddress: '127.0.0.1', userAgent: null });
      expect(JSON.stringify(sessions)).not.to.match(/hgs_|hash/);
    });

    it('can be ended from another, by its owner and nobody else', async () => {
      const person = await join('VIEWER');
      const elsewhere = await signIn(test.url, person.email);
      const { id } = (await list(person)).find(({ current }) => !current) ?? {};
      const stranger = await join('ADMIN');
      for (const other of [stranger, await test.root()])
        expect((await other.call('mutation', 'user.endSession', { id })).status).to.equal(404);
      expect(await statusOf(elsewhere)).to.equal(200);
      await person.mutate('user.endSession', { id });
      expect(await statusOf(elsewhere)).to.equal(401);
      expect(await statusOf(person)).to.equal(200);
    });

    it('goes on alone when all others are ended', async () => {
      const person = await join('VIEWER');
      const others = [await signIn(test.url, person.email), await signIn(test.url, person.email)];
      const stranger = await join('VIEWER');
      expect(await person.mutate('user.endOtherSessions')).to.deep.equal({ ended: 2 });
      for (const other of others) expect(await statusOf(other)).to.equal(401);
      expect([await statusOf(person), await statusOf(stranger)]).to.deep.equal([200, 200]);
    });
  });

  it('has the role of this moment: a demoted user loses his rights at once', async () => {
    const person = await join('EDITOR');
    expect(await tryCreate(person, 'as editor')).to.equal(200);
    const membership = test.db('team_members').where({ user_id: person.userId });
    await membership.clone().update({ role: 'VIEWER' });
    expect(await tryCreate(person, 'as viewer')).to.equal(403);
    expect((await person.call('query', 'environment.list', { teamId: place.teamId })).status).to.equal(200);
    await membership.clone().delete();
    expect((await person.call('query', 'environment.list', { teamId: place.teamId })).status).to.equal(403);
    const get = await person.call('query', 'environment.get', { id: place.environmentId });
    expect(get.status).to.equal(404);
  });

  it('gives a super admin’s rights only while he is one', async () => {
    const person = await join('VIEWER');
    const flag = (isSuperAdmin: boolean) =>
      test.db('users').where({ id: person.userId }).update({ is_super_admin: isSuperAdmin });
    await flag(true);
    expect((await person.call('mutation', 'team.create', { name: 'By a super admin' })).status).to.equal(200);
    await flag(false);
    expect((await person.call('mutation', 'team.create', { name: 'By nobody' })).status).to.equal(403);
  });

  it('has an id of its own at each sign-in: one that was planted before is not taken over', async () => {
    const { email } = await join('VIEWER');
    const planted = `headgate.session-token=${mintToken('hgs').token}`;
    const answer = await trySignIn(test.url, email, PASSWORD, { cookie: planted });
    expect(cookieOf(answer))
      .to.match(/^headgate\.session-token=hgs_/)
      .and.not.equal(planted);
    expect((await session(planted)).status).to.equal(401);
  });

  it('ends when the same browser signs in again', async () => {
    const person = await join('VIEWER');
    const again = await trySignIn(test.url, person.email, PASSWORD, { cookie: person.cookie });
    expect(again.status).to.equal(200);
    expect((await session(cookieOf(again))).status).to.equal(200);
    expect((await session(person.cookie)).status).to.equal(401);
  });

  it('is not opened by a token of another kind, nor by the id of a real one with another secret', async () => {
    const person = await join('VIEWER');
    const { token } = await person.mutate<{ token: string }>('user.createToken', { name: 'git' });
    const [name, value = ''] = person.cookie.split(/[=;]/);
    const forged = value.replace(/[0-9a-f]{64}$/, '0'.repeat(64));
    for (const wrong of [
      token,
      token.replace('hgp', 'hgs'),
      forged,
      value.slice(0, -1),
      `${value}0`,
      '',
      '%',
    ]) {
      expect((await session(`${name}=${wrong}`)).status, wrong.slice(0, 8)).to.equal(401);
    }
  });

  it('is stored as a hash only', async () => {
    const person = await join('VIEWER');
    const secret = person.cookie.slice(-64);
    const row = await test.db('sessions').where({ user_id: person.userId }).first();
    expect(row.token_hash).to.have.length(32);
    expect(JSON.stringify(row)).not.to.include(secret);
    expect(row.token_hash.toString('hex')).not.to.equal(secret);
  });

  it('names the address of the client, and believes no X-Forwarded-For that nobody vouches for', async () => {
    const { email, userId } = await join('VIEWER');
    await trySignIn(test.url, email, PASSWORD, { 'x-forwarded-for': '203.0.113.9' });
    const rows = await test.db('sessions').where({ user_id: userId }).pluck('ip_address');
    expect(rows).to.deep.equal(['127.0.0.1', '127.0.0.1']);
  });

  it('that ends while a personal token is being created gives none', async () => {
    const person = await signUp(test, { email: 'reset@example.org' });
    const { id } = await person.query<{ id: string }>('user.me');
    const reset = {
      lock: (tx: Knex) => lockUserRow(tx, id),
      change: (tx: Knex) => tx('sessions').where({ user_id: id }).delete(),
    };
    const create = () => person.call('mutation', 'user.createToken', { name: 'laptop' });
    expectRefused(await whileWaiting(test.db, reset, create), 401);
    expect(await test.db('personal_tokens').where({ user_id: id })).to.deep.equal([]);
  });

  describe('the end of a personal token', () => {
    const root = useRoot(test);
    let person: TestUser;
    before(async () => {
      person = await signUp(test, { email: 'tokens@example.org' });
    });
    afterEach(() => root.mutate('settings.updateAccess', { tokenMaxDays: 365 }));

    const create = (expiresInDays?: number) =>
      person.call<{ id: string; token: string; expiresAt: string }>('mutation', 'user.createToken', {
        ...{ name: 'laptop', ...(expiresInDays === undefined ? {} : { expiresInDays }) },
      });
    const daysLeft = (at: string | Date | undefined) =>
      Math.round((new Date(at ?? 0).getTime() - Date.now()) / DAY_MS);
    const git = async (token: string) =>
      (
        await send(`${test.controller.cloneUrl}/info/refs?service=git-upload-pack`, {
          headers: { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` },
        })
      ).status;

    it('is 90 days away unless given', async () => {
      expect(daysLeft((await create()).output?.expiresAt)).to.equal(90);
      expect(daysLeft((await create(7)).output?.expiresAt)).to.equal(7);
    });

    it('is a year away at most, or what the setting says, which the owner is told', async () => {
      expectRefused(await create(366), 400, 'at most 365 days');
      await root.mutate('settings.updateAccess', { tokenMaxDays: 30 });
      expect(daysLeft((await create()).output?.expiresAt)).to.equal(30);
      expect((await create(31)).status).to.equal(400);
      expect(await person.query('user.me')).to.include({ tokenMaxDays: 30 });
      await root.mutate('settings.updateAccess', { tokenMaxDays: 3_650 });
      expect(daysLeft((await create(3_650)).output?.expiresAt)).to.equal(3_650);
    });

    it('comes nearer for those that there are, when the setting does; never further away', async () => {
      const [long, short] = [(await create(300)).output?.id, (await create(5)).output?.id];
      await root.mutate('settings.updateAccess', { tokenMaxDays: 60 });
      await root.mutate('settings.updateAccess', { tokenMaxDays: 365 });
      const list = await person.query<{ id: string; expiresAt: string }[]>('user.listTokens');
      const left = (id?: string) => daysLeft(list.find((token) => token.id === id)?.expiresAt);
      expect([left(long), left(short)]).to.deep.equal([60, 5]);
      const row = await test
        .db('audit_log')
        .where({ action: 'settings.accessUpdated' })
        .whereRaw("diff->'tokenMaxDays' = '[365, 60]'")
        .first('metadata');
      expect(row.metadata.tokensShortened).to.be.greaterThan(0);
    });

    it('is there too for one that an older controller made without', async () => {
      const { id, token } = (await create()).output ?? { id: '', token: '' };
      await test.db('personal_tokens').where({ id }).update({ expires_at: null });
      expect(await git(token)).not.to.equal(401);
      const list = await person.query<{ id: string; expiresAt: string }[]>('user.listTokens');
      expect(daysLeft(list.find((one) => one.id === id)?.expiresAt)).to.equal(90);
      await test
        .db('personal_tokens')
        .where({ id })
        .update({ created_at: new Date(Date.now() - 91 * DAY_MS) });
      expect(await git(token)).to.equal(401);
    });

    it('is for super admins to say, within bounds', async () => {
      expect((await person.call('mutation', 'settings.updateAccess', { tokenMaxDays: 5 })).status).to.equal(
        403,
      );
      for (const tokenMaxDays of [0, 3_651, 1.5, '5'])
        expect((await root.call('mutation', 'settings.updateAccess', { tokenMaxDays })).status).to.equal(400);
    });
  });
});
