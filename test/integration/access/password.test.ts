/** Changing one's password: what it takes, what ends with it, and that nobody else gets to do it. */
import { expect } from 'chai';
import { createTemporaryPassword, setTemporaryPassword } from '../../../controller/identity/access/index.ts';
import { useController } from '../../support/harness/controller.ts';
import { refusal } from '../../support/scenes/places.ts';
import { makeUser, PASSWORD, signIn, type TestUser, trySignIn } from '../../support/users/person.ts';

const NEW = 'four words of no kin';

describe('changing a password', () => {
  const test = useController();
  let users = 0;

  const join = async (): Promise<TestUser & { id: string }> => {
    const email = `changing-${++users}@example.org`;
    const id = await makeUser(test.db, { email });
    return { ...(await signIn(test.url, email)), id };
  };
  const change = (person: TestUser, currentPassword: string, newPassword: string) =>
    refusal(person, 'mutation', 'user.changePassword', { currentPassword, newPassword });
  const statusOf = async (person: TestUser) => (await person.call('query', 'user.me')).status;
  const row = (id: string) => test.db('users').where({ id }).first();

  it('ends the old password and every other session; this one goes on', async () => {
    const person = await join();
    const elsewhere = await signIn(test.url, person.email);
    expect(await change(person, PASSWORD, NEW)).to.equal('OK');
    expect(await statusOf(person)).to.equal(200);
    expect(await statusOf(elsewhere)).to.equal(401);
    expect((await trySignIn(test.url, person.email, PASSWORD)).status).to.equal(401);
    expect((await trySignIn(test.url, person.email, NEW)).status).to.equal(200);
    const me = await person.query<{ passwordChangedAt: string | null }>('user.me');
    expect(Date.parse(me.passwordChangedAt ?? '')).to.be.closeTo(Date.now(), 60_000);
  });

  it('takes the current one', async () => {
    const person = await join();
    expect(await change(person, 'wrong', NEW)).to.equal('BAD_REQUEST: The current password is wrong');
    expect((await trySignIn(test.url, person.email, PASSWORD)).status).to.equal(200);
  });

  it('counts wrong ones by session: whoever finds a page open has ten guesses, and keeps nobody from signing in', async () => {
    const person = await join();
    await change(person, 'wrong', NEW);
    const { id } = await test.db('sessions').where({ user_id: person.id }).first('id');
    const key = `session:${id}`;
    expect((await test.db('sign_in_throttles').where({ key }).first()).failures).to.equal(1);
    await test.db('sign_in_throttles').where({ key }).update({ failures: 9 });
    expect(await change(person, 'wrong', NEW)).to.match(/^BAD_REQUEST/);
    expect(await change(person, PASSWORD, NEW)).to.match(/^TOO_MANY_REQUESTS: .*15 minutes/);
    expect((await trySignIn(test.url, person.email, PASSWORD)).status).to.equal(200);
  });

  it('is not hindered by strangers who guess at the account', async () => {
    const person = await join();
    await trySignIn(test.url, person.email, 'wrong');
    await test
      .db('sign_in_throttles')
      .where({ key: `account:${person.email}` })
      .update({ failures: 9 });
    await trySignIn(test.url, person.email, 'wrong');
    expect((await trySignIn(test.url, person.email, PASSWORD)).status).to.equal(429);
    expect(await change(person, PASSWORD, NEW)).to.equal('OK');
  });

  it('does not count right ones, whatever is wrong with the new one', async () => {
    const person = await join();
    await change(person, PASSWORD, 'iloveyou');
    const { id } = await test.db('sessions').where({ user_id: person.id }).first('id');
    const { failures } = await test
      .db('sign_in_throttles')
      .where({ key: `session:${id}` })
      .first();
    expect(failures).to.equal(0);
  });

  const BAD: { reason: string; password: string; says: RegExp }[] = [
    { reason: 'seven characters', password: 'seven77', says: /newPassword/ },
    { reason: 'one of the most common', password: 'Password1', says: /most common.*Choose another/ },
    { reason: 'the address', password: '', says: /name or address/ },
    { reason: 'the one that there is', password: PASSWORD, says: /is the same as the current one/ },
  ];
  for (const { reason, password, says } of BAD)
    it(`refuses ${reason}, and changes nothing`, async () => {
      const person = await join();
      const given = reason === 'the address' ? person.email : password;
      expect(await change(person, PASSWORD, given))
        .to.match(/^BAD_REQUEST/)
        .and.match(says);
      expect((await row(person.id)).password_changed_at).to.equal(null);
    });

  it('leaves a row in the audit log, of failures too, and no password anywhere', async () => {
    const person = await join();
    await change(person, 'wrong-of-the-test', NEW);
    await change(person, PASSWORD, NEW);
    const rows = await test.db('audit_log').where({ entity_id: person.id }).orderBy('created_at');
    expect(rows.map(({ action }) => action)).to.deep.equal([
      'user.signedIn',
      'user.confirmationFailed',
      'user.passwordChanged',
    ]);
    const all = JSON.stringify(await test.db('audit_log')) + test.log();
    for (const secret of [PASSWORD, NEW, 'wrong-of-the-test', 'argon2id']) expect(all).not.to.include(secret);
  });

  it('happens once where ten ask at once', async () => {
    const person = await join();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => change(person, PASSWORD, `${NEW} ${n}`)),
    );
    expect(answers.filter((one) => one === 'OK')).to.have.length(1);
    for (const one of answers)
      expect(one).to.match(/^(OK|CONFLICT: .*sign in again|BAD_REQUEST: The current)/);
    const winner = answers.indexOf('OK');
    expect((await trySignIn(test.url, person.email, `${NEW} ${winner}`)).status).to.equal(200);
  });

  it('does not let in who signs in by the old one at the same moment', async () => {
    const person = await join();
    const [changed, ...attempts] = await Promise.all([
      change(person, PASSWORD, NEW),
      ...Array.from({ length: 5 }, () => trySignIn(test.url, person.email, PASSWORD)),
    ]);
    expect(changed).to.equal('OK');
    const sessions = await test.db('sessions').where({ user_id: person.id });
    expect(sessions.length, JSON.stringify(attempts.map(({ status }) => status))).to.equal(1);
  });

  it('is not for an account without a password', async () => {
    const person = await join();
    await test.db('users').where({ id: person.id }).update({ password_hash: null, auth_method: 'OIDC' });
    expect(await change(person, PASSWORD, NEW)).to.match(/^PRECONDITION_FAILED: .*identity provider/);
  });

  describe('that somebody else has made', () => {
    const newcomer = async () => {
      const email = `newcomer-${++users}@example.org`;
      const id = await makeUser(test.db, { email });
      const temporary = await createTemporaryPassword(test.controller.systemContext('test'));
      await setTemporaryPassword(test.db, id, temporary);
      return { ...(await signIn(test.url, email, temporary.password)), id, password: temporary.password };
    };

    it('comes before anything else, and then all is open', async () => {
      const person = await newcomer();
      const { status, fault } = await person.call('query', 'team.list');
      expect(status).to.equal(403);
      expect(fault?.data.owes).to.equal('CHANGE_PASSWORD');
      expect(await person.query<object>('user.me')).to.include({ owes: 'CHANGE_PASSWORD' });
      expect(await change(person, person.password, NEW)).to.equal('OK');
      expect(await statusOf(person)).to.equal(200);
      expect((await person.call('query', 'team.list')).status).to.equal(200);
      const { must_change_password, password_expires_at } = await row(person.id);
      expect([must_change_password, password_expires_at]).to.deep.equal([false, null]);
    });

    it('may not be kept', async () => {
      const person = await newcomer();
      expect(await change(person, person.password, person.password)).to.match(
        /^BAD_REQUEST: .*Choose another/,
      );
    });

    it('is of no use once it was changed', async () => {
      const person = await newcomer();
      await change(person, person.password, NEW);
      expect((await trySignIn(test.url, person.email, person.password)).status).to.equal(401);
    });
  });
});
