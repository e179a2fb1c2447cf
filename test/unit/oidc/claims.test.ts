/** What is believed of the claims that a provider makes. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  groupsAt,
  mergedProfile,
  type Profile,
  profileOf,
} from '../../../controller/identity/oidc/sign-in/claims.ts';

describe('the profile in claims', () => {
  const EMPTY: Profile = { email: null, emailVerified: null, name: null };

  for (const [reason, claims, is] of [
    [
      'everything',
      { email: 'a@b.c', email_verified: true, name: 'Ada' },
      { email: 'a@b.c', emailVerified: true, name: 'Ada' },
    ],
    ['nothing', {}, {}],
    ['the name that they sign in by', { preferred_username: 'ada' }, { name: 'ada' }],
    ['a name around which there is white space', { name: '  Ada  ' }, { name: 'Ada' }],
    ['an empty name', { name: ' ', preferred_username: 'ada' }, { name: 'ada' }],
    ['a name with control characters', { name: 'A\u0000d\na' }, { name: 'Ada' }],
    ['a name of 200 letters', { name: 'x'.repeat(200) }, { name: 'x'.repeat(100) }],
    ['half a pair where it is cut', { name: `${'x'.repeat(99)}😀` }, { name: 'x'.repeat(99) }],
    ['verified as text', { email: 'a@b.c', email_verified: 'true' }, { email: 'a@b.c', emailVerified: true }],
    [
      'not verified as text',
      { email: 'a@b.c', email_verified: 'false' },
      { email: 'a@b.c', emailVerified: false },
    ],
    ['verified as a number', { email: 'a@b.c', email_verified: 1 }, { email: 'a@b.c' }],
    ['an address that is none', { email: 'a' }, {}],
    ['an address with a line break', { email: 'a@b.c\nx@y.z' }, {}],
    ['a list of addresses', { email: ['a@b.c'] }, {}],
  ] as const)
    it(`is read with ${reason}`, () => expect(profileOf(claims)).to.deep.equal({ ...EMPTY, ...is }));

  it('is made whole by userinfo, and keeps what goes together', () => {
    const token = { ...EMPTY, email: 'a@b.c' };
    const userinfo = { email: 'x@y.z', emailVerified: true, name: 'Ada' };
    expect(mergedProfile(token, userinfo)).to.deep.equal({
      email: 'a@b.c',
      emailVerified: null,
      name: 'Ada',
    });
    expect(mergedProfile(token, { ...userinfo, email: 'a@b.c' }).emailVerified).to.equal(true);
    expect(
      mergedProfile({ ...EMPTY, emailVerified: true }, { ...userinfo, emailVerified: false }),
    ).to.deep.equal({
      ...userinfo,
      emailVerified: false,
    });
    expect(mergedProfile(token, null)).to.equal(token);
  });

  it('never has what the database cannot keep, nor throws (property)', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('email', 'name', 'email_verified', '__proto__'), fc.anything()),
        (claims) => {
          const { email, name } = profileOf(claims);
          for (const text of [email, name]) expect(text ?? '').to.match(/^[^\p{Cc}\p{Cs}]*$/u);
          expect((name ?? '').length).to.be.at.most(100);
        },
      ),
    );
  });
});

describe('the groups in claims', () => {
  for (const [reason, claims, path, is] of [
    ['a list', { groups: ['a', 'b', 'a', ''] }, 'groups', ['a', 'b']],
    ['an empty list', { groups: [] }, 'groups', []],
    ['one text', { groups: 'a' }, 'groups', ['a']],
    ['a list in an object', { realm_access: { roles: ['a'] } }, 'realm_access.roles', ['a']],
    ['a name that has dots itself', { 'https://a.b/groups': ['a'] }, 'https://a.b/groups', ['a']],
    ['1,000 names', { groups: Array.from({ length: 1_000 }, (_, n) => `g${n}`) }, 'groups', 1_000],
  ] as const)
    it(`are known from ${reason}`, () => {
      const found = groupsAt(claims, path);
      expect(found?.known).to.equal(true);
      const names = found?.known ? found.names : [];
      expect(typeof is === 'number' ? names.length : names).to.deep.equal(is);
    });

  for (const [reason, claims, path] of [
    ['nothing', {}, 'groups'],
    ['null', { groups: null }, 'groups'],
    ['another claim', { roles: ['a'] }, 'groups'],
    ['what every object has', {}, 'constructor'],
    ['what every object has, deeper', { a: {} }, 'a.__proto__'],
    ['the length of a text', { a: 'x' }, 'a.length'],
    ['the length of a list', { a: ['x'] }, 'a.length'],
  ] as const)
    it(`are not there in ${reason}`, () => expect(groupsAt(claims, path)).to.equal(null));

  for (const [reason, claims, path] of [
    ['a note that they are elsewhere', { _claim_names: { groups: 'src1' } }, 'groups'],
    ['that note for the object around them', { _claim_names: { realm: 'src1' } }, 'realm.roles'],
    ['a note that there are too many', { hasgroups: true }, 'groups'],
    ['an object', { groups: {} }, 'groups'],
    ['other things in the list', { groups: ['a', null] }, 'groups'],
    ['a boolean', { groups: false }, 'groups'],
    ['a list in the list', { groups: [['a']] }, 'groups'],
    ['1,001 names', { groups: Array.from({ length: 1_001 }, (_, n) => `g${n}`) }, 'groups'],
    ['a long name', { groups: ['x'.repeat(257)] }, 'groups'],
    ['half a surrogate pair', { groups: ['\ud800'] }, 'groups'],
  ] as const)
    it(`are not known from ${reason}`, () => expect(groupsAt(claims, path)?.known).to.equal(false));

  it('are never more, longer or stranger than can be kept (property)', () => {
    const claim = fc.oneof(fc.anything(), fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.anything())));
    fc.assert(
      fc.property(claim, (groups) => {
        const found = groupsAt({ groups }, 'groups');
        if (!found?.known) return;
        expect(found.names).to.have.length.at.most(1_000);
        for (const name of found.names) expect(name).to.match(/^[^\p{Cc}\p{Cs}]{1,256}$/u);
        expect(new Set(found.names).size).to.equal(found.names.length);
      }),
    );
  });
});
