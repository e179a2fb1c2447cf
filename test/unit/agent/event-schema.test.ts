/** Which fields sampled events have. */
import { expect } from 'chai';
import fc from 'fast-check';
import { inferSchema, typeOf } from '../../../agent/observe/event-schema.ts';
import { EVENT_FIELD_TYPES, EventField } from '../../../schemas/agent/protocol.ts';
import { validator } from '../../../schemas/validate.ts';

const types = (...events: unknown[]) =>
  Object.fromEntries(inferSchema(events).map(({ path, type }) => [path, type]));

describe('the fields of events', () => {
  it('are found at every depth, tables before what is in them, with a value', () => {
    const event = {
      message: 'hi',
      n: 1,
      ratio: 0.5,
      ok: true,
      none: null,
      k8s: { pod: 'a' },
      tags: ['x', 'y'],
    };
    expect(inferSchema([event])).to.deep.equal([
      { path: '.message', type: 'string', sample: 'hi' },
      { path: '.n', type: 'integer', sample: 1 },
      { path: '.ratio', type: 'float', sample: 0.5 },
      { path: '.ok', type: 'boolean', sample: true },
      { path: '.none', type: 'null', sample: null },
      { path: '.k8s', type: 'object', sample: undefined },
      { path: '.k8s.pod', type: 'string', sample: 'a' },
      { path: '.tags', type: 'array', sample: undefined },
      { path: '.tags[]', type: 'string', sample: 'x' },
    ]);
  });

  it('have paths as VRL writes them', () => {
    const event = { 'my key': { 'a.b': 1 }, '@at': 1, 'q"': 1, ok_2: [{ 'x y': 1 }], '2nd': 1 };
    expect(Object.keys(types(event))).to.deep.equal([
      '."my key"',
      '."my key"."a.b"',
      '."@at"',
      '."q\\""',
      '.ok_2',
      '.ok_2[]',
      '.ok_2[]."x y"',
      '."2nd"',
    ]);
  });

  const merges: [values: unknown[], type: string, reason: string][] = [
    [[1, 2], 'integer', 'equal types stay'],
    [[1, 2.5], 'float', 'a whole number is a number too'],
    [[null, 1], 'integer', 'a field that is sometimes empty'],
    [['a', null], 'string', 'in any order'],
    [['2026-01-01T00:00:00Z', 'soon'], 'string', 'a time is a text'],
    [[1, 'a'], 'mixed', 'nothing in common'],
    [[1, 2.5, 'a', 1], 'mixed', 'and it stays so'],
    [[{ a: 1 }, [1]], 'mixed', 'tables and arrays'],
  ];
  for (const [values, type, reason] of merges) {
    it(`of ${JSON.stringify(values)} are ${type}: ${reason}`, () => {
      expect(types(...values.map((v) => ({ v })))['.v']).to.equal(type);
    });
  }

  it('know times from texts', () => {
    for (const text of ['2026-01-11T21:32:35.864433Z', '2026-01-11T21:32:35+02:00', '2026-01-11 21:32:35Z'])
      expect(typeOf(text), text).to.equal('timestamp');
    for (const text of ['2026-01-11', '2026-13-01T00:00:00Z', '2026-01-11T21:32:35', '12:00', 'x'])
      expect(typeOf(text), text).to.equal('string');
  });

  it('show a value that is not null where there is one, cut to 200 characters', () => {
    const [field] = inferSchema([{ v: null }, { v: 'x'.repeat(500) }]);
    expect(field?.sample).to.equal('x'.repeat(200));
  });

  it('are those of a text in the event’s place too', () => {
    expect(inferSchema(['left out'])).to.deep.equal([{ path: '.', type: 'string', sample: 'left out' }]);
  });

  it('are a thousand at most, however many and deep they are, and no path is endless', () => {
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`k${n}`, n]));
    expect(inferSchema([wide])).to.have.length(1_000);
    const deep = JSON.parse(`${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`);
    expect(inferSchema([deep]).length).to.be.below(40);
    expect(inferSchema([{ ['x'.repeat(2_000)]: 1, y: 1 }]).map(({ path }) => path)).to.deep.equal(['.y']);
  });

  it('may have any name', () => {
    const event: unknown = JSON.parse('{"__proto__":{"x":1},"constructor":1,"toString":"a"}');
    expect(types(event)).to.deep.equal({
      '.__proto__': 'object',
      '.__proto__.x': 'integer',
      '.constructor': 'integer',
      '.toString': 'string',
    });
    expect(({} as Record<string, unknown>).x).to.equal(undefined);
  });

  it('fit the protocol for any events, do not depend on repetition, and throw never', () => {
    const fits = validator(EventField);
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 6 }), (events) => {
        const fields = inferSchema(events);
        const again = inferSchema([...events, ...events]);
        const paths = fields.map(({ path }) => path);
        return (
          JSON.stringify(fields) === JSON.stringify(again) &&
          new Set(paths).size === paths.length &&
          fields.every((field) => EVENT_FIELD_TYPES.includes(field.type)) &&
          fields.every((field) => fits.fits(JSON.parse(JSON.stringify(field))))
        );
      }),
    );
  });

  it('have types that do not depend on the order of the events', () => {
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(fc.constantFrom('a', 'b'), fc.jsonValue()), { maxLength: 5 }),
        (events) => {
          expect(types(...events)).to.deep.equal(types(...[...events].reverse()));
        },
      ),
    );
  });
});
