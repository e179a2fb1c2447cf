import { expect } from 'chai';
import fc from 'fast-check';
import { inOrder } from '../../../reconcilers/source/git/ordered-lookup.ts';

describe('Finding items in the order of a list', () => {
  it('finds what is there, and nothing else, in any order of questions', () => {
    const list = fc.uniqueArray(fc.nat(20).map(String));
    fc.assert(
      fc.property(list, fc.array(fc.nat(20).map(String)), (items, questions) => {
        const find = inOrder(items, (item) => item);
        const found = questions.map((key) => find(key) ?? null);
        expect(found).to.deep.equal(questions.map((key) => (items.includes(key) ? key : null)));
      }),
    );
  });
});
