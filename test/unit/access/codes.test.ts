/** Codes of authenticators and backup codes, against the tables of RFC 6238 and in every spelling. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  hashBackupCode,
  matchTotpStep,
  newBackupCodes,
  newTotpSecret,
  totpUri,
} from '../../../controller/identity/access/second-factor/codes.ts';
import { codeOf, STEP_MS } from '../../support/users/authenticator.ts';

/** `12345678901234567890` in base 32: the secret of RFC 6238, appendix B. */
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('a code of an authenticator', () => {
  const TABLE: { seconds: number; code: string }[] = [
    { seconds: 59, code: '287082' },
    { seconds: 1_111_111_109, code: '081804' },
    { seconds: 1_111_111_111, code: '050471' },
    { seconds: 1_234_567_890, code: '005924' },
    { seconds: 2_000_000_000, code: '279037' },
    { seconds: 20_000_000_000, code: '353130' },
  ];
  for (const { seconds, code } of TABLE) {
    it(`is ${code} at second ${seconds}, as RFC 6238 has it`, () => {
      expect(matchTotpStep(RFC_SECRET, code, seconds * 1_000)).to.equal(Math.floor(seconds / 30));
    });
  }

  it('is good in its step, the one before and the one after, and names its own step in each', () => {
    const secret = newTotpSecret();
    fc.assert(
      fc.property(
        fc.integer({ min: 100 * STEP_MS, max: 4e12 }),
        fc.integer({ min: -1, max: 1 }),
        (now, away) => {
          const step = Math.floor(now / STEP_MS);
          const found = matchTotpStep(secret, codeOf(secret, { now, steps: away }), now);
          // One in a million is the code of two steps.
          expect(Math.abs((found ?? Number.NaN) - step)).to.be.at.most(1);
          expect(codeOf(secret, { now: (found ?? 0) * STEP_MS })).to.equal(
            codeOf(secret, { now, steps: away }),
          );
        },
      ),
    );
  });

  it('is wrong two steps away', () => {
    const now = 1_800_000_000_000;
    for (const steps of [-3, -2, 2, 3])
      expect(matchTotpStep(RFC_SECRET, codeOf(RFC_SECRET, { now, steps }), now)).to.equal(null);
  });

  it('may have the space in its middle that apps show', () => {
    expect(matchTotpStep(RFC_SECRET, '287 082', 59_000)).to.equal(1);
  });

  for (const code of [
    '',
    '28708',
    '2870822',
    '28708a',
    '٢٨٧٠٨٢',
    '-287082-1',
    '2e5',
    '      ',
    'x'.repeat(32),
  ])
    it(`is nothing like ${JSON.stringify(code)}`, () => {
      expect(matchTotpStep(RFC_SECRET, code, 59_000)).to.equal(null);
    });

  it('comes from a secret of 160 bits, and goes into the app by an address that names Headgate and the account', () => {
    const secret = newTotpSecret();
    expect(secret).to.match(/^[A-Z2-7]{32}$/);
    expect(newTotpSecret()).not.to.equal(secret);
    const uri = new URL(totpUri('ada+test@example.org', secret));
    expect(uri.protocol).to.equal('otpauth:');
    expect(decodeURIComponent(uri.pathname)).to.include('Headgate:ada+test@example.org');
    expect(uri.searchParams.get('secret')).to.equal(secret);
    expect(uri.searchParams.get('issuer')).to.equal('Headgate');
  });
});

describe('backup codes', () => {
  it('are ten, all different, of 120 bits, and fit where codes are typed', () => {
    const codes = newBackupCodes();
    expect(new Set(codes).size).to.equal(10);
    for (const code of codes) expect(code).to.match(/^([0-9a-hjkmnp-tv-z]{4}-){5}[0-9a-hjkmnp-tv-z]{4}$/);
    expect(codes[0]?.length).to.be.at.most(32);
  });

  it('are the same in any spelling of case, dashes, spaces and letters that look alike', () => {
    const alike: Record<string, string[]> = { '0': ['o', 'O'], '1': ['i', 'I', 'l', 'L'] };
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat()), (numbers) => {
        const pick = (among: string[]): string => among[(numbers.next().value ?? 0) % among.length] ?? '';
        const code = newBackupCodes()[0] ?? '';
        const spelt = [...code]
          .map((letter) =>
            letter === '-'
              ? pick(['-', '', ' ', '--'])
              : pick([letter, letter.toUpperCase(), ...(alike[letter] ?? [])]),
          )
          .join('');
        expect(hashBackupCode(spelt)?.equals(hashBackupCode(code) as Buffer), `${code} as ${spelt}`).to.equal(
          true,
        );
      }),
    );
  });

  for (const text of [
    '',
    '123456',
    'abcd-efgh',
    'u'.repeat(24),
    'ä'.repeat(24),
    '0'.repeat(25),
    '-'.repeat(24),
  ])
    it(`are nothing like ${JSON.stringify(text)}`, () => {
      expect(hashBackupCode(text)).to.equal(null);
    });
});
