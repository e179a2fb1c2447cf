/** Fields of sampled events, as nodes tell of them. */
import { expect } from 'chai';
import {
  keysOfPath,
  mergeFields,
  mergeTypes,
  normalizeFields,
} from '../../../controller/fleet/samples/event-fields.ts';
import { createRedactor } from '../../../controller/fleet/samples/redact.ts';
import { EVENT_FIELD_TYPES, type EventFieldType } from '../../../schemas/agent/protocol.ts';

describe('the keys of a path', () => {
  for (const { path, keys } of [
    { path: '.', keys: [] },
    { path: '.a', keys: ['a'] },
    { path: '.a.b_c', keys: ['a', 'b_c'] },
    { path: '.a[].b', keys: ['a', 'b'] },
    { path: '."a.b"."c \\" d"[][].e', keys: ['a.b', 'c " d', 'e'] },
    { path: '."', keys: [''] },
    { path: '."a\\', keys: ['a'] },
    { path: 'a..b', keys: ['a', 'b'] },
    { path: '."my password"', keys: ['my password'] },
  ])
    it(`of ${path} are ${JSON.stringify(keys)}`, () => {
      expect(keysOfPath(path)).to.deep.equal(keys);
    });
});

describe('what is kept of a field', () => {
  const redactor = createRedactor(['*password*']);

  it('has no sample behind a hidden key, of an object, or longer than 200 characters', () => {
    const sample = 'x'.repeat(500);
    expect(
      normalizeFields(
        [
          { path: '.password', type: 'string', sample },
          { path: '.a."the password"[].b', type: 'string', sample },
          { path: '.object', type: 'object', sample: { a: 1 } },
          { path: '.list', type: 'array', sample: [1] },
          { path: '.long', type: 'string', sample },
          { path: '.text', type: 'string', sample: `${'y'.repeat(190)} password=${sample}` },
          { path: '.zero', type: 'integer', sample: 0 },
          { path: '.none', type: 'null', sample: null },
          { path: '.zero', type: 'string', sample: 'twice' },
        ],
        redactor,
      ),
    ).to.deep.equal([
      { path: '.password', type: 'string' },
      { path: '.a."the password"[].b', type: 'string' },
      { path: '.object', type: 'object' },
      { path: '.list', type: 'array' },
      { path: '.long', type: 'string', sample: `${'x'.repeat(200)}…` },
      { path: '.text', type: 'string', sample: `${'y'.repeat(190)} password=…` },
      { path: '.zero', type: 'integer', sample: 0 },
      { path: '.none', type: 'null', sample: null },
    ]);
  });
});

describe('types put together', () => {
  it('are the same in either order, and of three in any', () => {
    for (const a of EVENT_FIELD_TYPES)
      for (const b of EVENT_FIELD_TYPES) {
        expect(mergeTypes(a, b)).to.equal(mergeTypes(b, a));
        for (const c of EVENT_FIELD_TYPES)
          expect(mergeTypes(mergeTypes(a, b), c), `${a} ${b} ${c}`).to.equal(mergeTypes(a, mergeTypes(b, c)));
      }
  });

  for (const [one, other, both] of [
    ['string', 'string', 'string'],
    ['integer', 'float', 'float'],
    ['null', 'timestamp', 'timestamp'],
    ['null', 'null', 'null'],
    ['string', 'timestamp', 'mixed'],
    ['mixed', 'null', 'mixed'],
  ] satisfies [EventFieldType, EventFieldType, EventFieldType][])
    it(`${one} and ${other} are ${both}`, () => {
      expect(mergeTypes(one, other)).to.equal(both);
    });

  it('stand by path, with the first sample that there is', () => {
    const lists = [
      [{ path: '.b', type: 'null' as const, sample: null }],
      [
        { path: '.a', type: 'integer' as const, sample: 1 },
        { path: '.b', type: 'string' as const, sample: 'x' },
      ],
    ];
    expect(mergeFields(lists)).to.deep.equal([
      { path: '.a', type: 'integer', sample: 1 },
      { path: '.b', type: 'string', sample: 'x' },
    ]);
  });
});
