/** The parts of the settings of people and server that compute. */
import { expect } from 'chai';
import { effectOfMove } from '../../../web/src/features/secrets/store-text.ts';
import {
  expiryRank,
  expiryText,
  isExpired,
} from '../../../web/src/features/settings/access/service-account-expiry.ts';
import {
  problemOfDays,
  problemOfLimit,
  problemOfName,
  problemOfPrice,
} from '../../../web/src/features/settings/environment/environment-draft.ts';
import { numberProblem, wholeNumber } from '../../../web/src/features/settings/server/whole-number.ts';
import {
  groupsDraft,
  groupsInput,
  type MappingRow,
  nextKey,
  problemOfRow,
  sameGroups,
} from '../../../web/src/features/settings/single-sign-on/groups-draft.ts';
import { followedText } from '../../../web/src/features/settings/single-sign-on/live-fields.ts';
import {
  mayKeepSecret,
  problemOfProvider,
  providerDraft,
  providerInput,
} from '../../../web/src/features/settings/single-sign-on/provider-draft.ts';
import { issuerName, linkedProvider } from '../../../web/src/features/settings/users/linked-provider.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3_600_000;
const at = (hours: number): Date => new Date(NOW + hours * HOUR);

describe('the end of a key', () => {
  const cases = [
    { hours: 24 * 12 - 0.01, words: 'ends in 12 days' },
    { hours: 25, words: 'ends in 1 day' },
    { hours: 5.2, words: 'ends in 5 hours' },
    { hours: 0.5, words: 'ends in less than an hour' },
    { hours: -0.5, words: 'expired less than an hour ago' },
    { hours: -3, words: 'expired 3 hours ago' },
    { hours: -24 * 40, words: 'expired 40 days ago' },
  ];
  for (const { hours, words } of cases)
    it(`is told as “${words}”`, () => expect(expiryText(at(hours), NOW)).to.equal(words));

  it('sets keys that work before those that have expired, and those before revoked ones', () => {
    const keys = [
      { expiresAt: at(5), revokedAt: at(-1) },
      { expiresAt: at(0), revokedAt: null },
      { expiresAt: null, revokedAt: null },
    ];
    expect(keys.map((key) => expiryRank(key, NOW))).to.deep.equal([2, 1, 0]);
    expect(isExpired({ expiresAt: null, revokedAt: null }, NOW)).to.equal(false);
  });
});

describe('mappings of groups', () => {
  const row = (key: number, group: string, teamId = 'a'): MappingRow => ({
    key,
    group,
    teamId,
    role: 'VIEWER',
  });
  const rows = [row(0, 'x'), row(1, 'y'), row(2, ' x ')];

  it('say which of two for the same group and team is too much, and what is missing', () => {
    expect(rows.map((each) => problemOfRow(each, rows))).to.deep.equal([
      '',
      '',
      'This group leads to this team already.',
    ]);
    expect(problemOfRow(row(3, '  '), rows)).to.equal('Give the name of the group.');
    expect(problemOfRow(row(3, 'z', ''), rows)).to.equal('Choose a team.');
    expect(problemOfRow(row(3, 'x', 'b'), rows)).to.equal('');
  });

  it('have keys of their own, whichever were taken away', () => {
    expect(nextKey(rows)).to.equal(3);
    expect(nextKey(rows.slice(2))).to.equal(3);
    expect(nextKey([])).to.equal(0);
  });

  it('are the same after a round trip, and are sent without what was typed around them', () => {
    const groups = {
      mappings: [{ group: 'x', teamId: 'a', role: 'EDITOR' as const }],
      ...{ patterns: [], ambiguities: [] },
      ...{ defaultTeamId: null, defaultRole: 'VIEWER' as const, groupSyncEnabled: true },
      ...{ groupsScope: null, groupsClaim: 'groups', adminGroups: null, editorGroups: null },
    };
    const draft = groupsDraft(groups);
    expect(sameGroups(draft, groups)).to.equal(true);
    expect(sameGroups({ ...draft, claim: ' groups ' }, groups)).to.equal(true);
    expect(sameGroups({ ...draft, sync: false }, groups)).to.equal(false);
    expect(groupsInput({ ...draft, rows: [row(0, ' x ')] }).mappings).to.deep.equal([
      { group: 'x', teamId: 'a', role: 'VIEWER' },
    ]);
    expect(groupsInput(draft)).not.to.have.property('defaultTeamId');
  });

  it('tell what followed in one sentence', () => {
    expect(followedText({ added: 1, changed: 0, removed: 0 })).to.equal('1 membership was added.');
    expect(followedText({ added: 3, changed: 1, removed: 2 })).to.equal(
      '3 memberships were added, 1 was changed, 2 were removed.',
    );
    expect(followedText({ added: 0, changed: 0, removed: 0 })).to.equal('No membership changes.');
  });
});

describe('what an account is linked to', () => {
  const issuer = 'https://login.example.com';
  const oidc = { issuer, displayName: 'Example ID' };
  const nameless = { ...oidc, displayName: null };
  const SOME = 'the identity provider';
  const cases = [
    { linkedTo: [issuer], set: oidc, name: 'Example ID', reason: 'the one that people sign in at' },
    { linkedTo: [issuer], set: nameless, name: SOME, reason: 'it was given no name' },
    { linkedTo: [issuer], set: null, name: SOME, reason: 'none is set any more' },
    { linkedTo: ['https://before.example'], set: oidc, name: SOME, reason: 'of the one before' },
    { linkedTo: ['https://before.example', issuer], set: oidc, name: SOME, reason: 'of both' },
  ];
  for (const { linkedTo, set, name, reason } of cases)
    it(`is called ${name}: ${reason}`, () =>
      expect(linkedProvider({ linkedTo }, set ? [set] : [])).to.equal(name));

  it('is told one by one by its address, where it has no name', () => {
    expect(issuerName(issuer, [oidc])).to.equal('Example ID');
    expect(issuerName(issuer, [nameless])).to.equal(issuer);
    expect(issuerName('https://before.example', [oidc])).to.equal('https://before.example');
  });
});

describe('the draft of an identity provider', () => {
  const stored = {
    issuer: 'https://login.example.com',
    clientId: 'headgate',
    clientSecret: '********',
    displayName: null,
    tokenEndpointAuthMethod: 'client_secret_basic' as const,
  };
  const draft = providerDraft(stored);

  it('keeps the stored secret for the same issuer and client alone, and never sends the mask', () => {
    expect(mayKeepSecret(draft, stored)).to.equal(true);
    expect(mayKeepSecret({ ...draft, clientId: 'another' }, stored)).to.equal(false);
    expect(mayKeepSecret({ ...draft, issuer: 'https://elsewhere.example.com' }, stored)).to.equal(false);
    expect(mayKeepSecret(draft, { ...stored, clientSecret: null })).to.equal(false);
    expect(providerInput(draft).clientSecret).to.equal('');
    expect(providerInput({ ...draft, method: 'none', clientSecret: 'typed before' }).clientSecret).to.equal(
      '',
    );
  });

  it('says what is missing, one thing after the other', () => {
    const problem = (change: object) => problemOfProvider({ ...draft, ...change }, stored);
    expect(problem({})).to.equal('');
    expect(problem({ issuer: ' ' })).to.equal('Give the issuer.');
    expect(problem({ issuer: 'login' })).to.match(/is an address/);
    expect(problem({ clientId: '' })).to.equal('Give the client id.');
    expect(problem({ clientId: 'another' })).to.equal('Give the client secret.');
    expect(problem({ clientId: 'another', clientSecret: 'x' })).to.equal('');
    expect(problem({ clientId: 'another', method: 'none' })).to.equal('');
  });
});

describe('a whole number in a field', () => {
  const LIMITS = { minimum: 1, maximum: 3_650 };
  for (const text of ['', '0', '3651', '1.5', '-1', '1e2', 'ten', '٣'])
    it(`is not “${text}”`, () => expect(wholeNumber(text, LIMITS)).to.equal(null));
  it('may have spaces around it, and says its limits where it is wrong', () => {
    expect(wholeNumber(' 30 ', LIMITS)).to.equal(30);
    expect(numberProblem('30', LIMITS)).to.equal('');
    expect(numberProblem('0', LIMITS)).to.equal('A whole number from 1 to 3,650.');
  });
});

describe('the form of an environment', () => {
  const fields = [
    { field: 'a name', problemOf: problemOfName, right: ['test bench', '1_a-b'], wrong: ['', ' a', 'a/b'] },
    { field: 'a limit', problemOf: problemOfLimit, right: ['', '3'], wrong: ['0', '1.5', '1000001', 'ten'] },
    { field: 'days', problemOf: problemOfDays, right: ['0', '14', '3650'], wrong: ['', '3651', '-1', '1.5'] },
    { field: 'a price', problemOf: problemOfPrice, right: ['', '0.25'], wrong: ['-1', '1000001', '0,25'] },
  ];
  for (const { field, problemOf, right, wrong } of fields)
    it(`takes ${field} within its limits, and says them where it is beyond`, () => {
      for (const text of right) expect(problemOf(text), text).to.equal('');
      for (const text of wrong) expect(problemOf(text), text).to.match(/^(A|Letters).*\.$/);
    });

  it('says what its limits are', () => {
    expect(problemOfLimit('0')).to.equal('A whole number from 1 to 1,000,000, or nothing.');
    expect(problemOfDays('3651')).to.equal('A whole number of days from 0 to 3,650.');
  });

  it('says what becomes of the values in another store', () => {
    expect(effectOfMove('BUILTIN')).to.match(/^The last good values stay/);
    expect(effectOfMove('VAULT')).to.match(/looked up in the new store/);
  });
});
