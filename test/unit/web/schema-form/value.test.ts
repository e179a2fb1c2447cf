import { expect } from 'chai';
import fc from 'fast-check';
import {
  isEqual,
  renameEntry,
  unknownOptions,
  unlessEmpty,
  withItem,
  withOption,
  withoutItem,
  withUnknown,
} from '../../../../web/src/ui/schema-form/value.ts';
import { fromYaml, toYaml } from '../../../../web/src/ui/schema-form/yaml-value.ts';

describe('values under a form', () => {
  it('keep their order when an option is written, and lose it when it is taken out', () => {
    const options = { a: 1, b: 2, c: 3 };
    expect(Object.entries(withOption(options, 'b', 9))).to.deep.equal([
      ['a', 1],
      ['b', 9],
      ['c', 3],
    ]);
    expect(withOption(options, 'b', undefined)).to.deep.equal({ a: 1, c: 3 });
    expect(options).to.deep.equal({ a: 1, b: 2, c: 3 });
  });

  it('keep the place of an entry that is renamed', () => {
    expect(Object.keys(renameEntry({ a: 1, b: 2 }, 'a', 'z'))).to.deep.equal(['z', 'b']);
  });

  it('change and remove items by their place', () => {
    expect(withItem(['a', 'b'], 1, 'c')).to.deep.equal(['a', 'c']);
    expect(withoutItem(['a', 'b'], 0)).to.deep.equal(['b']);
  });

  it('keep options that a form does not know, and let them be changed as a whole', () => {
    const options = { known: 1, odd: 2, other: 3 };
    expect(unknownOptions(options, ['known'])).to.deep.equal({ odd: 2, other: 3 });
    expect(withUnknown(options, ['known'], { odd: 5, known: 9 })).to.deep.equal({ known: 1, odd: 5 });
  });

  it('are not written where nothing is in them', () => {
    expect([unlessEmpty({}), unlessEmpty([]), unlessEmpty({ a: 1 })]).to.deep.equal([
      undefined,
      undefined,
      { a: 1 },
    ]);
  });

  it('are equal by what is in them', () => {
    expect(isEqual({ a: [1, { b: 2 }], c: null }, { c: null, a: [1, { b: 2 }] })).to.equal(true);
    expect(isEqual({ a: undefined }, {})).to.equal(false);
    expect(isEqual([1, 2], [2, 1])).to.equal(false);
  });
});

describe('values as YAML', () => {
  it('come back as they were written', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const read = fromYaml(toYaml(value));
        // Nothing at all is "not written", and so is null: the text is the same.
        if (value === null) return true;
        expect(read.problems).to.deep.equal([]);
        // YAML has no minus zero.
        expect(JSON.stringify(read.value)).to.equal(JSON.stringify(value));
        return true;
      }),
      { seed: 7, numRuns: 300 },
    );
  });

  it('are not written where the text is empty, or says nothing', () => {
    expect([fromYaml(''), fromYaml('# nothing\n')]).to.deep.equal([
      { value: undefined, problems: [] },
      { value: undefined, problems: [] },
    ]);
    expect(toYaml(undefined)).to.equal('');
  });

  it('say where a text cannot be read', () => {
    const { problems } = fromYaml('a: 1\nb: [1, 2\nc: 3\n');
    expect(problems[0]?.line).to.be.within(2, 4);
  });

  it('refuse aliases, which would be lost, and texts without bounds', () => {
    expect(fromYaml('a: &x 1\nb: *x\n').problems[0]?.message).to.include('aliases');
    expect(fromYaml('x'.repeat(300_000)).problems[0]?.message).to.include('At most');
  });
});
