import { expect } from 'chai';
import {
  armAt,
  carryOver,
  fieldOf,
  fits,
  initialOf,
  isVariable,
  numberProblem,
} from '../../../../web/src/ui/schema-form/field-model.ts';
import type { FormSchema } from '../../../../web/src/ui/schema-form/schema.ts';

const FRAMING: FormSchema = {
  oneOf: [
    { title: 'bytes', type: 'object', properties: { method: { const: 'bytes' } }, required: ['method'] },
    {
      title: 'character_delimited',
      type: 'object',
      properties: {
        method: { const: 'character_delimited' },
        character_delimited: { type: 'object', properties: { delimiter: { type: 'string' } } },
      },
      required: ['method', 'character_delimited'],
    },
  ],
};
const CONDITION: FormSchema = {
  'x-language': 'vrl',
  oneOf: [
    { title: 'string', type: 'string' },
    {
      title: 'object',
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['vrl'] },
        source: { type: 'string', 'x-language': 'vrl' },
      },
      required: ['source'],
    },
  ],
};
const armsOf = (schema: FormSchema) => {
  const field = fieldOf(schema);
  return field.kind === 'choice' ? field.arms : [];
};

/** As the engine reads it from its environment. */
const variable = (name: string) => `$\u007B${name}}`;

describe('which field an option gets', () => {
  const rows: [reason: string, schema: FormSchema, kind: string][] = [
    ['a text', { type: 'string' }, 'text'],
    ['a whole number', { type: 'integer' }, 'number'],
    ['a number', { type: 'number' }, 'number'],
    ['yes or no', { type: 'boolean' }, 'boolean'],
    ['one of a few words', { type: 'string', enum: ['a', 'b'] }, 'words'],
    ['a word that is fixed', { const: 'memory' }, 'words'],
    ['a list', { type: 'array', items: { type: 'string' } }, 'list'],
    ['a list of anything', { type: 'array' }, 'yaml'],
    ['a section', { type: 'object', properties: { a: { type: 'string' } } }, 'section'],
    ['a map', { type: 'object', additionalProperties: { type: 'string' } }, 'map'],
    ['an object of anything', { type: 'object', additionalProperties: true }, 'yaml'],
    ['what was cut off', { type: 'object', properties: { a: {} }, 'x-cut': true }, 'yaml'],
    ['nothing that is told', {}, 'yaml'],
    ['several types', { type: ['string', 'integer'] }, 'yaml'],
    ['forms told apart by a tag', FRAMING, 'choice'],
    ['forms told apart by their type', CONDITION, 'choice'],
    ['forms told apart by what they need', { oneOf: [need('a'), need('b')] }, 'choice'],
    ['forms that cannot be told apart', { oneOf: [{ type: 'string' }, { type: 'string' }] }, 'yaml'],
    ['numbers of two kinds', { anyOf: [{ type: 'integer' }, { type: 'number' }] }, 'yaml'],
    ['forms of which one may be anything', { oneOf: [{ type: 'string' }, {}] }, 'yaml'],
    [
      'objects of which one needs nothing',
      { oneOf: [need('a'), { type: 'object', properties: { b: {} } }] },
      'yaml',
    ],
  ];
  for (const [reason, schema, kind] of rows) {
    it(`is “${kind}” for ${reason}`, () => expect(fieldOf(schema).kind).to.equal(kind));
  }

  it('is a program where the schema or what is around it says so', () => {
    expect(fieldOf({ type: 'string', 'x-language': 'vrl' })).to.deep.equal({ kind: 'text', language: 'vrl' });
    expect(fieldOf({ type: 'string' }, 'vrl')).to.deep.equal({ kind: 'text', language: 'vrl' });
  });
});

function need(name: string): FormSchema {
  return { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] };
}

describe('whether a field can show a value', () => {
  const rows: [schema: FormSchema, value: unknown, fits: boolean][] = [
    [{ type: 'string' }, 'a', true],
    [{ type: 'string' }, 5, false],
    [{ type: 'integer' }, 5, true],
    [{ type: 'integer' }, variable('PORT'), true],
    [{ type: 'integer' }, 'five', false],
    [{ type: 'boolean' }, variable('ON'), false],
    [{ enum: ['a'] }, 'other', true],
    [{ enum: ['a'] }, { a: 1 }, false],
    [{ type: 'array', items: {} }, 'a', false],
    [{ type: 'object', properties: { a: {} } }, [], false],
    [FRAMING, { method: 'bytes' }, true],
    [FRAMING, { method: 'other' }, false],
    [FRAMING, {}, false],
    [CONDITION, '.a', true],
    [CONDITION, { type: 'is_log' }, false],
    [CONDITION, undefined, true],
  ];
  for (const [schema, value, expected] of rows) {
    it(`${expected ? 'can' : 'cannot'} show ${JSON.stringify(value)} in ${fieldOf(schema).kind}`, () =>
      expect(fits(fieldOf(schema), value)).to.equal(expected));
  }
});

describe('one of several forms', () => {
  it('is found by its tag, its type or what it needs', () => {
    expect(armAt(armsOf(FRAMING), { method: 'character_delimited' })).to.equal(1);
    expect(armAt(armsOf(CONDITION), { source: 'true' })).to.equal(1);
    expect(armAt(armsOf({ oneOf: [need('a'), need('b')] }), { b: '' })).to.equal(1);
  });

  it('begins with its tag', () => {
    expect(armsOf(FRAMING).map(({ initial }) => initial)).to.deep.equal([
      { method: 'bytes' },
      { method: 'character_delimited' },
    ]);
    expect(armsOf(CONDITION).map(({ initial, title }) => [title, initial])).to.deep.equal([
      ['text', ''],
      ['options', {}],
    ]);
  });

  it('keeps what both forms have', () => {
    const [, to] = armsOf(FRAMING);
    expect(
      to && carryOver({ method: 'bytes', character_delimited: { delimiter: ',' }, x: 1 }, to),
    ).to.deep.equal({
      method: 'character_delimited',
      character_delimited: { delimiter: ',' },
    });
    expect(to && carryOver('text', to)).to.deep.equal({ method: 'character_delimited' });
  });
});

describe('new entries and numbers', () => {
  const initials: [schema: FormSchema, value: unknown][] = [
    [{ type: 'string' }, ''],
    [{ type: 'string', default: 'x' }, 'x'],
    [{ type: 'integer', minimum: 1 }, 1],
    [{ type: 'boolean' }, true],
    [{ enum: ['a', 'b'] }, 'a'],
    [{ type: 'array', items: {} }, []],
    [{ type: 'object', additionalProperties: { type: 'string' } }, {}],
    [CONDITION, ''],
  ];
  for (const [schema, value] of initials)
    it(`begin with ${JSON.stringify(value)} for ${JSON.stringify(schema).slice(0, 50)}`, () =>
      expect(initialOf(schema)).to.deep.equal(value));

  const numbers: [schema: FormSchema, text: string, says: RegExp | ''][] = [
    [{ type: 'integer' }, '', ''],
    [{ type: 'integer' }, '12', ''],
    [{ type: 'integer' }, variable('PORT'), ''],
    [{ type: 'integer' }, '1.5', /whole number/],
    [{ type: 'number' }, '1.5', ''],
    [{ type: 'number' }, '1,5', /A number/],
    [{ type: 'number' }, ' 1', /A number/],
    [{ type: 'number', minimum: 2 }, '1', /At least 2/],
    [{ type: 'number', maximum: 2 }, '3', /At most 2/],
    [{ type: 'number', exclusiveMinimum: 0 }, '0', /More than 0/],
    [{ type: 'number', exclusiveMaximum: 1 }, '1', /Less than 1/],
  ];
  for (const [schema, text, says] of numbers) {
    it(`say of “${text}” as ${schema.type} what is wrong, if anything is`, () => {
      if (says === '') expect(numberProblem(schema, text)).to.equal('');
      else expect(numberProblem(schema, text)).to.match(says);
    });
  }

  it('take a variable in the place of any value, and no text around one', () => {
    expect([
      isVariable(variable('A:-b')),
      isVariable('$A'),
      isVariable(`a${variable('A')}`),
      isVariable(5),
    ]).to.deep.equal([true, true, false, false]);
  });
});
