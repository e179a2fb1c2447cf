import { expect } from 'chai';
import { completionsAt } from '../../../../web/src/ui/schema-form/complete.ts';
import type { FormSchema } from '../../../../web/src/ui/schema-form/schema.ts';

const SCHEMA: FormSchema = {
  type: 'object',
  properties: {
    address: { type: 'string', description: 'Where to listen.' },
    strict: { type: 'boolean' },
    method: { enum: ['GET', 'POST'], enumDescriptions: ['Reads.', 'Writes.'] },
    framing: {
      oneOf: [
        { type: 'object', properties: { method: { const: 'bytes' } } },
        {
          type: 'object',
          properties: { method: { const: 'lines' }, lines: { type: 'object', properties: { max: {} } } },
        },
      ],
    },
    collectors: { type: 'array', items: { enum: ['cpu', 'disk'] } },
    routes: {
      type: 'array',
      items: { type: 'object', properties: { name: { type: 'string' }, kind: { enum: ['a', 'b'] } } },
    },
    headers: { type: 'object', additionalProperties: { type: 'object', properties: { value: {} } } },
  },
};

const labels = (text: string) => completionsAt(SCHEMA, text)?.options.map(({ label }) => label) ?? [];

describe('what may be written in the YAML of options', () => {
  const rows: [reason: string, text: string, labels: string[]][] = [
    [
      'an option that is not there yet',
      'address: x\nstrict: true\nmethod: GET\nf',
      ['framing', 'collectors', 'routes', 'headers'],
    ],
    ['one of the words', 'method: ', ['GET', 'POST']],
    ['yes or no', 'strict: t', ['true', 'false']],
    ['the options of every form', 'framing:\n  ', ['method', 'lines']],
    ['the tags of every form', 'framing:\n  method: ', ['bytes', 'lines']],
    ['an option further in', 'framing:\n  method: lines\n  lines:\n    m', ['max']],
    ['the words of a list', 'collectors:\n  - c', ['cpu', 'disk']],
    ['the options of an item', 'routes:\n  - n', ['name', 'kind']],
    ['the other options of an item', 'routes:\n  - name: x\n    k', ['kind']],
    ['those of the next item anew', 'routes:\n  - name: x\n  - n', ['name', 'kind']],
    ['the options of an entry', 'headers:\n  any:\n    v', ['value']],
    ['nothing inside of a text', 'address: "a b', []],
    ['nothing where nothing is told', 'headers:\n  any:\n    value:\n      x', []],
  ];
  for (const [reason, text, expected] of rows) {
    it(`is ${reason}`, () => expect(labels(text)).to.deep.equal(expected));
  }

  it('takes the place of the word that is begun, and says what it means', () => {
    const found = completionsAt(SCHEMA, 'address: x\nme');
    expect(found?.from).to.equal('address: x\n'.length);
    expect(completionsAt(SCHEMA, 'method: P')?.options[1]).to.deep.equal({
      label: 'POST',
      kind: 'value',
      about: 'Writes.',
    });
  });
});
