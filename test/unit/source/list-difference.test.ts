import { expect } from 'chai';
import fc from 'fast-check';
import { listDifference } from '../../../reconcilers/source/scope/list-difference.ts';

describe('The difference of two lists', () => {
  it('is what only one of them holds, in order', () => {
    expect(listDifference(['a', 'b', 'c', 'd'], ['a', 'x', 'c', 'y', 'd'])).to.deep.equal({
      gone: ['b'],
      come: ['x', 'y'],
    });
    expect(listDifference([], ['a'])).to.deep.equal({ gone: [], come: ['a'] });
  });

  it('is that for any two lists', () => {
    const list = fc.uniqueArray(fc.nat(12));
    fc.assert(
      fc.property(list, list, (before, after) => {
        expect(listDifference(before, after)).to.deep.equal({
          gone: before.filter((one) => !after.includes(one)),
          come: after.filter((one) => !before.includes(one)),
        });
      }),
    );
  });
});
