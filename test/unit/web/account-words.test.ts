import { expect } from 'chai';
import { isOffered, SETTINGS_PARTS, type SettingsScope } from '../../../web/src/app/settings-sections.ts';
import { browserText } from '../../../web/src/features/account/browser-name.ts';
import { askedForBy } from '../../../web/src/features/account/requiring-teams.ts';
import { providerProblem } from '../../../web/src/features/sign-in/provider-problems.ts';

describe('a browser in words', () => {
  const cases = [
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
      'Chrome on Linux',
      'claims to be Safari too',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
      'Edge on Windows',
      'claims to be Chrome too',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
      'Safari on macOS',
      'says its version apart',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
      'Safari on iPhone',
      'is like Mac OS X',
    ],
    [
      'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
      'Chrome on Android',
      'is a Linux too',
    ],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0', 'Firefox on Linux', ''],
    ['curl/8.14.1', 'curl', 'says no system'],
    ['some-script/1.0', 'some-script/1.0', 'is in its own words'],
    [null, 'An unknown browser', 'says nothing'],
  ] as const;
  for (const [userAgent, words, reason] of cases)
    it(`is ${words}, ${reason || 'as it says'}`, () => expect(browserText(userAgent)).to.equal(words));

  it('is cut off where it says more than a line', () => {
    expect(browserText('x'.repeat(256))).to.have.length(60);
  });
});

describe('a problem of an identity provider', () => {
  it('is none without a code, and has a title and an advice with any', () => {
    expect(providerProblem(null)).to.equal(null);
    expect(providerProblem('')).to.equal(null);
    for (const code of ['oidc_expired', 'no such code', '__proto__', 'toString']) {
      const problem = providerProblem(code);
      expect(problem?.title, code).to.be.a('string');
      expect(problem?.advice, code).to.be.a('string');
    }
  });
});

describe('who asks for a second factor', () => {
  it('is each team by its name', () => {
    expect(askedForBy(['Payments'])).to.match(/^Payments asks for a second factor/);
    expect(askedForBy(['Payments', 'Shop'])).to.match(/^Payments and Shop ask for/);
    expect(askedForBy([])).to.match(/^A team of yours asks for/);
  });
});

describe('the parts of the settings', () => {
  const nobody: SettingsScope = { team: null, environment: null, isSuperAdmin: false };
  const offered = (more: Partial<SettingsScope>): string[] =>
    SETTINGS_PARTS.filter((part) => isOffered(part, { ...nobody, ...more })).map(({ tab }) => tab);

  it('are one’s own for everybody, and those of the server for super admins wherever they are', () => {
    expect(offered({})).to.deep.equal(['you']);
    expect(offered({ isSuperAdmin: true })).to.deep.equal([
      'you',
      'users',
      'teams',
      'sso',
      'scim',
      'streams',
      'backups',
      'server',
    ]);
    expect(offered({ environment: { id: 'e', name: 'staging' } })).to.deep.equal([
      'you',
      'environment',
      'access',
    ]);
  });
});
