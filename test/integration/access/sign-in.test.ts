/** Signing in: what gets in, what does not, and how little the answer tells. */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { expect } from 'chai';
import { setTemporaryPassword } from '../../../controller/identity/access/index.ts';
import { createPasswords } from '../../../controller/identity/access/sign-in/passwords.ts';
import { send } from '../../support/clients/http.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { CHEAP, cheapPasswords } from '../../support/users/passwords.ts';
import { makeUser, PASSWORD, trySignIn as tryFrom } from '../../support/users/person.ts';

describe('sign-in', () => {
  const test = useController({ trustedProxies: ['127.0.0.1'] });
  let users = 0;
  const newUser = async () => {
    const email = `user-${++users}@example.org`;
    return { email, id: await makeUser(test.db, { email }) };
  };
  /** Each account from an address of its own, so that the limit of an address stays out of it. */
  const trySignIn = (url: string, email: string, password: string) =>
    tryFrom(url, email, password, { 'x-forwarded-for': `10.0.0.${users}` });
  /** As fifteen minutes later. */
  const unblock = (email: string) =>
    test
      .db('sign_in_throttles')
      .where({ key: `account:${email}` })
      .update({ blocked_until: new Date(Date.now() - 1) });
  const tryWrong = (email: string) => trySignIn(test.url, email, 'wrong');

  it('answers with the user and a cookie, and nothing of the session in the body', async () => {
    const { email, id } = await newUser();
    const answer = await trySignIn(test.url, email, PASSWORD);
    expect(answer.status).to.equal(200);
    expect(answer.json()).to.deep.equal({
      user: { id, email, name: email.split('@')[0], isSuperAdmin: false, owes: null },
    });
    expect(answer.headers['cache-control']).to.equal('no-store');
    const [cookie = '', device = '', ...others] = answer.headers['set-cookie'] ?? [];
    expect(others).to.deep.equal([]);
    expect(device).to.match(/^headgate\.known-device=/);
    const [pair = '', ...attributes] = cookie.split('; ');
    expect(pair).to.match(/^headgate\.session-token=hgs_[0-9a-z]{26}_[0-9a-f]{64}$/);
    const names = attributes.map((attribute) => attribute.replace(/^expires=.*/, 'expires'));
    expect(names.sort()).to.deep.equal(['expires', 'httponly', 'path=/', 'samesite=lax']);
  });

  it('takes the email in any case, and the password in its own only', async () => {
    const { email } = await newUser();
    expect((await trySignIn(test.url, email.toUpperCase(), PASSWORD)).status).to.equal(200);
    expect((await trySignIn(test.url, email, PASSWORD.toUpperCase())).status).to.equal(401);
  });

  it('says the same to an unknown user and to a wrong password', async () => {
    const { email } = await newUser();
    const wrong = await tryWrong(email);
    const unknown = await tryWrong('nobody@example.org');
    expect(wrong.status).to.equal(401);
    expect(unknown.status).to.equal(401);
    expect(wrong.json()).to.deep.equal({ error: 'Email or password is wrong' });
    expect(unknown.text).to.equal(wrong.text);
    const shape = (answer: typeof wrong) => Object.keys(answer.headers).sort();
    expect(shape(unknown)).to.deep.equal(shape(wrong));
    expect(unknown.headers['set-cookie']).to.equal(undefined);
  });

  it('hashes the same for an unknown user as for a wrong password, so that the time tells nothing', async () => {
    const { email } = await newUser();
    const { argon2 } = crypto;
    let hashed: unknown[] = [];
    const noting = (...given: Parameters<typeof argon2>): void => {
      const [, { memory, passes, parallelism, tagLength }] = given;
      hashed.push({ memory, passes, parallelism, tagLength });
      argon2(...given);
    };
    crypto.argon2 = noting as typeof argon2;
    syncBuiltinESMExports();
    try {
      await tryWrong(email);
      const known = hashed;
      hashed = [];
      await tryWrong('nobody@example.org');
      expect(known).to.have.length(1);
      expect(hashed).to.deep.equal(known);
    } finally {
      crypto.argon2 = argon2;
      syncBuiltinESMExports();
    }
  });

  it('answers 400 to what is no address and password', async () => {
    for (const body of [
      ...[{ email: 'a@b.c' }, { email: 'a@b.c', password: '' }, { email: 'a@b.c', password: { $gt: '' } }],
      ...[
        { email: 'a@b.c', password: 'x'.repeat(2_000) },
        { email: 'a\0@b.c', password: 'x' },
      ],
      ...[{ email: 'a@b.c', password: 'x', isSuperAdmin: true }, null, []],
    ]) {
      const text = JSON.stringify(body);
      const headers = { 'content-type': 'application/json' };
      const answer = await send(`${test.url}/api/auth/sign-in`, { method: 'POST', headers, body: text });
      expect(answer.status, text).to.equal(400);
      expect(answer.json().error).to.be.a('string');
    }
  });

  describe('after ten failures', () => {
    it('answers 429 with the time to wait, even to the right password, and 200 once it has passed', async () => {
      const { email } = await newUser();
      for (let failure = 0; failure < 10; failure += 1) {
        expect((await tryWrong(email)).status, `failure ${failure + 1}`).to.equal(401);
      }
      const throttled = await trySignIn(test.url, email, PASSWORD);
      expect(throttled.status).to.equal(429);
      expect(Number(throttled.headers['retry-after'])).to.be.within(890, 900);
      expect(throttled.json().error).to.include('15 minutes');
      await unblock(email);
      expect((await trySignIn(test.url, email, PASSWORD)).status).to.equal(200);
    });

    it('says and does the same of an account that does not exist', async () => {
      const { email } = await newUser();
      const told: string[] = [];
      for (const address of [email, `nobody-${users}@example.org`]) {
        for (let failure = 0; failure < 10; failure += 1) await tryWrong(address);
        const { status, text, headers } = await tryWrong(address);
        told.push(`${status} ${text} ${Object.keys(headers).sort()}`);
      }
      expect(told[0]).to.include('429');
      expect(told[1]).to.equal(told[0]);
    });

    it('throttles that account alone', async () => {
      const { email } = await newUser();
      const other = await newUser();
      for (let failure = 0; failure < 10; failure += 1) await tryWrong(email);
      expect((await trySignIn(test.url, other.email, PASSWORD)).status).to.equal(200);
    });

    it('counts anew after a success', async () => {
      const { email } = await newUser();
      for (let failure = 0; failure < 9; failure += 1) await tryWrong(email);
      expect((await trySignIn(test.url, email, PASSWORD)).status).to.equal(200);
      for (let failure = 0; failure < 9; failure += 1) expect((await tryWrong(email)).status).to.equal(401);
    });
  });

  it('looks at ten guesses and no more, though thirty come at the same moment', async () => {
    const { email } = await newUser();
    const answers = await Promise.all(Array.from({ length: 30 }, () => tryWrong(email)));
    const looked = answers.filter((answer) => answer.status === 401).length;
    expect(looked).to.equal(10);
    expect(answers.filter((answer) => answer.status === 429).length).to.equal(20);
  });

  it('takes a password to its last character: the 73rd makes another one', async () => {
    const { email, id } = await newUser();
    const long = 'correct horse battery '.repeat(4).slice(0, 72);
    await test
      .db('users')
      .where({ id })
      .update({ password_hash: await cheapPasswords.hash(long) });
    expect((await trySignIn(test.url, email, `${long}x`)).status).to.equal(401);
    expect((await trySignIn(test.url, email, long.slice(0, 71))).status).to.equal(401);
    expect((await trySignIn(test.url, email, long)).status).to.equal(200);
  });

  it('makes a hash anew that is weaker than those of today, once, and takes the password as before', async () => {
    const { email, id } = await newUser();
    const stored = async () => (await test.db('users').where({ id }).first('password_hash')).password_hash;
    const old = await createPasswords({ ...CHEAP, memory: CHEAP.memory / 2 }).hash(PASSWORD);
    await test.db('users').where({ id }).update({ password_hash: old });
    const answers = await Promise.all([1, 2, 3].map(() => trySignIn(test.url, email, PASSWORD)));
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    const better = await stored();
    expect(better).to.match(/^\$argon2id\$v=19\$m=64,t=1,p=1\$/);
    expect((await trySignIn(test.url, email, PASSWORD)).status).to.equal(200);
    expect(await stored(), 'not made anew').to.equal(better);
  });

  describe('of an account that changes between the look at its password and the session', () => {
    const CHANGES: [reason: string, change: object, answer: object][] = [
      ['another password', { password_hash: 'another' }, { error: 'Email or password is wrong' }],
      ['a lock', { locked_at: new Date(), locked_by: 'admin' }, { error: 'Email or password is wrong' }],
      [
        'a second factor',
        { totp_enabled: true },
        {
          error: 'Enter the code of your authenticator, or a backup code',
          code: 'TOTP_REQUIRED',
        },
      ],
    ];
    const waitsForALock = async () => {
      const { rows } = await test.db.raw(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    };
    for (const [reason, change, answer] of CHANGES)
      it(`looks again: ${reason}`, async () => {
        const { email, id } = await newUser();
        const tx = await test.db.transaction();
        await tx('users').where({ id }).forUpdate().first();
        const attempt = trySignIn(test.url, email, PASSWORD);
        await until(waitsForALock, { what: 'the sign-in to wait for the account' });
        await tx('users').where({ id }).update(change);
        await tx.commit();
        const { status, headers, json } = await attempt;
        expect([status, headers['set-cookie']]).to.deep.equal([401, undefined]);
        expect(json()).to.deep.equal(answer);
        expect(await test.db('sessions').where({ user_id: id })).to.deep.equal([]);
      });
  });

  describe('by a temporary password', () => {
    const newcomer = async (expiresAt: Date) => {
      const { email, id } = await newUser();
      await setTemporaryPassword(test.db, id, {
        passwordHash: await cheapPasswords.hash(PASSWORD),
        expiresAt,
      });
      return email;
    };
    const SOON = () => new Date(Date.now() + 60_000);

    it('gets in, and is told that the password is to be changed', async () => {
      const answer = await trySignIn(test.url, await newcomer(SOON()), PASSWORD);
      expect(answer.status).to.equal(200);
      expect(answer.json<{ user: object }>().user).to.include({ owes: 'CHANGE_PASSWORD' });
    });

    it('is refused in the words of a wrong one once it has expired', async () => {
      const answer = await trySignIn(test.url, await newcomer(new Date(Date.now() - 1)), PASSWORD);
      expect(answer.status).to.equal(401);
      expect(answer.json()).to.deep.equal({ error: 'Email or password is wrong' });
    });
  });

  it('refuses a locked user in the words of a wrong password', async () => {
    const { email, id } = await newUser();
    await test.db('users').where({ id }).update({ locked_at: new Date() });
    const answer = await trySignIn(test.url, email, PASSWORD);
    expect(answer.status).to.equal(401);
    expect(answer.json()).to.deep.equal({ error: 'Email or password is wrong' });
  });

  it('leaves a row in the audit log for each success and failure', async () => {
    const { email, id } = await newUser();
    await tryWrong(email);
    await trySignIn(test.url, email, PASSWORD);
    const rows = await test.db('audit_log').where({ entity_id: id }).orderBy('created_at').select('*');
    expect(rows.map((row) => row.action)).to.deep.equal(['user.signInFailed', 'user.signedIn']);
    expect(JSON.stringify(rows)).not.to.include(PASSWORD);
    expect(test.log()).not.to.include(PASSWORD);
  });

  it('stops an address after sixty attempts a minute, whoever they are for', async () => {
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 61; attempt += 1) {
      // Too short to reach the password check: only the count matters here.
      const answer = await send(`${test.url}/api/auth/sign-in`, {
        ...{ body: { email: `u${attempt}@x.org` }, headers: { 'x-forwarded-for': '198.51.100.60' } },
      });
      statuses.push(answer.status);
      if (answer.status === 429) expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
    }
    expect(statuses.indexOf(429)).to.equal(60);
  });
});
