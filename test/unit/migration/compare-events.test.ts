/** What a line became on either side: which events belong together, and where they differ. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  compareEvents,
  isEqual,
  type OriginalEvent,
  type TranslatedEvent,
} from '../../../controller/pipelines/migration/replay/compare-events.ts';

type Fields = Record<string, unknown>;
const original = (record: Fields, more: Partial<OriginalEvent> = {}): OriginalEvent => ({
  ...{ blockId: 'b1', index: 0, output: 'stdout', tag: 'a.b', time: null, record, plain: record },
  ...{ added: [], ...more },
});
const translated = (record: Fields, more: Partial<TranslatedEvent> = {}): TranslatedEvent => ({
  ...{ blockId: 'b1', index: 0, output: 'stdout_1', tag: 'a.b', time: null, record, isBeforeText: false },
  ...more,
});
const differences = (one: OriginalEvent, other: TranslatedEvent) =>
  compareEvents([one], [other])[0]?.differences;
const verdicts = (ones: readonly OriginalEvent[], others: readonly TranslatedEvent[]) =>
  compareEvents(ones, others).map(({ verdict }) => verdict);

/** Two values, whether they are the same, and why. */
const VALUES: readonly (readonly [unknown, unknown, boolean, string])[] = [
  [1, 1.0, true, 'a number is one, with a point or without'],
  [1, '1', false, 'a number is no text'],
  [null, undefined, false, 'null is a field, and none is not'],
  [undefined, undefined, true, 'no field is there on either side'],
  [{}, [], false, 'an object is no list'],
  [{}, null, false, 'an object is not null'],
  [[1, 2], [2, 1], false, 'a list has an order'],
  [[1], [1, 1], false, 'a list has a length'],
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true, 'an object has no order'],
  [{ a: undefined }, {}, true, 'a field without a value is none'],
  [0, -0, true, 'zero has no sign'],
  ['2024-01-02T03:04:05Z', '2024-01-02 04:04:05 +0100', true, 'a moment has many zones'],
  ['2024-01-02T03:04:05.5Z', '2024-01-02T03:04:05,500+00:00', true, 'a fraction has a comma or a point'],
  ['2024-01-02T03:04:05Z', '2024-01-02T03:04:06Z', false, 'a second is a second'],
  ['2024-01-02T03:04:05', '2024-01-02T03:04:05Z', false, 'a text without a zone is no moment'],
  ['2024-13-02T03:04:05Z', '2024-13-02T03:04:05+00:00', false, 'what is no moment is a text'],
  ['at 2024-01-02T03:04:05Z', 'at 2024-01-02T03:04:05+00:00', false, 'a text with a time in it is a text'],
  [[{ t: '2024-01-02T03:04:05Z' }], [{ t: '2024-01-02T03:04:05+00:00' }], true, 'moments may be inside'],
];

describe('a value of an event', () => {
  for (const [one, other, expected, reason] of VALUES) {
    it(`is ${expected ? 'equal' : 'different'}: ${reason}`, () => {
      expect([isEqual(one, other), isEqual(other, one)]).to.deep.equal([expected, expected]);
    });
  }

  it('is equal to its copy, and to what JSON makes of it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(isEqual(value, structuredClone(value))).to.equal(true);
        expect(isEqual(value, JSON.parse(JSON.stringify(value)))).to.equal(true);
      }),
      { numRuns: 500 },
    );
  });

  it('is equal the other way round too', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 2 }), fc.jsonValue({ maxDepth: 2 }), (one, other) => {
        expect(isEqual(one, other)).to.equal(isEqual(other, one));
      }),
      { numRuns: 500 },
    );
  });
});

describe('an event on either side', () => {
  it('differs field by field, with the path of each', () => {
    expect(
      differences(
        original({ a: 1, o: { x: 1, y: 2 }, gone: null }),
        translated({ a: 2, o: { x: 1, y: 3 }, n: [] }),
      ),
    ).to.deep.equal([
      { field: 'a', original: '1', translated: '2' },
      { field: 'o.y', original: '2', translated: '3' },
      { field: 'gone', original: 'null', translated: null },
      { field: 'n', original: null, translated: '[]' },
    ]);
  });

  it('differs in its tag, and in its time by more than a millisecond', () => {
    expect(differences(original({}, { tag: 'x' }), translated({}))).to.deep.equal([
      { field: '(tag)', original: '"x"', translated: '"a.b"' },
    ]);
    expect(differences(original({}, { time: 1_000 }), translated({}, { time: 1_001 }))).to.deep.equal([]);
    expect(differences(original({}, { time: 1_000 }), translated({}, { time: 1_002 }))).to.deep.equal([
      {
        ...{ field: '(time)', original: '"1970-01-01T00:00:01.000Z"' },
        translated: '"1970-01-01T00:00:01.002Z"',
      },
    ]);
  });

  it('is not compared in what one side does not know', () => {
    expect(differences(original({}, { time: 1 }), translated({}))).to.deep.equal([]);
    expect(differences(original({}), translated({}, { time: 1, tag: null }))).to.deep.equal([]);
  });

  it('may have fields that are named as what all objects have', () => {
    for (const name of ['constructor', 'toString', 'hasOwnProperty', '__proto__']) {
      const record = JSON.parse(`{"${name}":1}`) as Fields;
      const field = { field: name, original: '1', translated: null };
      expect(differences(original(record), translated({}))).to.deep.equal([field]);
      expect(differences(original(record), translated(structuredClone(record))), name).to.deep.equal([]);
      expect(differences(original({ o: record }), translated({ o: {} }))).to.deep.equal([
        { ...field, field: `o.${name}` },
      ]);
    }
  });

  it('is compared without what its output adds with a value that is not known', () => {
    const one = original({ a: 1 }, { added: ['@timestamp'] });
    expect(differences(one, translated({ a: 1, '@timestamp': 'x' }))).to.deep.equal([]);
    expect(differences(one, translated({ a: 1, other: 'x' }))).to.have.length(1);
  });

  it('is compared without what its output adds where the sink writes a text', () => {
    const one = original({ a: 1, tag: 'a.b' }, { plain: { a: 1 } });
    expect(differences(one, translated({ a: 1 }, { isBeforeText: true }))).to.deep.equal([]);
    expect(differences(one, translated({ a: 1 }))).to.have.length(1);
  });

  it('shows at most 100 differences, and 2,000 characters of each value', () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`f${at}`, 'x'.repeat(5_000)]));
    const found = differences(original(many), translated({}, { tag: 'other' }));
    expect(found).to.have.length(100);
    expect(new Set(found?.slice(1).map((one) => one.original?.length))).to.deep.equal(new Set([2_000]));
  });
});

describe('events of a line', () => {
  it('are paired with equal ones first, whatever their order', () => {
    expect(
      verdicts([original({ a: 1 }), original({ a: 2 })], [translated({ a: 2 }), translated({ a: 1 })]),
    ).to.deep.equal(['equal', 'equal']);
  });

  it('are paired once: what is delivered twice is one too many', () => {
    expect(verdicts([original({ a: 1 })], [translated({ a: 1 }), translated({ a: 1 })])).to.deep.equal([
      'equal',
      'onlyTranslated',
    ]);
    expect(verdicts([original({ a: 1 }), original({ a: 1 })], [translated({ a: 1 })])).to.deep.equal([
      'equal',
      'onlyOriginal',
    ]);
  });

  it('belong to their block and to their store of a copy', () => {
    const stores = [original({ a: 1 }), original({ a: 1 }, { index: 1, output: 'file' })];
    expect(
      compareEvents(stores, [translated({ a: 1 }, { index: 1, output: 'file_2' }), translated({ a: 1 })]).map(
        (one) => [one.original?.output, one.translated?.output],
      ),
    ).to.deep.equal([
      ['stdout', 'stdout_1'],
      ['file', 'file_2'],
    ]);
    expect(verdicts([original({ a: 1 })], [translated({ a: 1 }, { blockId: 'b2' })])).to.deep.equal([
      'onlyOriginal',
      'onlyTranslated',
    ]);
  });

  it('are paired with what the block delivered elsewhere before they count as missing', () => {
    expect(verdicts([original({ a: 1 }, { index: 3 })], [translated({ a: 1 })])).to.deep.equal(['equal']);
  });

  it('are all in the result, each once, in any order', () => {
    const record = fc.record({ a: fc.integer({ min: 0, max: 2 }) });
    const index = fc.integer({ min: 0, max: 1 });
    const ones = fc.array(fc.tuple(record, index), { maxLength: 6 });
    fc.assert(
      fc.property(ones, ones, (left, right) => {
        const originals = left.map(([one, at]) => original(one, { index: at }));
        const outputs = compareEvents(
          originals,
          right.map(([one, at]) => translated(one, { index: at })),
        );
        expect(outputs.filter((one) => one.original !== null)).to.have.length(left.length);
        expect(outputs.filter((one) => one.translated !== null)).to.have.length(right.length);
        for (const { verdict, differences: found, original: one, translated: other } of outputs) {
          expect(verdict === 'different').to.equal(found.length > 0);
          expect(verdict === 'onlyOriginal').to.equal(other === null);
          expect(verdict === 'onlyTranslated').to.equal(one === null);
        }
        // The same events in another order are all equal.
        const same = compareEvents(
          originals,
          [...left].reverse().map(([event, at]) => translated(event, { index: at })),
        );
        expect(same.every(({ verdict }) => verdict === 'equal')).to.equal(true);
      }),
      { numRuns: 300 },
    );
  });
});
