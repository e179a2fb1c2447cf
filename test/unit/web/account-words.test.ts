import { expect } from 'chai';
import type { UserSummary } from '../../../schemas/api/identity/people.ts';
import { isOffered, SETTINGS_PARTS, type SettingsScope } from '../../../web/src/app/settings-sections.ts';
import { browserText } from '../../../web/src/features/account/browser-name.ts';
import { askedForBy } from '../../../web/src/features/account/requiring-teams.ts';
import { memberRights } from '../../../web/src/features/settings/members/member-rights.ts';
import { USER_STATES } from '../../../web/src/features/settings/users/user-states.ts';
import { providerProblem } from '../../../web/src/features/sign-in/provider-problems.ts';
import { refusalText } from '../../../web/src/features/sign-in/refusal-text.ts';

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

describe('a problem of a sign-in', () => {
  const cases = [
    { code: 'email_taken', advice: /then link the identity provider in your settings/ },
    { code: 'account_locked', advice: /Ask an administrator of your team to unlock it/ },
    { code: 'already_linked', advice: /link your own account of it/ },
    { code: 'oidc_unavailable', advice: /or sign in with your password/ },
  ];
  for (const { code, advice } of cases)
    it(`${code} says what to do`, () => expect(providerProblem(code)?.advice).to.match(advice));

  it('is what the server says, and from which minute on another try is looked at', () => {
    const message = 'Too many failed sign-ins';
    expect(refusalText({ message, retryAt: null })).to.equal(message);
    const at = (text: string) => refusalText({ message, retryAt: new Date(`2026-03-01T${text}`) });
    expect(at('10:05:01')).to.match(
      /^Too many failed sign-ins\. The next one is looked at from .*10:06.* on\.$/,
    );
    expect(at('10:06:00')).to.match(/10:06/);
  });
});

describe('what an ADMIN may do with a member', () => {
  type Account = Parameters<typeof memberRights>[0];
  const member: Account = {
    accountOutOfReach: null,
    lockedBy: null,
    authMethod: 'PASSWORD',
    source: 'manual',
  };
  const cases: { of: string; more: Partial<Account>; may: string[]; says: RegExp[] }[] = [
    { of: 'one like themselves', more: {}, may: ['mayLock', 'mayReset', 'mayRemove'], says: [] },
    {
      ...{ of: 'a super admin', more: { accountOutOfReach: 'This is a super admin' } },
      ...{ may: ['mayRemove'], says: [/^This is a super admin$/] },
    },
    {
      ...{ of: 'one whom a group put there', more: { source: 'group' } },
      ...{ may: ['mayLock', 'mayReset'], says: [/^A group of the identity provider leads here/] },
    },
    {
      ...{ of: 'one whom the identity provider has locked', more: { lockedBy: 'scim' } },
      ...{ may: ['mayReset', 'mayRemove'], says: [/^The identity provider has locked the account/] },
    },
    {
      ...{ of: 'one who signs in elsewhere', more: { authMethod: 'OIDC' } },
      ...{ may: ['mayLock', 'mayRemove'], says: [/which keeps the password/] },
    },
    {
      of: 'one who is out of reach for several reasons, of which the account’s first counts',
      more: {
        accountOutOfReach: 'They are in another team',
        lockedBy: 'scim',
        authMethod: 'OIDC',
        source: 'group',
      },
      ...{ may: [], says: [/another team/, /^A group/] },
    },
  ];
  for (const { of, more, may, says } of cases)
    it(`is said with the reasons, of ${of}`, () => {
      const { reasons, ...rights } = memberRights({ ...member, ...more });
      expect(Object.entries(rights).flatMap(([right, has]) => (has ? [right] : []))).to.deep.equal(may);
      expect(reasons).to.have.length(says.length);
      for (const [index, one] of says.entries()) expect(reasons[index]).to.match(one);
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
    const counts = { memberCount: 1, environmentCount: 0, createdAt: new Date(0) };
    const team = { id: 't', name: 'Ours', role: 'ADMIN' as const, ...counts };
    expect(offered({ team }), 'an ADMIN').to.deep.equal(['you', 'members', 'assistant']);
    expect(offered({ environment: { id: 'e', name: 'staging' } })).to.deep.equal([
      'you',
      'environment',
      'access',
    ]);
  });
});

describe('users by their state', () => {
  const user: UserSummary = {
    ...{ id: 'u', name: 'Ada', email: 'ada@example.org', authMethod: 'PASSWORD', isSuperAdmin: false },
    ...{ twoFactorEnabled: true, lockedAt: null, lockedBy: null, provisioned: false },
    ...{ mustChangePassword: false, createdAt: new Date(0), lastSignInAt: new Date(0) },
    ...{ teams: [{ id: 't', name: 'Ours', role: 'VIEWER', source: 'manual' }], groups: [], linkedTo: [] },
    ...{ confirmedAt: null, restsAt: null, rests: null },
  };
  const cases: { state: string; more: Partial<UserSummary> }[] = [
    { state: 'locked', more: { lockedAt: new Date(0), lockedBy: 'admin' } },
    { state: 'rests', more: { restsAt: new Date(0), rests: 'account' } },
    { state: 'super-admin', more: { isSuperAdmin: true } },
    { state: 'provisioned', more: { provisioned: true } },
    { state: 'no-team', more: { teams: [] } },
    { state: 'no-two-factor', more: { twoFactorEnabled: false } },
    { state: 'temporary', more: { mustChangePassword: true } },
    { state: 'never', more: { lastSignInAt: null } },
  ];
  const statesOf = (more: Partial<UserSummary>) =>
    USER_STATES.filter(({ is }) => is({ ...user, ...more })).map(({ value }) => value);
  for (const { state, more } of cases)
    it(`are found as ${state}, and by no other state`, () => expect(statesOf(more)).to.deep.equal([state]));

  it('are in none where there is nothing to say of them', () => {
    expect(statesOf({})).to.deep.equal([]);
    expect(statesOf({ authMethod: 'OIDC', twoFactorEnabled: false })).to.deep.equal([]);
    expect(statesOf({ restsAt: new Date(Date.now() + 3_600_000), rests: 'account' })).to.deep.equal([]);
  });
});
