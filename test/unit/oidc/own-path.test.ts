/** Where a sign-in ends: on a page of our own, whatever the address asked for. */
import { expect } from 'chai';
import fc from 'fast-check';
import { ownPath } from '../../../controller/identity/oidc/sign-in/attempt.ts';

const BASE = 'https://headgate.example.org';

describe('the page after a sign-in', () => {
  for (const [given, is] of [
    ['/', '/'],
    ['/fleet?q=a%20b#top', '/fleet?q=a%20b#top'],
    ['/ü', '/%C3%BC'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['/.//evil.example', '/'],
    ['/a/..//evil.example', '/'],
    ['/\t/evil.example', '/'],
    ['https://evil.example', '/'],
    ['https:evil.example', '/'],
    [`${BASE}/fleet`, '/'],
    ['javascript:alert(1)', '/'],
    ['/api/auth/sign-out', '/'],
    ['/api', '/'],
    ['/git/config.git', '/'],
    ['/apis', '/apis'],
    ['', '/'],
    [undefined, '/'],
    [['/a', '/b'], '/'],
    [`/${'x'.repeat(1_500)}`, '/'],
    [`/${'ü'.repeat(400)}`, '/'],
  ] as const)
    it(`is ${is} for ${JSON.stringify(given)?.slice(0, 40)}`, () =>
      expect(ownPath(given, BASE)).to.equal(is));

  it('is always ours, as browsers read it (property)', () => {
    const piece = fc.constantFrom(
      '/',
      '\\',
      '.',
      '..',
      '//',
      ':',
      '@',
      'evil.example',
      '%2f',
      '%5c',
      '\t',
      '\n',
      '?',
      '#',
      'a',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const path = ownPath(`/${pieces.join('')}`, BASE);
        expect(new URL(path, BASE).origin).to.equal(BASE);
        expect(new URL(`${path}`, `${BASE}/api/auth/oidc/callback`).origin).to.equal(BASE);
        expect(ownPath(path, BASE), 'once more').to.equal(path);
      }),
      { numRuns: 2_000 },
    );
  });
});
