/** Guessing: how many are looked at, by account and by address, however many controllers are asked at once. */
import { expect } from 'chai';
import { signIn as signInHere } from '../../../controller/identity/access/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import type { DomainError } from '../../../controller/platform/operation/errors.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import { startTestController, useController } from '../../support/harness/controller.ts';
import { makeUser, PASSWORD, signIn, trySignIn } from '../../support/users/person.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe('guesses', function () {
  this.slow(5_000);
  const test = useController({ trustedProxies: ['127.0.0.1'] });
  let users = 0;

  const newUser = async () => {
    const email = `guessed-${++users}@example.org`;
    await makeUser(test.db, { email });
    return email;
  };

  it('at an account are counted together, however its address is spelt', async () => {
    const email = await newUser();
    const spelt = [email, email.toUpperCase()];
    for (const [n, one] of spelt.entries())
      expect(
        (await trySignIn(test.url, one, PASSWORD, { 'x-forwarded-for': `10.3.0.${n}` })).status,
      ).to.equal(200);
    await makeUser(test.db, { email: 'i-am-guessed@example.org' });
    const odd = await trySignIn(test.url, 'İ-am-guessed@example.org', PASSWORD);
    expect(odd.status, 'the same to the database, and counted apart').to.equal(401);
  });

  it('at one account over two controllers and 200 addresses at the same moment: ten are looked at', async function () {
    this.timeout(30_000);
    const second = await startTestController({
      databaseUrl: test.databaseUrl,
      dataDir: test.config.dataDir,
      trustedProxies: ['127.0.0.1'],
    });
    try {
      const email = await newUser();
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, n) =>
          trySignIn(n % 2 ? test.url : second.url, email, `wrong ${n}`, {
            'x-forwarded-for': `10.1.${n % 2}.${n}`,
          }),
        ),
      );
      const count = (status: number) => answers.filter((answer) => answer.status === status).length;
      expect([count(401), count(429)]).to.deep.equal([10, 190]);
      const { failures } = await test
        .db('sign_in_throttles')
        .where({ key: `account:${email}` })
        .first();
      expect(failures).to.equal(10);
      for (const url of [test.url, second.url]) {
        const right = await trySignIn(url, email, PASSWORD, { 'x-forwarded-for': '10.1.9.9' });
        expect(right.status, 'the right password, by either').to.equal(429);
      }
    } finally {
      await second.stop();
    }
  });

  describe('where somebody has signed in before', () => {
    const failures = async (key: string) => {
      const row = await test.db('sign_in_throttles').where('key', 'like', key).first('failures');
      return row?.failures ?? 0;
    };
    /** The tenth closes it. */
    const nineFailed = (key: string) =>
      test.db('sign_in_throttles').where('key', 'like', key).update({ failures: 9 });
    const verifyDeviceToken = async (email: string, password = PASSWORD): Promise<string> => {
      const cookies = (await trySignIn(test.url, email, password)).headers['set-cookie'] ?? [];
      const cookie = cookies.find((one) => one.startsWith('headgate.known-device='));
      expect(cookie)
        .to.match(/; httponly/i)
        .and.match(/; samesite=lax/i)
        .and.match(/; path=\//i);
      return cookie?.split(';')[0] ?? '';
    };
    const status = async (email: string, password: string, cookie = '', url = test.url) =>
      (await trySignIn(url, email, password, { cookie })).status;

    it('strangers do not keep its owner out, at any controller', async function () {
      this.timeout(30_000);
      const email = await newUser();
      const cookie = await verifyDeviceToken(email);
      expect(await status(email, 'wrong')).to.equal(401);
      await nineFailed(`account:${email}`);
      expect(await status(email, 'wrong')).to.equal(401);
      expect(await status(email, PASSWORD), 'elsewhere the account is closed').to.equal(429);
      const second = await startTestController({
        databaseUrl: test.databaseUrl,
        dataDir: test.config.dataDir,
      });
      try {
        for (const url of [test.url, second.url])
          expect(await status(email, PASSWORD, cookie, url)).to.equal(200);
      } finally {
        await second.stop();
      }
      expect(await status(email, PASSWORD), 'and stays so').to.equal(429);
    });

    it('are counted by device, which is closed by ten of its own', async () => {
      const email = await newUser();
      const id = (await test.db('users').where({ email }).first('id')).id;
      const [cookie, other] = [await verifyDeviceToken(email), await verifyDeviceToken(email)];
      expect(await status(email, 'wrong', cookie)).to.equal(401);
      expect(await failures(`device:${id}:%`)).to.equal(1);
      expect(await failures(`account:${email}`)).to.equal(0);
      await nineFailed(`device:${id}:%`);
      expect(await status(email, 'wrong', cookie)).to.equal(401);
      const closed = await trySignIn(test.url, email, PASSWORD, { cookie });
      expect([closed.status, closed.json().error]).to.deep.equal([
        429,
        'Too many failed sign-ins from this device. Try again in 15 minutes',
      ]);
      expect(await status(email, PASSWORD, other), 'on another device of theirs').to.equal(200);
      expect(await status(email, PASSWORD), 'on a new one').to.equal(200);
    });

    it('only its own account knows a device, until the password changes', async () => {
      const [email, another] = [await newUser(), await newUser()];
      const cookie = await verifyDeviceToken(email);
      for (const spoilt of [cookie.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A')), `${cookie}x`, 'x'])
        await status(email, 'wrong', spoilt);
      expect(await failures(`account:${email}`)).to.equal(3);
      await status(another, 'wrong', cookie);
      expect(await failures(`account:${another}`)).to.equal(1);
      const person = await signIn(test.url, email);
      await person.mutate('user.changePassword', {
        currentPassword: PASSWORD,
        newPassword: `${PASSWORD} and another`,
      });
      await test
        .db('sign_in_throttles')
        .where({ key: `account:${email}` })
        .delete();
      await status(email, 'wrong', cookie);
      expect(await failures(`account:${email}`)).to.equal(1);
    });
  });

  describe('on a clock that is moved by hand', () => {
    let clock: ReturnType<typeof manualClock>;
    let addresses = 0;
    let address: string;

    const context = (from = address): Context => ({
      ...test.controller.systemContext('test'),
      clock,
      ipAddress: from,
    });
    /** `401`, `429 after 900 s`, or `in`. */
    const attempt = (email: string, password = 'wrong', from = address): Promise<string> =>
      signInHere(context(from), { email, password }, { userAgent: null }).then(
        () => 'in',
        (error: DomainError) =>
          error.status === 429 ? `429 after ${error.details?.retryAfterSeconds} s` : String(error.status),
      );
    /** As if so many had failed: hashing them all would take seconds. */
    const failed = (key: string, failures: number) =>
      test.db('sign_in_throttles').where({ key }).update({ failures });

    beforeEach(() => {
      clock = manualClock(Date.now());
      address = `10.2.0.${++addresses}`;
    });

    it('begin anew fifteen minutes after the tenth', async () => {
      const email = await newUser();
      await attempt(email);
      await failed(`account:${email}`, 9);
      expect(await attempt(email)).to.equal('401');
      expect(await attempt(email, PASSWORD)).to.equal('429 after 900 s');
      clock.advance(15 * MINUTE_MS - 1_000);
      expect(await attempt(email, PASSWORD)).to.equal('429 after 1 s');
      clock.advance(1_000);
      expect(await attempt(email)).to.equal('401');
      const row = await test
        .db('sign_in_throttles')
        .where({ key: `account:${email}` })
        .first();
      expect([row.failures, row.blocked_until]).to.deep.equal([1, null]);
      expect(await attempt(email, PASSWORD)).to.equal('in');
    });

    it('of a device are its own for 180 days after its last sign-in', async () => {
      const email = await newUser();
      const browser = { userAgent: null };
      const { device } = await signInHere(context(), { email, password: PASSWORD }, browser);
      const id = (await test.db('users').where({ email }).first('id')).id;
      const keys = async () =>
        (
          await test
            .db('sign_in_throttles')
            .where('key', 'like', `%:${id}:%`)
            .orWhere({ key: `account:${email}` })
        ).map(({ key }) => key.split(':')[0]);
      const guess = () =>
        signInHere(context(), { email, password: 'wrong' }, { ...browser, deviceToken: device.token }).catch(
          () => {},
        );
      clock.advance(180 * 24 * HOUR_MS - 1);
      await guess();
      expect(await keys()).to.deep.equal(['device']);
      clock.advance(1);
      await guess();
      expect((await keys()).sort()).to.deep.equal(['account', 'device']);
    });

    it('are not made good by waiting, but by a day', async () => {
      const email = await newUser();
      const key = `account:${email}`;
      await attempt(email);
      await failed(key, 8);
      clock.advance(23 * HOUR_MS);
      expect(await attempt(email)).to.equal('401');
      expect((await test.db('sign_in_throttles').where({ key }).first()).failures).to.equal(9);
      clock.advance(24 * HOUR_MS);
      expect(await attempt(email)).to.equal('401');
      expect((await test.db('sign_in_throttles').where({ key }).first()).failures).to.equal(1);
    });

    it('from one address at many accounts: the hundredth in a quarter of an hour is the last', async () => {
      const key = `address:${address}`;
      await attempt(await newUser());
      await failed(key, 98);
      expect(await attempt(await newUser())).to.equal('401');
      expect(await attempt(await newUser())).to.equal('401');
      const other = await newUser();
      expect(await attempt(other, PASSWORD)).to.equal('429 after 900 s');
      expect(await attempt(other, PASSWORD, '10.3.0.1'), 'from elsewhere').to.equal('in');
      clock.advance(15 * MINUTE_MS);
      expect(await attempt(other, PASSWORD)).to.equal('in');
    });

    it('from one address are counted by quarters of an hour, however steadily people mistype', async () => {
      const key = `address:${address}`;
      await attempt(await newUser());
      await failed(key, 60);
      clock.advance(14 * MINUTE_MS);
      await attempt(await newUser());
      clock.advance(MINUTE_MS);
      await attempt(await newUser());
      expect((await test.db('sign_in_throttles').where({ key }).first()).failures).to.equal(1);
    });

    it('of an address stay counted when somebody signs in there; those of the account do not', async () => {
      const email = await newUser();
      for (let n = 0; n < 3; n += 1) await attempt(email);
      expect(await attempt(email, PASSWORD)).to.equal('in');
      expect(await test.db('sign_in_throttles').where({ key: `account:${email}` })).to.deep.equal([]);
      const { failures } = await test
        .db('sign_in_throttles')
        .where({ key: `address:${address}` })
        .first();
      expect(failures).to.equal(3);
    });

    it('at an account that is blocked do not count against the address', async () => {
      const email = await newUser();
      await attempt(email);
      await failed(`account:${email}`, 9);
      for (let n = 0; n < 5; n += 1) await attempt(email);
      const { failures } = await test
        .db('sign_in_throttles')
        .where({ key: `address:${address}` })
        .first();
      expect(failures).to.equal(2);
    });

    it('from a network of IPv6 are counted together', async () => {
      for (const from of ['2001:db8:7:1::1', '2001:db8:7:1:ffff::2'])
        await attempt(await newUser(), 'wrong', from);
      const { failures } = await test
        .db('sign_in_throttles')
        .where({ key: 'address:2001:db8:7:1::/64' })
        .first();
      expect(failures).to.equal(2);
    });
  });
});
