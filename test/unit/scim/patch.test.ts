/** PATCH of SCIM: what operations say, in the forms in which providers send them, and what becomes of a user and a group. */
import { expect } from 'chai';
import fc from 'fast-check';
import { readGroupPatch } from '../../../api/scim/patch-group.ts';
import { readUserPatch } from '../../../api/scim/patch-user.ts';
import { memberDelta } from '../../../controller/identity/scim/group-members.ts';
import { addressOf, applyChanges, displayNameOf } from '../../../controller/identity/scim/user-document.ts';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import { PatchScimGroup } from '../../../schemas/scim/group.ts';
import { PatchScimUser, type UserAttributes } from '../../../schemas/scim/user.ts';
import { validator } from '../../../schemas/validate.ts';

const ADA: UserAttributes = {
  userName: 'ada@example.org',
  externalId: 'e-1',
  displayName: 'Ada',
  name: { formatted: 'Ada Lovelace', givenName: 'Ada', familyName: 'Lovelace' },
  emails: [
    { value: 'ada@example.org', type: 'work', primary: true },
    { value: 'ada@home.example', type: 'home' },
  ],
};
const BARE: UserAttributes = {
  ...{ userName: 'bare@example.org', externalId: null, displayName: null, emails: [] },
  name: { formatted: null, givenName: null, familyName: null },
};

function patch(before: UserAttributes, ...Operations: unknown[]) {
  const changes = readUserPatch({ Operations });
  expect(validator(PatchScimUser).issues({ id: 'x', changes })).to.deep.equal([]);
  const { attributes, active } = applyChanges(before, changes);
  return active === undefined ? attributes : { ...attributes, active };
}
const refusal = (work: () => unknown): string | null => {
  try {
    work();
    return null;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return String(error.details?.scimType);
  }
};
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

describe('PATCH of a user', () => {
  for (const [reason, before, operations, after] of [
    ['replaces a text', ADA, [{ op: 'replace', path: 'displayName', value: 'A' }], { displayName: 'A' }],
    [
      'takes op and path in any case',
      ADA,
      [{ op: 'RePlace', path: 'DISPLAYname', value: 'A' }],
      { displayName: 'A' },
    ],
    ['clears with null', ADA, [{ op: 'replace', path: 'displayName', value: null }], { displayName: null }],
    [
      'clears with an empty text',
      ADA,
      [{ op: 'replace', path: 'externalId', value: '' }],
      { externalId: null },
    ],
    ['removes', ADA, [{ op: 'Remove', path: 'displayName' }], { displayName: null }],
    [
      'takes a text as a list of one value',
      ADA,
      [{ op: 'Replace', path: 'userName', value: [{ $ref: null, value: 'new@x.example' }] }],
      { userName: 'new@x.example' },
    ],
    ['deactivates by a text', ADA, [{ op: 'Replace', path: 'active', value: 'False' }], { active: false }],
    ['deactivates without a path', ADA, [{ op: 'replace', value: { active: false } }], { active: false }],
    [
      'deactivates by a list',
      ADA,
      [{ op: 'Replace', path: 'active', value: [{ value: 'False' }] }],
      { active: false },
    ],
    [
      'counts what is said last',
      ADA,
      [
        { op: 'replace', path: 'active', value: false },
        { op: 'replace', path: 'active', value: true },
      ],
      { active: true },
    ],
    [
      'changes one part of the name',
      ADA,
      [{ op: 'replace', path: 'name.familyName', value: 'King' }],
      { name: { ...ADA.name, familyName: 'King' } },
    ],
    [
      'changes the parts of the name that are given',
      ADA,
      [{ op: 'replace', path: 'name', value: { GivenName: 'A', middleName: 'K' } }],
      { name: { ...ADA.name, givenName: 'A' } },
    ],
    ['removes the name', ADA, [{ op: 'remove', path: 'name' }], { name: BARE.name }],
    [
      'takes dotted keys, paths as keys and extensions without a path',
      ADA,
      [
        {
          op: 'replace',
          value: {
            displayName: 'B',
            'name.givenName': 'G',
            'emails[type eq "work"].value': 'b@x.example',
            [`${ENTERPRISE}:department`]: 'R',
            [ENTERPRISE]: { department: 'R' },
            'no path at all': 1,
            id: 'x',
            schemas: [],
          },
        },
      ],
      {
        displayName: 'B',
        name: { ...ADA.name, givenName: 'G' },
        emails: [{ value: 'b@x.example', type: 'work', primary: true }, ADA.emails[1]],
      },
    ],
    [
      'leaves extensions aside',
      ADA,
      [{ op: 'Add', path: `${ENTERPRISE}:manager`, value: [{ value: '1' }] }],
      {},
    ],
    [
      'leaves what is not kept aside',
      ADA,
      [
        { op: 'replace', path: 'title', value: 'x' },
        { op: 'Replace', path: 'addresses[type eq "work"].formatted', value: '1' },
        { op: 'add', path: 'phoneNumbers[type eq "mobile"].value', value: '1' },
        { op: 'Add', path: 'manager', value: [{ $ref: 'https://x.example/Users/1', value: '1' }] },
        { op: 'remove', path: 'manager[value eq "1"]' },
        { op: 'add', path: `${ENTERPRISE}:manager.value`, value: '1' },
      ],
      {},
    ],
    [
      'takes the name of the schema before an attribute',
      ADA,
      [{ op: 'replace', path: 'urn:ietf:params:scim:schemas:core:2.0:User:displayName', value: 'U' }],
      { displayName: 'U' },
    ],
    [
      'replaces the value of one address',
      ADA,
      [{ op: 'replace', path: 'emails[type eq "WORK"].value', value: 'new@x.example' }],
      { emails: [{ value: 'new@x.example', type: 'work', primary: true }, ADA.emails[1]] },
    ],
    [
      'makes an address of a type that is replaced and not there',
      BARE,
      [{ op: 'Replace', path: 'emails[type eq "work"].value', value: 'w@x.example' }],
      { emails: [{ value: 'w@x.example', type: 'work' }] },
    ],
    [
      'makes it and then says more of it',
      BARE,
      [
        { op: 'add', path: 'emails[type eq "work"].value', value: 'w@x.example' },
        { op: 'add', path: 'emails[type eq "work"].primary', value: 'True' },
        { op: 'replace', path: 'emails[type eq "work"].display', value: 'W' },
      ],
      { emails: [{ value: 'w@x.example', type: 'work', primary: true, display: 'W' }] },
    ],
    [
      'leaves one primary address',
      ADA,
      [{ op: 'replace', path: 'emails[type eq "home"].primary', value: true }],
      {
        emails: [
          { ...ADA.emails[0], primary: false },
          { ...ADA.emails[1], primary: true },
        ],
      },
    ],
    [
      'replaces all addresses',
      ADA,
      [{ op: 'replace', path: 'emails', value: [{ value: 'x@x.example' }, { type: 'home' }] }],
      { emails: [{ value: 'x@x.example' }] },
    ],
    [
      'adds an address, and one twice once',
      ADA,
      [
        {
          op: 'add',
          path: 'emails',
          value: [{ value: 'x@x.example' }, { value: 'ADA@home.example', type: 'HOME' }],
        },
      ],
      { emails: [ADA.emails[0], { value: 'x@x.example' }, { value: 'ADA@home.example', type: 'HOME' }] },
    ],
    [
      'removes an address by a filter',
      ADA,
      [{ op: 'remove', path: 'emails[type eq "home"]' }],
      { emails: [ADA.emails[0]] },
    ],
    [
      'removes the value of an address, which is the address',
      ADA,
      [{ op: 'Remove', path: 'emails[type eq "home"].value' }],
      { emails: [ADA.emails[0]] },
    ],
    [
      'removes an address by its value',
      ADA,
      [{ op: 'remove', path: 'emails', value: [{ value: 'ada@HOME.example' }] }],
      { emails: [ADA.emails[0]] },
    ],
    ['removes all addresses', ADA, [{ op: 'remove', path: 'emails' }], { emails: [] }],
    [
      'takes "operations" and fields in any case',
      ADA,
      [{ OP: 'replace', Path: 'displayName', VALUE: 'A' }],
      { displayName: 'A' },
    ],
  ] as const)
    it(reason, () => expect(patch(before, ...operations)).to.deep.equal({ ...before, ...after }));

  for (const [reason, scimType, ...operations] of [
    ['an unknown op', 'invalidSyntax', { op: 'move', path: 'displayName', value: 'x' }],
    ['an op that is none', 'invalidSyntax', { op: 7 }],
    ['an operation that is no object', 'invalidSyntax', 'replace'],
    ['remove without a path', 'noTarget', { op: 'remove' }],
    ['a value that is missing', 'invalidValue', { op: 'replace', path: 'displayName' }],
    ['a path that is not known', 'invalidPath', { op: 'replace', path: 'favouriteColour', value: 'x' }],
    ['a path that is no text', 'invalidPath', { op: 'replace', path: 7, value: 'x' }],
    ['a path that is not understood', 'invalidPath', { op: 'replace', path: 'emails[', value: 'x' }],
    [
      'an address chosen by what it does not have',
      'invalidPath',
      { op: 'replace', path: 'emails[colour eq "x"].value', value: 'x' },
    ],
    ['the id', 'mutability', { op: 'replace', path: 'id', value: 'x' }],
    [
      'groups, which are changed at the group',
      'mutability',
      { op: 'add', path: 'groups', value: [{ value: 'x' }] },
    ],
    ['to remove the userName', 'mutability', { op: 'remove', path: 'userName' }],
    ['to remove active', 'mutability', { op: 'remove', path: 'active' }],
    ['active that is neither', 'invalidValue', { op: 'replace', path: 'active', value: 'maybe' }],
    ['active that is null', 'invalidValue', { op: 'replace', path: 'active', value: null }],
    [
      'a text that is too long',
      'invalidValue',
      { op: 'replace', path: 'displayName', value: 'x'.repeat(300) },
    ],
    ['a text that is an object', 'invalidValue', { op: 'replace', path: 'displayName', value: { a: 1 } }],
    ['a value that is none without a path', 'invalidValue', { op: 'add', value: 'x' }],
    [
      'an address that is not there, chosen by its value',
      'noTarget',
      { op: 'replace', path: 'emails[value eq "x"].value', value: 'y' },
    ],
    [
      'a part of an address that is not there',
      'noTarget',
      { op: 'replace', path: 'emails[type eq "other"].display', value: 'y' },
    ],
    [
      'twenty-one addresses',
      'invalidValue',
      { op: 'add', path: 'emails', value: Array.from({ length: 20 }, (_, n) => ({ value: `${n}@x` })) },
    ],
  ] as const)
    it(`refuses ${reason}`, () => expect(refusal(() => patch(ADA, ...operations))).to.equal(scimType));

  it('takes twenty addresses in the place of twenty, and refuses thousands at the first that are too many', () => {
    const twenty = (of: string) => Array.from({ length: 20 }, (_, at) => ({ value: `${of}${at}@x.example` }));
    const add = (of: string) => ({ op: 'add', path: 'emails', value: twenty(of) });
    const gone = twenty('a').map(({ value }) => ({ op: 'remove', path: `emails[value eq "${value}"]` }));
    expect(patch(BARE, add('a'), add('b'), ...gone)).to.deep.equal({ ...BARE, emails: twenty('b') });
    expect(refusal(() => patch(BARE, add('a'), add('b')))).to.equal('invalidValue');
    const changes = readUserPatch({ Operations: Array.from({ length: 2_000 }, (_, at) => add(`${at}-`)) });
    let looked = 0;
    const counted = function* () {
      for (const change of changes) {
        looked += 1;
        yield change;
      }
    };
    expect(refusal(() => applyChanges(BARE, counted()))).to.equal('invalidValue');
    expect(looked, 'the time that the rest would take').to.equal(3);
  });

  it('refuses what is no list of operations', () => {
    for (const body of [null, [], 'x', {}, { Operations: {} }, { Operations: [] }])
      expect(refusal(() => readUserPatch(body))).to.equal('invalidSyntax');
    const many = {
      Operations: Array.from({ length: 3_000 }, () => ({ op: 'add', path: 'title', value: 'x' })),
    };
    expect(refusal(() => readUserPatch(many))).to.equal('invalidValue');
  });

  it('whatever it holds, is refused or read into what the use case takes', () => {
    const operation = fc.record(
      {
        op: fc.constantFrom('add', 'Remove', 'replace', 'x'),
        path: fc.constantFrom(
          'emails',
          'emails[type eq "work"]',
          'emails.value',
          'emails[value eq "a"].type',
          'name',
          'active',
          'userName',
          'name.givenName',
          'x',
          '',
        ),
        value: fc.oneof(
          fc.jsonValue(),
          fc.constantFrom('a@b', 'True', [{ value: 'a@b', type: 'work', primary: true }], {
            value: 'c@d',
            primary: 'false',
          }),
        ),
      },
      { requiredKeys: ['op'] },
    );
    fc.assert(
      fc.property(fc.array(operation, { minLength: 1, maxLength: 6 }), (operations) => {
        if (refusal(() => patch(ADA, ...operations)) !== null) return;
        const after = patch(ADA, ...operations);
        expect(after.emails.filter(({ primary }) => primary).length).to.be.at.most(1);
        expect(after.userName).to.be.a('string').with.length.above(0);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('PATCH of a group', () => {
  const read = (...Operations: unknown[]) => {
    const changes = readGroupPatch({ Operations });
    expect(validator(PatchScimGroup).issues({ id: 'x', changes })).to.deep.equal([]);
    return changes;
  };
  const joined = (...ids: string[]) => [{ kind: 'members', how: 'add', ids }];
  const left = (...ids: string[]) => [{ kind: 'members', how: 'remove', ids }];
  const only = (...ids: string[]) => [{ kind: 'members', how: 'set', ids }];

  for (const [reason, operation, changes] of [
    [
      'adds by a list',
      {
        op: 'Add',
        path: 'members',
        value: [
          { $ref: null, value: 'a' },
          { value: 'b', displayName: 'B' },
        ],
      },
      joined('a', 'b'),
    ],
    ['adds one alone', { op: 'add', path: 'members', value: { value: 'a' } }, joined('a')],
    ['adds plain ids', { op: 'add', path: 'members', value: ['a', 'a'] }, joined('a')],
    ['adds without a path', { op: 'add', value: { members: [{ value: 'a', display: null }] } }, joined('a')],
    ['removes by a filter', { op: 'remove', path: 'members[value eq "a"]' }, left('a')],
    [
      'removes by a filter that names the type',
      { op: 'remove', path: 'members[value eq "a" and type eq "User"]' },
      left('a'),
    ],
    [
      'removes by a list',
      { op: 'Remove', path: 'members', value: [{ value: 'a' }, { value: 'b' }] },
      left('a', 'b'),
    ],
    ['removes nobody by an empty list', { op: 'remove', path: 'members', value: [] }, left()],
    ['removes all', { op: 'remove', path: 'members' }, only()],
    ['replaces all', { op: 'replace', path: 'members', value: [{ value: 'a' }] }, only('a')],
    ['replaces all with nobody', { op: 'replace', path: 'members', value: [] }, only()],
    ['replaces all without a path', { op: 'replace', value: { members: ['a'] } }, only('a')],
    ['renames', { op: 'replace', path: 'displayName', value: 'G' }, [{ kind: 'displayName', value: 'G' }]],
    [
      'renames without a path, and nothing else',
      { op: 'replace', value: { id: 'x', displayName: 'G' } },
      [{ kind: 'displayName', value: 'G' }],
    ],
    [
      'sets the externalId',
      { op: 'add', path: 'externalId', value: 'e' },
      [{ kind: 'externalId', value: 'e' }],
    ],
    ['removes the externalId', { op: 'remove', path: 'externalId' }, [{ kind: 'externalId', value: null }]],
    [
      'leaves extensions and names of members aside',
      { op: 'replace', path: 'members[value eq "a"].display', value: 'x' },
      [],
    ],
    ['leaves what it does not know aside without a path', { op: 'replace', value: { description: 'x' } }, []],
  ] as const)
    it(reason, () => expect(read(operation)).to.deep.equal(changes));

  for (const [reason, scimType, operation] of [
    ['a replace without a value, which would empty it', 'invalidValue', { op: 'replace', path: 'members' }],
    ['to remove its name', 'mutability', { op: 'remove', path: 'displayName' }],
    ['a name that is empty', 'invalidValue', { op: 'replace', path: 'displayName', value: ' ' }],
    ['a member without an id', 'invalidValue', { op: 'add', path: 'members', value: [{ display: 'x' }] }],
    ['a path that is not known', 'invalidPath', { op: 'replace', path: 'description', value: 'x' }],
    [
      'one member put in the place of another',
      'invalidPath',
      { op: 'replace', path: 'members[value eq "a"]', value: { value: 'b' } },
    ],
    ['its id', 'mutability', { op: 'replace', path: 'id', value: 'x' }],
  ] as const)
    it(`refuses ${reason}`, () => expect(refusal(() => read(operation))).to.equal(scimType));

  it('has an operation for each of 20,000 members, and not one more', () => {
    const each = (count: number) =>
      Array.from({ length: count }, (_, at) => ({
        op: 'add',
        path: 'members',
        value: [{ value: `u${at}` }],
      }));
    expect(memberDelta(read(...each(20_000))).join.size).to.equal(20_000);
    expect(refusal(() => read(...each(20_001)))).to.equal('invalidValue');
  });

  it('comes to the same members as its changes one after the other, whoever was in it', () => {
    const ids = fc.subarray(['a', 'b', 'c', 'd']);
    const change = fc.record({
      kind: fc.constant('members' as const),
      how: fc.constantFrom('add' as const, 'remove' as const, 'set' as const),
      ids,
    });
    fc.assert(
      fc.property(ids, fc.array(change, { maxLength: 8 }), (before, changes) => {
        let model: string[] = before;
        for (const { how, ids: of } of changes) {
          const others = model.filter((id) => !of.includes(id));
          model = how === 'set' ? of : how === 'add' ? [...others, ...of] : others;
        }
        const { only: alone, join, leave } = memberDelta(changes);
        const stays = (id: string) => !alone && !leave.has(id);
        const after = new Set([...before.filter(stays), ...join]);
        expect([...after].sort()).to.deep.equal([...model].sort());
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('the account of a user', () => {
  it('has the first name that says anything, without what is not seen', () => {
    expect(displayNameOf(ADA)).to.equal('Ada');
    expect(displayNameOf({ ...ADA, displayName: null })).to.equal('Ada Lovelace');
    expect(displayNameOf({ ...BARE, name: { formatted: null, givenName: 'A', familyName: 'B' } })).to.equal(
      'A B',
    );
    expect(displayNameOf({ ...BARE, displayName: '\u200b \u202e' })).to.equal('bare@example.org');
    expect(displayNameOf({ ...BARE, displayName: 'a\u202eb\n' })).to.equal('ab');
    const long = `${'x'.repeat(99)}😀`;
    expect(displayNameOf({ ...BARE, displayName: `${long}😀` })).to.equal(long);
  });

  it('has the userName as its address, else the primary one, else the first', () => {
    expect(addressOf(ADA)).to.equal('ada@example.org');
    expect(
      addressOf({ userName: 'ada', emails: [{ value: 'a@x' }, { value: 'b@x', primary: true }] }),
    ).to.equal('b@x');
    expect(addressOf({ userName: 'ada', emails: [{ value: 'a@x' }] })).to.equal('a@x');
    for (const emails of [[], [{ value: 'none' }]])
      expect(addressOf({ userName: 'ada', emails })).to.match(/^[0-9a-f]{24}@no-address\.invalid$/);
    const none = (userName: string) => addressOf({ userName, emails: [] });
    expect([none('Ada') === none('ada'), none('ada') === none('bob')]).to.deep.equal([true, false]);
  });
});
