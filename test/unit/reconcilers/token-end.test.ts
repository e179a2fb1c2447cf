/** When tokens of forges end, as forges write it, and when people are told. */
import { expect } from 'chai';
import { endOf, endWarning, expiryText } from '../../../reconcilers/forges/token-expiry.ts';

describe('the end of a forge’s token', () => {
  for (const [text, at] of [
    ['2026-12-24 08:00:00 UTC', '2026-12-24T08:00:00.000Z'],
    ['2026-12-24 08:00:00 +0200', '2026-12-24T06:00:00.000Z'],
    ['2026-12-24', '2026-12-24T00:00:00.000Z'],
    ['', null],
    [null, null],
    ['soon', null],
    ['2'.repeat(100), null],
  ] as const)
    it(`is ${at} in ${JSON.stringify(text)?.slice(0, 40)}`, () =>
      expect(endOf(text)?.toISOString() ?? null).to.equal(at));

  it('is told two weeks before, and to whoever tests the token', () => {
    const end = new Date('2026-12-24T00:00:00Z');
    const daysBefore = (days: number) => end.getTime() - days * 86_400_000;
    expect(endWarning('GitHub', end, daysBefore(14.1))).to.equal(null);
    expect(endWarning('GitHub', end, daysBefore(13.9))).to.equal(
      'The token for GitHub ends on 2026-12-24: make another one there, and give it as forge.token',
    );
    expect(endWarning('GitHub', null, 0)).to.equal(null);
    expect([expiryText(end), expiryText(null)]).to.deep.equal([' until 2026-12-24', '']);
  });
});
