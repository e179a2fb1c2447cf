/** Filters and paths of SCIM: what is understood, what is refused, and that no text takes long. */
import { expect } from 'chai';
import fc from 'fast-check';
import { parseFilter, parsePath } from '../../../api/scim/filter.ts';
import { groupFilter, userFilter } from '../../../api/scim/query.ts';
import { DomainError } from '../../../controller/platform/errors.ts';
import { patient } from '../../support/patience.ts';

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
const plain = (attribute: string, value: unknown) => ({ attribute, sub: null, where: null, value });

describe('a filter', () => {
  for (const [filter, terms] of [
    ['userName eq "ada"', [plain('username', 'ada')]],
    ['USERNAME EQ "Ada"', [plain('username', 'Ada')]],
    ['  externalId   eq\t"a b"  ', [plain('externalid', 'a b')]],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "ada"', [plain('username', 'ada')]],
    ['id eq "1" and members eq "2"', [plain('id', '1'), plain('members', '2')]],
    ['active eq true', [plain('active', true)]],
    ['active eq False', [plain('active', false)]],
    ['x eq 7', [plain('x', 7)]],
    ['x eq null', [plain('x', null)]],
    [String.raw`userName eq "quo\"ted \\ \u00e4"`, [plain('username', 'quo"ted \\ ä')]],
    ['emails.value eq "a@b"', [{ ...plain('emails', 'a@b'), sub: 'value' }]],
    [
      'emails[type eq "work"].value eq "a@b"',
      [{ attribute: 'emails', sub: 'value', where: [{ attribute: 'type', value: 'work' }], value: 'a@b' }],
    ],
    [
      'members[value eq "1"]',
      [{ attribute: 'members', sub: null, where: [{ attribute: 'value', value: '1' }], value: null }],
    ],
  ] as const)
    it(`understands ${filter}`, () => expect(parseFilter(filter)).to.deep.equal(terms));

  for (const filter of [
    ...['', '   ', 'userName', 'userName eq', 'userName eq ada', 'userName "ada"', '"ada" eq userName'],
    ...['userName eq "ada', 'userName eq "ada" or id eq "1"', 'userName eq "ada" and', 'and', 'eq eq eq'],
    ...['userName ne "ada"', 'userName co "a"', 'userName pr', 'not (userName eq "a")', '(userName eq "a")'],
    ...['userName eq "a" userName eq "b"', 'userName eq "a";', "userName eq 'a'", 'userName eq "\\x"'],
    ...['userName eq "line\nbreak"', 'a.b.c eq "x"', '.a eq "x"', 'emails[type eq "work"', 'emails[] eq "x"'],
    ...['emails.value[type eq "work"] eq "x"', 'emails[type eq "a" or type eq "b"].value eq "x"'],
    ...[
      'emails[type eq "work"]]',
      'emails[a[b eq "x"] eq "y"].value eq "z"',
      '[',
      ']',
      'userName eq "a" and and',
    ],
    ...[`userName eq "${'x'.repeat(3_000)}"`, Array(20).fill('id eq "1"').join(' and ')],
  ])
    it(`refuses ${JSON.stringify(filter).slice(0, 60)}`, () =>
      expect(refusal(() => parseFilter(filter))).to.equal('invalidFilter'));

  it('never hangs: forty escaped backslashes, a thousand quotes, brackets and spaces', () => {
    const started = performance.now();
    for (const piece of [
      '\\\\',
      '\\',
      '"',
      '[',
      ']',
      ' ',
      '\n',
      '.',
      ':',
      'a ',
      'eq ',
      '"a" and ',
      'a[a eq "',
    ])
      for (const times of [40, 200, 1_900])
        for (const text of [
          `userName eq "${piece.repeat(times)}`,
          `userName eq "${piece.repeat(times)}"`,
          `userName ${piece.repeat(times)}`,
          piece.repeat(times),
        ])
          refusal(() => parseFilter(text));
    expect(performance.now() - started).to.be.below(patient(2_000));
    expect(parseFilter(`userName eq "${'\\\\'.repeat(40)}"`)).to.deep.equal([
      plain('username', '\\'.repeat(40)),
    ]);
  });

  it('is read back as it was written, whatever the value', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('userName', 'externalId', 'id', 'displayName'),
        fc.string({ maxLength: 200 }),
        (attribute, value) => {
          const [term, ...more] = userFilter(`${attribute} eq ${JSON.stringify(value)}`);
          expect(more).to.deep.equal([]);
          expect(term).to.deep.equal({ attribute, value });
        },
      ),
    );
  });

  it('is an error or asks for something: never everybody', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'userName',
        'emails',
        'members',
        'value',
        'eq',
        'and',
        'or',
        'not',
        'pr',
        '"a"',
        '[',
        ']',
      ),
      fc.constantFrom(
        '(',
        ')',
        '.value',
        ' ',
        '\\',
        '"',
        'true',
        '7',
        'displayName eq "x"',
        'urn:x:y',
        'null',
      ),
      fc.string({ maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        for (const read of [userFilter, groupFilter]) {
          const filter = pieces.join(' ');
          if (refusal(() => read(filter)) === 'invalidFilter') continue;
          const terms = read(filter);
          expect(terms, filter).to.have.length.above(0);
          for (const { value } of terms) expect(value, filter).to.be.a('string');
        }
      }),
      { numRuns: 2_000 },
    );
  });

  for (const [filter, terms] of [
    ['emails eq "a@b"', [{ attribute: 'email', value: 'a@b' }]],
    ['emails.value eq "a@b"', [{ attribute: 'email', value: 'a@b' }]],
    ['emails[type eq "work"].value eq "a@b"', [{ attribute: 'email', value: 'a@b', type: 'work' }]],
    ['emails[type eq "work" and value eq "a@b"]', [{ attribute: 'email', value: 'a@b', type: 'work' }]],
    ['emails[value eq "a@b"]', [{ attribute: 'email', value: 'a@b' }]],
    [
      'ID eq "1" and manager eq "2"',
      [
        { attribute: 'id', value: '1' },
        { attribute: 'manager', value: '2' },
      ],
    ],
    ['manager.value eq "2"', [{ attribute: 'manager', value: '2' }]],
    [`${ENTERPRISE}:manager eq "2"`, [{ attribute: 'manager', value: '2' }]],
    [`${ENTERPRISE}:manager.value eq "2"`, [{ attribute: 'manager', value: '2' }]],
  ] as const)
    it(`finds users by ${filter}`, () => expect(userFilter(filter)).to.deep.equal(terms));

  for (const filter of [
    ...[
      'active eq true',
      'title eq "x"',
      'userName eq true',
      'emails.type eq "work"',
      'name.givenName eq "A"',
    ],
    ...['emails[type eq "work"]', 'emails[primary eq true].value eq "a"', 'userName[value eq "x"]'],
    ...[`${ENTERPRISE}:department eq "x"`, `${ENTERPRISE}:managers eq "x"`, '__proto__ eq "x"'],
    ...['manager.displayName eq "x"', 'manager[value eq "x"]', 'manager eq true'],
  ])
    it(`does not find users by ${filter}`, () =>
      expect(refusal(() => userFilter(filter))).to.equal('invalidFilter'));

  for (const filter of ['members eq "1"', 'members.value eq "1"', 'members[value eq "1"]'])
    it(`finds groups by ${filter}`, () =>
      expect(groupFilter(filter)).to.deep.equal([{ attribute: 'member', value: '1' }]));
  for (const filter of [
    'userName eq "x"',
    'members.display eq "x"',
    'members[type eq "x"]',
    'members eq true',
  ])
    it(`does not find groups by ${filter}`, () =>
      expect(refusal(() => groupFilter(filter))).to.equal('invalidFilter'));
});

describe('a path', () => {
  for (const [path, read] of [
    ['displayName', { attribute: 'displayname', where: null, sub: null }],
    ['name.givenName', { attribute: 'name', where: null, sub: 'givenname' }],
    [
      'urn:ietf:params:scim:schemas:core:2.0:User:name.givenName',
      { attribute: 'name', where: null, sub: 'givenname' },
    ],
    [
      'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department',
      { attribute: null, where: null, sub: null },
    ],
    [
      'members[value eq "1"]',
      { attribute: 'members', where: [{ attribute: 'value', value: '1' }], sub: null },
    ],
    [
      'emails[type eq "work"].value',
      { attribute: 'emails', where: [{ attribute: 'type', value: 'work' }], sub: 'value' },
    ],
    [
      'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:x[a eq "b"].c',
      { attribute: null, where: [{ attribute: 'a', value: 'b' }], sub: 'c' },
    ],
  ] as const)
    it(`understands ${path}`, () => expect(parsePath(path)).to.deep.equal(read));

  for (const path of [
    'a b',
    'a.b.c',
    'members[',
    'members[value eq "1"',
    'members[value]',
    'emails[type eq "work"]x',
    '"a"',
    'x'.repeat(2_000),
  ])
    it(`refuses ${path.slice(0, 40)}`, () => expect(refusal(() => parsePath(path))).to.equal('invalidPath'));
});
