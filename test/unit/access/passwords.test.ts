/** Hashes of passwords, what a new password may not be, and from where attempts are counted together. */
import { expect } from 'chai';
import { assertStrongPassword } from '../../../controller/identity/access/sign-in/password-rules.ts';
import { createPasswords } from '../../../controller/identity/access/sign-in/passwords.ts';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import { cheapPasswords } from '../../support/users/passwords.ts';

const today = createPasswords();

describe('a hash of a password', () => {
  it('differs each time, and knows its password in any composition of Unicode', async () => {
    const [first, second] = [await cheapPasswords.hash('Zoë’s ﬁsh'), await cheapPasswords.hash('Zoë’s ﬁsh')];
    expect(first).not.to.equal(second);
    for (const hash of [first, second]) {
      expect(await cheapPasswords.verify('Zoë’s fish', hash)).to.equal(true);
      expect(await cheapPasswords.verify('Zoe’s fish', hash)).to.equal(false);
    }
  });

  it('takes every byte: 72 and 73 of them are two passwords', async () => {
    const hash = await cheapPasswords.hash('p'.repeat(72));
    expect(await cheapPasswords.verify('p'.repeat(72), hash)).to.equal(true);
    expect(await cheapPasswords.verify('p'.repeat(73), hash)).to.equal(false);
  });

  it('costs what OWASP asks for, where nothing else is said', async () => {
    expect(await today.hash('x')).to.match(/^\$argon2id\$v=19\$m=47104,t=1,p=1\$/);
  });

  it('is nobody’s where there is none, and where it is no hash', async () => {
    expect(await cheapPasswords.verify('anything', null)).to.equal(false);
    expect(await cheapPasswords.verify('anything', 'plain text')).to.equal(false);
  });

  it('is out of date with less memory or fewer passes than today, and not as it is made today', async () => {
    expect(today.isOutdated(await cheapPasswords.hash('x'))).to.equal(true);
    expect(today.isOutdated(await today.hash('x'))).to.equal(false);
  });

  it('is not waited for behind more than 64 others: those beyond are told to come again', async () => {
    const results = await Promise.allSettled(Array.from({ length: 100 }, () => cheapPasswords.hash('x')));
    const refused = results.flatMap((one) => (one.status === 'rejected' ? [one.reason as DomainError] : []));
    expect(results.length - refused.length).to.be.within(64, 66);
    for (const error of refused) {
      expect(error).to.be.instanceOf(DomainError);
      expect([error.code, error.details]).to.deep.equal(['UNAVAILABLE', { retryAfterSeconds: 5 }]);
    }
    expect(await cheapPasswords.hash('x'), 'once they are done').to.be.a('string');
  });
});

describe('a new password', () => {
  const ADA = { email: 'ada.lovelace@example.org', name: 'Ada Lovelace' };
  const refusal = (password: string) =>
    assertStrongPassword(password, ADA).then(
      () => 'taken',
      (error: DomainError) => `${error.code}: ${error.message}`,
    );

  for (const password of ['password', 'PassWord', 'iloveyou', '1qaz2wsx', '1234567890', 'qwertyuiop'])
    it(`may not be ${password}, which is guessed first`, async () => {
      expect(await refusal(password)).to.match(/^BAD_REQUEST: .*most common.*Choose another/);
    });

  for (const password of [
    'ada.lovelace@example.org',
    'Ada.Lovelace',
    'adalovelace',
    'Ada Lovelace',
    'AdaLovelace1852!',
    '***ada lovelace***',
    'headgate123',
    'Headgate',
  ])
    it(`may not be ${password}, which is made of the account`, async () => {
      expect(await refusal(password)).to.match(/^BAD_REQUEST: .*name or address.*Choose another/);
    });

  for (const password of [
    'correct horse battery',
    'ada is not lovelace',
    'zf8#kQ!x',
    '        ',
    '🐎🔋📎🧷🐎🔋📎🧷',
    '1'.repeat(1_024),
    `${'!'.repeat(1_000)}a${'!'.repeat(20)}`,
  ])
    it(`may be ${password.slice(0, 30)}`, async () => {
      expect(await refusal(password)).to.equal('taken');
    });
});
