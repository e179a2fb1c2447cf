/** Filters and paths of SCIM: what is understood, what is refused, and that no text takes long. */
import { expect } from 'chai';
import fc from 'fast-check';
import { type Filter, parseFilter, parsePath } from '../../../controller/identity/scim/filter/filter.ts';
import {
  GROUP_ATTRIBUTES,
  USER_ATTRIBUTES,
} from '../../../controller/identity/scim/filter/filter-attributes.ts';
import { toCondition } from '../../../controller/identity/scim/filter/filter-sql.ts';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import { cpuMs, patient } from '../../support/harness/patience.ts';
import { filterTrees, printFilter } from '../../support/scenes/scim/filters.ts';

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
const eq = (
  attribute: string,
  value: string | number | boolean | null,
  sub: string | null = null,
): Filter => ({
  op: 'eq',
  ...{ attribute, sub, value },
});

describe('a filter', () => {
  for (const [filter, read] of [
    ['userName eq "ada"', eq('username', 'ada')],
    ['USERNAME EQ "Ada"', eq('username', 'Ada')],
    ['  externalId   eq\t"a b"  ', eq('externalid', 'a b')],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "ada"', eq('username', 'ada')],
    ['id eq "1" and members eq "2"', { op: 'and', of: [eq('id', '1'), eq('members', '2')] }],
    ['active eq False', eq('active', false)],
    ['x eq 7', eq('x', 7)],
    ['x eq null', eq('x', null)],
    [String.raw`userName eq "quo\"ted \\ \u00e4"`, eq('username', 'quo"ted \\ ä')],
    ['emails.value eq "a@b"', eq('emails', 'a@b', 'value')],
    ['title pr', { op: 'present', attribute: 'title', sub: null }],
    ['members[value eq "1"]', { op: 'some', attribute: 'members', where: eq('value', '1') }],
    [
      'emails[type eq "work"].value sw "a"',
      {
        op: 'some',
        attribute: 'emails',
        where: {
          op: 'and',
          of: [eq('type', 'work'), { op: 'sw', attribute: 'value', sub: null, value: 'a' }],
        },
      },
    ],
    // RFC 7644, 3.4.2.2: "and" binds before "or", and parentheses before both.
    [
      'a eq 1 or b eq 2 and c eq 3',
      { op: 'or', of: [eq('a', 1), { op: 'and', of: [eq('b', 2), eq('c', 3)] }] },
    ],
    [
      '(a eq 1 or b eq 2) and not(c eq 3)',
      {
        op: 'and',
        of: [
          { op: 'or', of: [eq('a', 1), eq('b', 2)] },
          { op: 'not', of: eq('c', 3) },
        ],
      },
    ],
    // What is named like an operator is an attribute where an attribute stands.
    ['not eq 1', eq('not', 1)],
  ] as const)
    it(`understands ${filter}`, () => expect(parseFilter(filter)).to.deep.equal(read));

  /** RFC 7644, 3.4.2.2, figure 1: each is a filter, whether it can be answered here or not. */
  for (const filter of [
    'userName eq "bjensen"',
    `name.familyName co "O'Malley"`,
    'userName sw "J"',
    'urn:ietf:params:scim:schemas:core:2.0:User:userName sw "J"',
    'title pr',
    'meta.lastModified gt "2011-05-13T04:42:34Z"',
    'meta.lastModified ge "2011-05-13T04:42:34Z"',
    'meta.lastModified lt "2011-05-13T04:42:34Z"',
    'meta.lastModified le "2011-05-13T04:42:34Z"',
    'title pr and userType eq "Employee"',
    'title pr or userType eq "Intern"',
    'schemas eq "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"',
    'userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")',
    'userType ne "Employee" and not (emails co "example.com" or emails.value co "example.org")',
    'userType eq "Employee" and (emails.type eq "work")',
    'userType eq "Employee" and emails[type eq "work" and value co "@example.com"]',
    'emails[type eq "work" and value co "@example.com"] or ims[type eq "xmpp" and value co "@foo.com"]',
  ])
    it(`reads ${filter}`, () => expect(refusal(() => parseFilter(filter))).to.equal(null));

  for (const filter of [
    ...['', '   ', 'userName', 'userName eq', 'userName eq ada', 'userName "ada"', '"ada" eq userName'],
    ...['userName eq "ada', 'userName eq "ada" or', 'userName eq "ada" and', 'and', 'eq eq eq'],
    ...[
      'userName like "ada"',
      'userName pr "a"',
      'not userName eq "a"',
      '(userName eq "a"',
      'userName eq "a")',
    ],
    ...['userName eq "a" userName eq "b"', 'userName eq "a";', "userName eq 'a'", 'userName eq "\\x"', '()'],
    ...['userName eq "line\nbreak"', 'a.b.c eq "x"', '.a eq "x"', 'emails[type eq "work"', 'emails[] eq "x"'],
    ...['emails.value[type eq "work"] eq "x"', 'emails[type.x eq "a"].value eq "x"', 'userName eq "\\u0000"'],
    ...['emails[type eq "work"]]', 'emails[a[b eq "x"] eq "y"].value eq "z"', '[', ']', 'not', 'not ()'],
    ...[`${ENTERPRISE}:department eq "x"`, `userName eq "${'x'.repeat(3_000)}"`],
    ...[Array(51).fill('id eq 1').join(' and '), `${'('.repeat(11)}id eq 1${')'.repeat(11)}`],
  ])
    it(`refuses ${JSON.stringify(filter).slice(0, 60)}`, () =>
      expect(refusal(() => parseFilter(filter))).to.equal('invalidFilter'));

  it('never hangs: forty escaped backslashes, a thousand quotes, brackets and spaces', () => {
    const started = cpuMs();
    const pieces = [
      '\\\\',
      '\\',
      '"',
      '[',
      ']',
      '(',
      ')',
      ' ',
      '\n',
      '.',
      ':',
      'a ',
      'eq ',
      'not (',
      'a[a eq "',
    ];
    for (const piece of [...pieces, '"a" and '])
      for (const times of [40, 200, 1_900])
        for (const text of [
          `userName eq "${piece.repeat(times)}`,
          `userName eq "${piece.repeat(times)}"`,
          `userName ${piece.repeat(times)}`,
          piece.repeat(times),
        ])
          refusal(() => parseFilter(text));
    expect(cpuMs() - started).to.be.below(patient(2_000));
    expect(parseFilter(`userName eq "${'\\\\'.repeat(40)}"`)).to.deep.equal(eq('username', '\\'.repeat(40)));
  });

  it('is read back as it was written, whatever the tree', () => {
    fc.assert(
      fc.property(
        filterTrees(fc.string({ maxLength: 20 }).filter((text) => !text.includes('\0'))),
        (tree) => {
          expect(printFilter(parseFilter(printFilter(tree)))).to.equal(printFilter(tree));
        },
      ),
    );
  });

  it('is an error or a condition with as many bindings as places: never everybody', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'userName',
        'emails',
        'members',
        'value',
        'eq',
        'co',
        'and',
        'or',
        'not',
        'pr',
        '"a"',
        '[',
      ),
      fc.constantFrom(']', '(', ')', '.value', ' ', '\\', '"', 'true', '7', 'displayName eq "x"', 'urn:x:y'),
      fc.string({ maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        for (const attributes of [USER_ATTRIBUTES, GROUP_ATTRIBUTES]) {
          const filter = pieces.join(' ');
          const read = () => toCondition(parseFilter(filter), attributes);
          if (refusal(read) === 'invalidFilter') continue;
          const { sql, bindings } = read();
          expect(sql, filter).to.match(/COALESCE/);
          expect(sql.split('?').length - 1, sql).to.equal(bindings.length);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  for (const [attributes, filters] of [
    [
      USER_ATTRIBUTES,
      [
        ...[
          'title eq "x"',
          'userName eq true',
          'emails[type eq true]',
          'name eq "A"',
          'userName[value eq "x"]',
        ],
        ...['active gt true', 'active eq "maybe"', 'meta.created co "2026"', 'meta.created gt "yesterday"'],
        ...['__proto__ eq "x"', 'constructor pr', 'manager.displayName eq "x"', 'manager[value eq "x"]'],
        ...['emails.nothing eq "x"', 'emails[nothing eq "x"]', 'userName gt null', 'userName eq 7'],
      ],
    ],
    [GROUP_ATTRIBUTES, ['userName eq "x"', 'members.nothing eq "x"', 'members eq true', 'active eq true']],
  ] as const)
    for (const filter of filters)
      it(`does not find ${attributes === USER_ATTRIBUTES ? 'users' : 'groups'} by ${filter}`, () =>
        expect(refusal(() => toCondition(parseFilter(filter), attributes))).to.equal('invalidFilter'));
});

describe('a path', () => {
  for (const [path, read] of [
    ['displayName', { attribute: 'displayname', where: null, whereText: null, sub: null }],
    ['name.givenName', { attribute: 'name', where: null, whereText: null, sub: 'givenname' }],
    [
      'urn:ietf:params:scim:schemas:core:2.0:User:name.givenName',
      { attribute: 'name', where: null, whereText: null, sub: 'givenname' },
    ],
    [`${ENTERPRISE}:department`, { attribute: null, where: null, whereText: null, sub: null }],
    [
      'members[value eq "1"]',
      { attribute: 'members', where: eq('value', '1'), whereText: 'value eq "1"', sub: null },
    ],
    [
      'emails[not (type eq "work")].value',
      {
        attribute: 'emails',
        where: { op: 'not', of: eq('type', 'work') },
        whereText: 'not (type eq "work")',
        sub: 'value',
      },
    ],
    [
      `${ENTERPRISE}:x[a eq "b"].c`,
      { attribute: null, where: eq('a', 'b'), whereText: 'a eq "b"', sub: 'c' },
    ],
  ] as const)
    it(`understands ${path}`, () => expect(parsePath(path)).to.deep.equal(read));

  for (const path of [
    ...[
      'a b',
      'a.b.c',
      'members[',
      'members[value eq "1"',
      'members[value]',
      'emails[type eq "work"]x',
      '"a"',
    ],
    'x'.repeat(2_000),
  ])
    it(`refuses ${path.slice(0, 40)}`, () => expect(refusal(() => parsePath(path))).to.equal('invalidPath'));
});
