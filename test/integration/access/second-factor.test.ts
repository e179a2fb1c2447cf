/** Two-factor sign-in: setting it up, signing in with it, each code once, and getting rid of it. */
import { expect } from 'chai';
import { signIn as signInBy } from '../../../controller/identity/access/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import type { DomainError } from '../../../controller/platform/operation/errors.ts';
import { type ManualClock, manualClock } from '../../../reconcilers/loops/clock.ts';
import { send } from '../../support/clients/http.ts';
import { useController } from '../../support/harness/controller.ts';
import { refusal } from '../../support/scenes/places.ts';
import { codeOf, type Enrolled, enrollAuthenticator, STEP_MS } from '../../support/users/authenticator.ts';
import { makeUser, PASSWORD, signIn, type TestUser } from '../../support/users/person.ts';

describe('two-factor sign-in', () => {
  const test = useController({ trustedProxies: ['127.0.0.1'] });
  let teamId: string;
  let users = 0;

  const join = async (teams: Parameters<typeof makeUser>[1]['teams'] = {}) => {
    const email = `careful-${++users}@example.org`;
    const id = await makeUser(test.db, { email, teams });
    return { ...(await signIn(test.url, email)), id };
  };
  const enrolled = async () => {
    const person = await join();
    return { person, ...(await enrollAuthenticator(person)) };
  };
  /** Each account from an address of its own, so that the limit of an address stays out of it. */
  const trySignIn = (email: string, totp?: string, password = PASSWORD) =>
    send(`${test.url}/api/auth/sign-in`, {
      headers: { 'x-forwarded-for': `10.4.0.${users}` },
      body: { email, password, ...(totp === undefined ? {} : { totp }) },
    });
  const statusWith = async (person: TestUser, totp?: string) => (await trySignIn(person.email, totp)).status;
  const failuresOf = async ({ email }: TestUser): Promise<number> =>
    (
      await test
        .db('sign_in_throttles')
        .where({ key: `account:${email}` })
        .first()
    )?.failures ?? 0;
  const turnOff = (person: TestUser, code: string) =>
    refusal(person, 'mutation', 'user.disableTotp', { code });
  const requireIt = (on: boolean) =>
    test.db('teams').where({ id: teamId }).update({ require_two_factor: on });

  before(async () => {
    const root = await test.root();
    teamId = (await root.mutate<{ id: string }>('team.create', { name: 'Payments' })).id;
  });

  it('is in force only once a code was given, and ends the other sessions then', async () => {
    const person = await join();
    const elsewhere = await signIn(test.url, person.email);
    const { secret, uri, backupCodes } = await person.mutate<Enrolled & { uri: string }>('user.setupTotp');
    expect(uri).to.include(`secret=${secret}`);
    expect(backupCodes).to.have.length(10);
    expect(await person.query<object>('user.me')).to.include({ twoFactorEnabled: false, backupCodesLeft: 0 });
    expect(await statusWith(person), 'not in force yet').to.equal(200);
    const wrong = await refusal(person, 'mutation', 'user.verifyAndEnableTotp', { code: '000000' });
    expect(wrong).to.match(/^BAD_REQUEST: The code is wrong.*clock/);
    await person.mutate('user.verifyAndEnableTotp', { code: codeOf(secret) });
    expect(await person.query<object>('user.me')).to.include({ twoFactorEnabled: true, backupCodesLeft: 10 });
    expect((await elsewhere.call('query', 'user.me')).status).to.equal(401);
  });

  it('begins anew with another secret, and the one before is of no use', async () => {
    const person = await join();
    const first = await person.mutate<Enrolled>('user.setupTotp');
    const second = await person.mutate<Enrolled>('user.setupTotp');
    const verify = (secret: string) =>
      refusal(person, 'mutation', 'user.verifyAndEnableTotp', { code: codeOf(secret) });
    expect(await verify(first.secret)).to.match(/^BAD_REQUEST/);
    expect(await verify(second.secret)).to.equal('OK');
    expect(await statusWith(person, first.backupCodes[0])).to.equal(401);
    expect(await statusWith(person, second.backupCodes[0])).to.equal(200);
  });

  it('cannot be set up while it is on, nor turned on without a secret, nor off where it is off', async () => {
    const { person, secret } = await enrolled();
    const call = (name: string, input?: object) => refusal(person, 'mutation', name, input);
    expect(await call('user.setupTotp')).to.match(/^PRECONDITION_FAILED: .*turn it off first/);
    expect(await call('user.verifyAndEnableTotp', { code: codeOf(secret) })).to.match(/^PRECONDITION_FAILED/);
    const plain = await join();
    for (const name of ['user.verifyAndEnableTotp', 'user.disableTotp', 'user.renewBackupCodes'])
      expect(await refusal(plain, 'mutation', name, { code: '123456' }), name).to.match(
        /^PRECONDITION_FAILED/,
      );
  });

  it('is not for an account without a password', async () => {
    const person = await join();
    await test.db('users').where({ id: person.id }).update({ password_hash: null });
    expect(await refusal(person, 'mutation', 'user.setupTotp')).to.match(
      /^PRECONDITION_FAILED: .*identity provider/,
    );
  });

  describe('where the last sign-in was more than ten minutes ago', () => {
    const signedInAgo = (person: { id: string }, minutes: number | null) =>
      test
        .db('sessions')
        .where({ user_id: person.id })
        .update({ confirmed_at: minutes === null ? null : new Date(Date.now() - minutes * 60_000) });
    const setUp = (person: TestUser) => person.call('mutation', 'user.setupTotp');
    const confirm = (person: TestUser, currentPassword: string) =>
      refusal(person, 'mutation', 'user.confirmPassword', { currentPassword });

    for (const { reason, minutes } of [
      { reason: 'eleven minutes ago', minutes: 11 },
      { reason: 'before this was stored', minutes: null },
    ]) {
      it(`asks for the password before it shows a secret: ${reason}`, async () => {
        const person = await join();
        await signedInAgo(person, minutes);
        const { fault } = await setUp(person);
        expect(fault?.data).to.include({ code: 'PRECONDITION_FAILED', confirmWith: 'user.confirmPassword' });
        expect(fault?.message).to.match(/^Confirm your password first/);
        const user = await test.db('users').where({ id: person.id }).first('sealed_totp_secret');
        expect(user.sealed_totp_secret).to.equal(null);
        expect(await confirm(person, 'wrong')).to.equal('BAD_REQUEST: The current password is wrong');
        expect((await setUp(person)).status).to.equal(412);
        expect(await confirm(person, PASSWORD)).to.equal('OK');
        expect((await setUp(person)).status).to.equal(200);
      });
    }

    it('takes what was confirmed in this session alone', async () => {
      const person = await join();
      const elsewhere = await signIn(test.url, person.email);
      await signedInAgo(person, 11);
      expect(await confirm(elsewhere, PASSWORD)).to.equal('OK');
      expect((await setUp(person)).status).to.equal(412);
      expect((await setUp(elsewhere)).status).to.equal(200);
    });

    it('counts guesses in that session, which are none of a sign-in', async () => {
      const person = await join();
      await confirm(person, 'wrong');
      await test.db('sign_in_throttles').where('key', 'like', 'session:%').update({ failures: 9 });
      expect(await confirm(person, 'wrong')).to.match(/^BAD_REQUEST/);
      expect(await confirm(person, PASSWORD)).to.match(/^TOO_MANY_REQUESTS: .*in this session.*15 minutes/);
      expect(await statusWith(person)).to.equal(200);
    });

    it('is told in the audit log, right or wrong, without the password', async () => {
      const person = await join();
      await confirm(person, 'wrong');
      await confirm(person, PASSWORD);
      const rows = await test.db('audit_log').where({ user_id: person.id }).orderBy('id').pluck('action');
      expect(rows.slice(-2)).to.deep.equal(['user.confirmationFailed', 'user.passwordConfirmed']);
    });
  });

  describe('asks at sign-in for a code', () => {
    it('after the right password only, and that is no failure', async () => {
      const { person } = await enrolled();
      const missing = await trySignIn(person.email);
      expect(missing.status).to.equal(401);
      expect(missing.json()).to.include({ code: 'TOTP_REQUIRED' });
      expect(missing.headers['set-cookie']).to.equal(undefined);
      expect(await failuresOf(person)).to.equal(0);
      const wrong = await trySignIn(person.email, undefined, 'wrong');
      expect(wrong.json()).to.deep.equal({ error: 'Email or password is wrong' });
      const both = await trySignIn(person.email, codeOf('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'), 'wrong');
      expect(both.text).to.equal(wrong.text);
    });

    it('and counts a wrong one as a failure: ten, and the account is closed for a while', async () => {
      const { person, secret } = await enrolled();
      const answer = await trySignIn(person.email, '000000');
      expect(answer.status).to.equal(401);
      expect(answer.json()).to.have.all.keys('error');
      expect(await failuresOf(person)).to.equal(1);
      await test
        .db('sign_in_throttles')
        .where({ key: `account:${person.email}` })
        .update({ failures: 9 });
      expect(await statusWith(person), 'without one').to.equal(401);
      expect(await failuresOf(person)).to.equal(9);
      expect(await statusWith(person, '000001')).to.equal(401);
      expect(await statusWith(person, codeOf(secret))).to.equal(429);
    });

    it('and takes it once', async () => {
      const { person, secret } = await enrolled();
      const code = codeOf(secret);
      expect(await statusWith(person, code)).to.equal(200);
      expect(await statusWith(person, code)).to.equal(401);
    });

    it('and takes it once though nine come with it at the same moment', async () => {
      const { person, secret, backupCodes } = await enrolled();
      for (const code of [codeOf(secret), backupCodes[3] ?? '']) {
        const statuses = await Promise.all(Array.from({ length: 9 }, () => statusWith(person, code)));
        expect(
          statuses.filter((status) => status === 200),
          statuses.join(),
        ).to.have.length(1);
        expect(statuses.filter((status) => status === 401)).to.have.length(8);
      }
    });

    it('and does not take the one that turned it on', async () => {
      const person = await join();
      const { secret } = await person.mutate<Enrolled>('user.setupTotp');
      const code = codeOf(secret);
      await person.mutate('user.verifyAndEnableTotp', { code });
      expect(await statusWith(person, code)).to.equal(401);
    });

    it('or a backup code, once, in any spelling', async () => {
      const { person, backupCodes } = await enrolled();
      const [first = '', second = ''] = backupCodes;
      expect(await statusWith(person, first.replaceAll('-', '').toUpperCase())).to.equal(200);
      expect(await statusWith(person, first)).to.equal(401);
      expect(await statusWith(person, second.replaceAll('-', ' '))).to.equal(200);
      expect(await person.query<object>('user.me')).to.include({ backupCodesLeft: 8 });
    });

    it('and not for somebody else’s', async () => {
      const [one, other] = [await enrolled(), await enrolled()];
      expect(await statusWith(one.person, codeOf(other.secret))).to.equal(401);
      expect(await statusWith(one.person, other.backupCodes[0])).to.equal(401);
    });
  });

  describe('on a clock that is moved by hand', () => {
    let clock: ManualClock;
    const enter = (person: TestUser, totp: string): Promise<string> => {
      const ctx: Context = { ...test.controller.systemContext('test'), clock };
      return signInBy(ctx, { email: person.email, password: PASSWORD, totp }, { userAgent: null }).then(
        () => 'in',
        (error: DomainError) => error.code,
      );
    };
    const at = (secret: string, steps: number) => codeOf(secret, { now: clock.now(), steps });

    it('takes the codes of the step before and after, and of no other', async () => {
      const { person, secret } = await enrolled();
      clock = manualClock(Date.now() + 10 * STEP_MS);
      for (const steps of [-2, 2]) expect(await enter(person, at(secret, steps))).to.equal('UNAUTHORIZED');
      for (const steps of [-1, 0, 1]) expect(await enter(person, at(secret, steps))).to.equal('in');
    });

    it('takes none that is older than the last that was taken', async () => {
      const { person, secret } = await enrolled();
      clock = manualClock(Date.now() + 10 * STEP_MS);
      expect(await enter(person, at(secret, 1))).to.equal('in');
      for (const steps of [-1, 0, 1]) expect(await enter(person, at(secret, steps))).to.equal('UNAUTHORIZED');
      clock.advance(STEP_MS);
      expect(await enter(person, at(secret, 1))).to.equal('in');
    });
  });

  it('is turned off by a code or a backup code, the other sessions end, and nothing is left of it', async () => {
    for (const by of ['totp', 'backup_code'] as const) {
      const { person, secret, backupCodes } = await enrolled();
      const cookie = (await trySignIn(person.email, backupCodes[0])).headers['set-cookie']?.[0]?.split(
        ';',
      )[0];
      expect(await turnOff(person, '000000')).to.match(/^BAD_REQUEST: The code is wrong/);
      expect(await turnOff(person, by === 'totp' ? codeOf(secret) : (backupCodes[1] ?? ''))).to.equal('OK');
      const session = await send(`${test.url}/api/auth/session`, { headers: { cookie } });
      expect(session.status).to.equal(401);
      expect(await statusWith(person)).to.equal(200);
      const row = await test.db('users').where({ id: person.id }).first();
      expect([row.totp_enabled, row.sealed_totp_secret, row.totp_last_step]).to.deep.equal([
        false,
        null,
        null,
      ]);
      expect(await test.db('totp_backup_codes').where({ user_id: person.id })).to.deep.equal([]);
      const { metadata, diff } = await test
        .db('audit_log')
        .where({ entity_id: person.id, action: 'user.twoFactorDisabled' })
        .first();
      expect(metadata.factor).to.equal(by);
      expect(diff).to.deep.equal({ twoFactorEnabled: [true, false] });
    }
  });

  it('counts wrong codes of who is signed in by session', async () => {
    const { person, backupCodes } = await enrolled();
    await turnOff(person, '000000');
    await refusal(person, 'mutation', 'user.renewBackupCodes', { code: '000001' });
    const { id } = await test.db('sessions').where({ user_id: person.id }).first('id');
    const counted = test.db('sign_in_throttles').where({ key: `session:${id}` });
    expect((await counted.clone().first()).failures).to.equal(2);
    await counted.clone().update({ failures: 9 });
    expect(await turnOff(person, '000002')).to.match(/^BAD_REQUEST/);
    expect(await turnOff(person, backupCodes[0] ?? '')).to.match(/^TOO_MANY_REQUESTS/);
  });

  it('gives ten new backup codes for a code, and the old ones end', async () => {
    const { person, backupCodes } = await enrolled();
    const renew = (code: string) =>
      person.call<{ backupCodes: string[] }>('mutation', 'user.renewBackupCodes', { code });
    const { output } = await renew(backupCodes[0] ?? '');
    expect(output?.backupCodes).to.have.length(10);
    expect((await renew(backupCodes[1] ?? '')).status).to.equal(400);
    expect(await statusWith(person, output?.backupCodes[9])).to.equal(200);
  });

  it('keeps the secret sealed and codes as hashes, and tells neither log nor audit', async () => {
    const { person, secret, backupCodes } = await enrolled();
    await trySignIn(person.email, backupCodes[0]);
    const row = await test.db('users').where({ id: person.id }).first();
    expect(row.sealed_totp_secret).to.match(/^v1\./);
    const codes = await test.db('totp_backup_codes').where({ user_id: person.id });
    for (const { code_hash } of codes) expect(code_hash).to.have.length(32);
    const all = JSON.stringify([row, codes, await test.db('audit_log')]) + test.log();
    for (const text of [secret, ...backupCodes, ...backupCodes.map((code) => code.replaceAll('-', ''))])
      expect(all).not.to.include(text);
  });

  describe('that a team requires', () => {
    afterEach(() => requireIt(false));

    it('comes before anything else, from the moment on that it is required', async () => {
      const person = await join({ [teamId]: 'EDITOR' });
      expect((await person.call('query', 'team.list')).status).to.equal(200);
      await requireIt(true);
      const { status, fault } = await person.call('query', 'team.list');
      expect([status, fault?.data.owes]).to.deep.equal([403, 'SET_UP_TWO_FACTOR']);
      expect(await person.query<object>('user.me')).to.deep.include({
        owes: 'SET_UP_TWO_FACTOR',
        twoFactorRequiredBy: ['Payments'],
      });
      await enrollAuthenticator(person);
      expect((await person.call('query', 'team.list')).status).to.equal(200);
    });

    it('cannot be turned off, and that says which team requires it', async () => {
      const person = await join({ [teamId]: 'EDITOR' });
      const { backupCodes } = await enrollAuthenticator(person);
      await requireIt(true);
      expect(await turnOff(person, backupCodes[0] ?? '')).to.equal(
        'PRECONDITION_FAILED: Two-factor sign-in is required by the team Payments',
      );
      expect(await statusWith(person, backupCodes[0]), 'the code was not used up').to.equal(200);
    });
  });
});
