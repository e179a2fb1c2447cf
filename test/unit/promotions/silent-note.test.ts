/** What a promotion says of nodes that it did not wait for. */
import { expect } from 'chai';
import { silentNote } from '../../../reconcilers/promotions/progress.ts';

describe('the note of nodes that were not waited for', () => {
  for (const { reason, names, count, says } of [
    { reason: 'nothing where all answer', names: [], count: 0, says: null },
    {
      reason: 'the one by its name',
      names: ['edge-2'],
      count: 1,
      says: 'Not waited for 1 node that does not answer: edge-2',
    },
    {
      reason: 'how many they are, and not how many names were given',
      names: Array.from({ length: 100 }, (_, n) => `n${n}`),
      count: 5_000,
      says: 'Not waited for 5000 nodes that do not answer: n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, 4990 more',
    },
  ])
    it(`says ${reason}`, () => {
      expect(silentNote(names, count)).to.equal(says);
    });
});
